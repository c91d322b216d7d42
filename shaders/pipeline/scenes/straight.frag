#version 330 core
noperspective in vec4 straight_color;
out vec4 color;
void main() { color = straight_color; }
