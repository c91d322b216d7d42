// Clipping: the primitives that are left, polygons cut into fans around their first corner.
//
// Inputs, int32: primitives (n, 8) before clipping; verdicts (n, 4), what pipeline_clip_count found; of one axis owner, the
// primitive before clipping of each one after it; ends, the sums of those that are left; corner_ends, the sums of corners.
// Output: o0 (left, 8), int32. Uniform: vertices, the row of the first new corner. SIDES; PROVOKING_LAST.
#require SIDES
#require PROVOKING_LAST
#include "lib/primitives.glsl"

uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform verdicts_SAMPLER verdicts;
uniform ivec4 verdicts_layout;
uniform owner_SAMPLER owner;
uniform ivec4 owner_layout;
uniform ends_SAMPLER ends;
uniform ivec4 ends_layout;
uniform corner_ends_SAMPLER corner_ends;
uniform ivec4 corner_ends_layout;
uniform int vertices;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = t / 2;
  o0 = ivec4(0);
  if (row >= owner_layout.w) return;
  int source = element(owner, owner_layout, row);
  o0 = texel(primitives, primitives_layout, source, t & 1);
  if ((t & 1) == 1) {
    o0.z = source;
    return;
  }
  if (texel(verdicts, verdicts_layout, source, 0).x == 0) return;
  int first = vertices + begin(corner_ends, corner_ends_layout, source);
#if SIDES == 2
  o0.xyz = ivec3(first, first + 1, first + 1);
#else
  int i = row - begin(ends, ends_layout, source);
  // The provoking corner stays the last or the first one.
  o0.xyz = PROVOKING_LAST == 1 ? ivec3(first + i + 1, first + i + 2, first) : ivec3(first, first + i + 1, first + i + 2);
#endif
}
