// Quads: what the per-fragment operations ask about a pair.
//
// Inputs, int32: pairs (n, 8); primitives (m, 8); ends, one axis, the sums of quads. Output: o0 (n, 4), int32: the first quad,
// front facing, primitive, 0.
#include "lib/primitives.glsl"

uniform pairs_SAMPLER pairs;
uniform ivec4 pairs_layout;
uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform ends_SAMPLER ends;
uniform ivec4 ends_layout;

void point(ivec2 p) {
  int pair = p.y * o_layout.x + p.x;
  o0 = ivec4(0);
  if (pair >= ends_layout.w) return;
  int primitive = texel(pairs, pairs_layout, pair, 1).x;
  o0 = ivec4(begin(ends, ends_layout, pair), texel(primitives, primitives_layout, primitive, 1).y, primitive, 0);
}
