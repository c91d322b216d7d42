#version 330 core
in vec4 smooth_color;
out vec4 color;
void main() { color = vec4(dFdx(smooth_color.r), dFdy(smooth_color.g), fwidth(smooth_color.b), 0.02) * 50.0; }
