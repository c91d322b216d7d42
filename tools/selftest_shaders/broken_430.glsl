// The error is in the included file.
#include "lib/broken_430.glsl"
layout(local_size_x = 1) in;

void main() { wrong(vec3(1.0)); }
