#version 330 core
in vec4 smooth_color;
out vec4 color;
void main() { color = gl_FrontFacing ? smooth_color : vec4(1.0) - smooth_color * 0.5; }
