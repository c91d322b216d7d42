// The error is in the included file.
#include "lib/broken_es300.glsl"
out vec4 color;

void main() { color = vec4(wrong(1.0)); }
