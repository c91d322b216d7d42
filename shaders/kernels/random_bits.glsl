// Random words, as int32. Output: o0. Uniforms: o_layout; key, counter (see lib/philox.glsl).
#include "lib/philox.glsl"

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  o0 = keep(ivec4(philox(t)), lanes(o_layout, modulo(t, o_layout.y)));
}
