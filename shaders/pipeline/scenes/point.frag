#version 330 core
in vec4 smooth_color;
out vec4 color;
void main() { color = vec4(gl_PointCoord, smooth_color.b, 1.0); }
