#version 330 core
flat in vec4 flat_color;
out vec4 color;
void main() { color = flat_color; }
