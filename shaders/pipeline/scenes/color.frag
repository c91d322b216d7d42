#version 330 core
in vec4 smooth_color;
out vec4 color;
void main() { color = smooth_color; }
