// Random integers in [low, low + range), as the upper word of range times a random word. Output: o0, int32.
//
// D. Lemire, "Fast random integer generation in an interval", 2019, without rejection: a value's probability is off by
// less than 2^-32. Uniforms: o_layout; key, counter (see lib/philox.glsl); low; range, up to 2^32 - 1.
#include "lib/philox.glsl"

uniform int low;
uniform uint range;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  uvec4 words = philox(t);
  ivec4 v;
#unroll lane 0 4
  v[$lane] = low + int(wide_product(words[$lane], range).x);
#endunroll
  o0 = keep(v, lanes(o_layout, modulo(t, o_layout.y)));
}
