#version 330 core
uniform sampler2D image;
uniform float level;
in vec2 at;
out vec4 color;
void main() { color = at.x < 1.0 ? textureLod(image, at, level) : texture(image, at, level - 2.0); }
