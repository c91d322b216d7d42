// True with probability p, else false. Output: o0, bool.
// Uniforms: o_layout; key, counter (see lib/philox.glsl); probability.
#include "lib/philox.glsl"

uniform float probability;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  vec4 v = vec4(lessThan(unit(philox(t)), vec4(probability)));
  o0 = o0_TEXEL(keep(v, lanes(o_layout, modulo(t, o_layout.y))));
}
