// Early depth test: which packed fragments will pass the depth test, from the depths of those before them at the pixel.
//
// Inputs: quads (n, 4), int32: x, y, primitive, pair; starts, int32, one axis: the first pair of each
// tile; pairs (n, 4), int32: first quad; coverage (pairs, 4); coord, packed like the fragments: depth in z; with ONTO 1 ds, what
// the target held. Output: o0, packed: 1 where the fragment is covered and passes, 1 where it is covered, its depth.
// Uniforms: count and columns of quads, tiles across, range of depths, clear_depth.
#require DEPTH_TEST
#default DEPTH_WRITE 1
#default ONTO 0
#include "lib/primitives.glsl"
#include "lib/fragments.glsl"
#include "lib/compare.glsl"

uniform quads_SAMPLER quads;
uniform ivec4 quads_layout;
uniform starts_SAMPLER starts;
uniform ivec4 starts_layout;
uniform pairs_SAMPLER pairs;
uniform ivec4 pairs_layout;
uniform coverage_SAMPLER coverage;
uniform ivec4 coverage_layout;
uniform coord_SAMPLER coord;
#if ONTO
uniform ds_SAMPLER ds;
#endif
uniform int count, columns, across;
uniform ivec2 size;
uniform vec2 range;
uniform float clear_depth;

void point(ivec2 p) {
  int q = (p.y / 2) * columns + p.x / 2;
  o0 = vec4(0.0);
  if (q >= count) return;
  ivec4 own = texel(quads, quads_layout, q, 0);
  ivec2 pixel = own.xy + (p & 1);
  if (pixel.x >= size.x || pixel.y >= size.y) return;
  int bit = coverage_bit(pixel.x & 7, pixel.y & 7);
  int quad = bit >> 2;
  bool upper = (pixel.y & 4) != 0;
  ivec2 words = texel(coverage, coverage_layout, own.w, 0).xy;
  if ((((upper ? words.y : words.x) >> bit) & 1) == 0) return;
#if ONTO
  float depth = fetch(ds, pixel).x;
#else
  float depth = clear_depth;
#endif
  int k = element(starts, starts_layout, (pixel.y / 8) * across + pixel.x / 8);
#if DEPTH_WRITE
  for (; k < own.w; ++k) {
    words = texel(coverage, coverage_layout, k, 0).xy;
    if ((((upper ? words.y : words.x) >> bit) & 1) == 0) continue;
    int record = texel(pairs, pairs_layout, k, 0).x;
    record += upper ? quads_in(uint(words.x)) + quads_below(uint(words.y), quad) : quads_below(uint(words.x), quad);
    float z = clamp(fetch(coord, 2 * ivec2(record % columns, record / columns) + (pixel & 1)).z, range.x, range.y);
    if (compares(DEPTH_TEST, z, depth)) depth = z;
  }
#endif
  float mine = clamp(fetch(coord, p).z, range.x, range.y);
  o0 = vec4(compares(DEPTH_TEST, mine, depth) ? 1.0 : 0.0, 1.0, mine, 0.0);
}
