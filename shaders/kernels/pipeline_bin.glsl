// Binning: which of the tiles of a line a primitive may meet. A tile wholly beyond one edge is left out.
//
// Inputs, int32: lines (m, 4), what pipeline_bin_lines found; c_low, c_high, dx, dy (n, 4), the edges; of one axis owner, the
// line of each pair of tile and primitive, and ends, the sums of pairs.
// Output: o0 (pairs, 8), int32: each edge function at the tile's lower left corner, divided by the subpixels of a pixel and
// rounded down; the primitive, the tile's x and y, and whether they may meet. Uniform: bits.
#include "lib/primitives.glsl"
#include "lib/edges.glsl"

uniform lines_SAMPLER lines;
uniform ivec4 lines_layout;
uniform owner_SAMPLER owner;
uniform ivec4 owner_layout;
uniform ends_SAMPLER ends;
uniform ivec4 ends_layout;
uniform int bits;

// Within a tile the other terms of an edge function stay below 2^28, so that a value cut to 2^29 keeps its sign.
const int FAR = 1 << 29;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int pair = t / 2;
  o0 = ivec4(0);
  if (pair >= owner_layout.w) return;
  int row = element(owner, owner_layout, pair);
  ivec4 line = texel(lines, lines_layout, row, 0);
  int primitive = line.x;
  ivec2 tile = ivec2(line.y + pair - begin(ends, ends_layout, row), line.z);
  int side = 8 << bits;
  Edges e = edges_of(primitive);
  bool meets = true;
  ivec4 values;
#unroll i 0 4
  {
    Wide value = add(Wide(uint(e.low[$i]), e.high[$i]), negative(cross_product(ivec2(e.y[$i], e.x[$i]), ivec2(tile.y, tile.x) * side)));
    Wide most = add(value, add(product(max(e.x[$i], 0), side), product(max(-e.y[$i], 0), side)));
    meets = meets && !is_negative(most);
    values[$i] = shifted(value, bits, FAR);
  }
#endunroll
  o0 = (t & 1) == 0 ? values : ivec4(primitive, tile, meets ? 1 : 0);
}
