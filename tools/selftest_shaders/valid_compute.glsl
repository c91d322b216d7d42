// Valid in GLSL 4.30 core.
layout(local_size_x = 1) in;

void main() {}
