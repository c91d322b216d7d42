// Quads: how many blocks of 2 x 2 pixels of its tile each pair covers a sample of.
//
// Input: coverage (pairs, 4 * TEXELS), int32. Output: o0 (pairs, 4), int32: quads, then 0.
#include "lib/coverage.glsl"

void point(ivec2 p) {
  uvec2 words = any_sample(p.y * o_layout.x + p.x);
  o0 = ivec4(quads_in(words.x) + quads_in(words.y), 0, 0, 0);
}
