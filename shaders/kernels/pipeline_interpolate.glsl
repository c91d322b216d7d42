// Interpolation: the fragment shader's inputs, SLOTS texels for every packed fragment.
//
// Inputs: quads (n, 4), int32: x, y, primitive, pair; weights, packed like the fragments; corners (primitives, 8),
// int32: three vertices and the provoking one, then other facts; table (vertices, 4 * SLOTS): the vertices' outputs;
// primitives (n, 12): 1/w of the corners in the third texel.
// Output: o0 (fragments, 4 * SLOTS), of the table's dtype. Uniforms: count, columns of quads.
// MODES: for each slot 0 perspective, 1 flat, 2 linear in the window. With CENTROID 1, CENTROIDS: for each slot 1 where it is taken at the first
// covered sample of a pixel that is covered in part; then also coverage (pairs, 8), anchors (pairs, 4), the weights at the
// centre of the tile's first pixel, and places, the four samples from the centre. CENTRE_W: 1 divides what is in perspective by
// 1/w at the pixel's centre all the same.
#require SLOTS
#require MODES
#default CENTROID 0
#default CENTRE_W 0

uniform quads_SAMPLER quads;
uniform ivec4 quads_layout;
uniform weights_SAMPLER weights;
uniform corners_SAMPLER corners;
uniform ivec4 corners_layout;
uniform table_SAMPLER table;
uniform ivec4 table_layout;
uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform int count, columns;

const int modes[SLOTS] = int[SLOTS](MODES);
#if CENTROID
#include "lib/fragments.glsl"
uniform coverage_SAMPLER coverage;
uniform ivec4 coverage_layout;
uniform anchors_SAMPLER anchors;
uniform ivec4 anchors_layout;
uniform vec2 places[4];
const int centroids[SLOTS] = int[SLOTS](CENTROIDS);

// The first covered sample, from the centre; the centre itself where all are covered, and in helper pixels.
vec2 first_covered(ivec4 quad, ivec2 pixel) {
  ivec4 low = texel(coverage, coverage_layout, quad.w, 0), high = texel(coverage, coverage_layout, quad.w, 1);
  ivec4 words = (pixel.y & 4) != 0 ? ivec4(low.yw, high.yw) : ivec4(low.xz, high.xz);
  ivec4 own = (words >> coverage_bit(pixel.x & 7, pixel.y & 7)) & 1;
  if (own == ivec4(1) || own == ivec4(0)) return vec2(0.0);
  return own.x == 1 ? places[0] : own.y == 1 ? places[1] : own.z == 1 ? places[2] : places[3];
}
#endif

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int f = t / SLOTS, slot = t % SLOTS;
  ivec2 at = ivec2(f % (2 * columns), f / (2 * columns));
  int q = (at.y / 2) * columns + at.x / 2;
  o0 = o0_TEXEL(0);
  if (q >= count) return;
  ivec4 quad = texel(quads, quads_layout, q, 0);
  int primitive = quad.z;
  ivec4 v = texel(corners, corners_layout, primitive, 0);
#if INTEGERS
  o0 = texel(table, table_layout, v.w, slot);
#else
  int mode = modes[slot];
  if (mode == 1) {
    o0 = texel(table, table_layout, v.w, slot);
    return;
  }
  vec3 share = fetch(weights, at).xyz;
  if (mode == 2) {
    share /= texel(primitives, primitives_layout, primitive, 2).xyz;
    share /= share.x + share.y + share.z;
  }
#if CENTROID
  ivec2 pixel = quad.xy + (at & 1);
  vec2 offset = centroids[slot] == 1 ? first_covered(quad, pixel) : vec2(0.0);
  if (offset != vec2(0.0)) {
    vec4 a = texel(primitives, primitives_layout, primitive, 0), b = texel(primitives, primitives_layout, primitive, 1);
    vec3 across = vec3(a.xz, b.x), up = vec3(a.yw, b.y);
    vec2 step = vec2(pixel & 7);
    vec3 centre = texel(anchors, anchors_layout, quad.w, 0).xyz + across * step.x + up * step.y;
    share = centre + across * offset.x + up * offset.y;
    if (mode == 0) {
      vec3 w = texel(primitives, primitives_layout, primitive, 2).xyz;
      share *= w / (CENTRE_W == 1 ? dot(centre, w) : dot(share, w));
    }
  }
#endif
  o0 = texel(table, table_layout, v.x, slot) * share.x + texel(table, table_layout, v.y, slot) * share.y
    + texel(table, table_layout, v.z, slot) * share.z;
#endif
}
