// Quads: where each of them lies, by pair and place in the tile.
//
// Inputs, int32: coverage (pairs, 4 * TEXELS); pairs (n, 8); of one axis owner, the pair of each quad, and ends, the sums of
// quads. Output: o0 (quads, 4), int32: x and y of the lower left pixel, primitive, pair.
#include "lib/primitives.glsl"
#include "lib/coverage.glsl"

uniform pairs_SAMPLER pairs;
uniform ivec4 pairs_layout;
uniform owner_SAMPLER owner;
uniform ivec4 owner_layout;
uniform ends_SAMPLER ends;
uniform ivec4 ends_layout;

void point(ivec2 p) {
  int q = p.y * o_layout.x + p.x;
  o0 = ivec4(0);
  if (q >= owner_layout.w) return;
  int pair = element(owner, owner_layout, q);
  int before = q - begin(ends, ends_layout, pair);
  uvec2 words = any_sample(pair);
  uvec2 flags = uvec2(quad_flags(words.x), quad_flags(words.y));
  int place = 0;
  for (; place < 15; ++place) {
    uint word = place < 8 ? flags.x : flags.y;
    if (((word >> uint(4 * (place & 7))) & 1u) == 1u && before-- == 0) break;
  }
  ivec4 facts = texel(pairs, pairs_layout, pair, 1);
  o0 = ivec4(facts.yz * 8 + 2 * ivec2(place & 3, place >> 2), facts.x, pair);
}
