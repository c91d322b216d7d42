// Binning: the tiles of one line that a primitive may meet: its edges bound them, so that long slivers have few.
//
// Inputs, int32: spans (n, 4), what pipeline_bin_count found; c_low, c_high, dx, dy (n, 4), the edges; of one axis owner, the
// primitive of each line, and ends, the sums of lines. Output: o0 (lines, 4), int32: primitive, first tile in x, line, tiles.
// Uniform: bits.
#include "lib/primitives.glsl"
#include "lib/edges.glsl"

uniform spans_SAMPLER spans;
uniform ivec4 spans_layout;
uniform owner_SAMPLER owner;
uniform ivec4 owner_layout;
uniform ends_SAMPLER ends;
uniform ivec4 ends_layout;
uniform int bits;

void point(ivec2 p) {
  int row = p.y * o_layout.x + p.x;
  o0 = ivec4(0);
  if (row >= owner_layout.w) return;
  int primitive = element(owner, owner_layout, row);
  ivec4 span = texel(spans, spans_layout, primitive, 0);
  int line = span.z + row - begin(ends, ends_layout, primitive);
  int side = 8 << bits;
  Edges e = edges_of(primitive);
  float least = float(span.x * side), most = float((span.y + 1) * side - 1);
  bool beyond = false;
#unroll i 0 4
  {
    // Along the lower and the upper border of the line the edge is at x = (c + dx * y) / dy.
    Wide c = Wide(uint(e.low[$i]), e.high[$i]);
    Wide below = add(c, product(e.x[$i], line * side)), above = add(c, product(e.x[$i], (line + 1) * side));
    beyond = beyond || (e.y[$i] == 0 && is_negative(below) && is_negative(above));
    if (e.y[$i] != 0) {
      float a = to_float(below) / float(e.y[$i]), b = to_float(above) / float(e.y[$i]);
      // Two subpixels are more than the roundings: positions have fewer than 22 bits.
      if (e.y[$i] > 0) most = min(most, max(a, b) + 2.0);
      else least = max(least, min(a, b) - 2.0);
    }
  }
#endunroll
  int first = max(int(floor(least / float(side))), span.x), last = min(int(floor(most / float(side))), span.y);
  o0 = ivec4(primitive, first, line, beyond ? 0 : max(last - first + 1, 0));
}
