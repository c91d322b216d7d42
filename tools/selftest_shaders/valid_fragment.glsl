// Valid in GLSL 3.30 core and GLSL ES 3.00.
out vec4 color;

void main() { color = vec4(1.0); }
