// x times `factor` where a random number is at least `probability`, x times 0 elsewhere. The same key and counter give the
// same choice, so that the gradient needs no mask.
// Input: x. Output: o0, of x's shape. Uniforms: o_layout, x_layout; key, counter (see lib/philox.glsl); probability, factor.
#include "lib/philox.glsl"

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform float probability, factor;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  vec4 kept = vec4(greaterThanEqual(unit(philox(t)), vec4(probability)));
  o0 = o0_TEXEL(fetch(x, address(x_layout, t)) * (kept * factor));
}
