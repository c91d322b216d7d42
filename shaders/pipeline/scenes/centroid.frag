#version 330 core
centroid in vec4 curved;
noperspective centroid in vec4 straight;
out vec4 color;
void main() { color = vec4(curved.rg, straight.ba); }
