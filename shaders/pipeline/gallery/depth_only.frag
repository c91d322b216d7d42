#version 330 core
out vec4 unused;
void main() { unused = vec4(gl_FragCoord.z); }
