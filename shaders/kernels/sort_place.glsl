// Puts the keys of every run of RUN texels in order, by their ranks.
//
// Inputs: keys, rank. Outputs: o0, the keys, and o1, the index of each in its row; with LAST 1 only o0, the indices, as
// rows of o_layout. Uniforms: o_layout, keys_layout, rank_layout, columns, shift.
#include "lib/sorting.glsl"
#require RUN
#require LAST

uniform keys_SAMPLER keys;
uniform ivec4 keys_layout;
uniform rank_SAMPLER rank;
uniform ivec4 rank_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, columns), first = column - column % RUN, last = min(first + RUN, columns);
  int base = t - column;
  ivec4 wanted = 4 * (column - first) + ivec4(0, 1, 2, 3), index = ivec4(0);
  for (int c = first; c < last; c++) {
    ivec4 have = fetch(rank, place(rank_layout, base + c));
#unroll lane 0 4
    index += ivec4(equal(ivec4(have[$lane]), wanted)) * (4 * c + $lane);
#endunroll
  }
#if LAST
  o0 = keep(index, lanes(o_layout, column));
#else
  o1 = index;
#unroll lane 0 4
  o0[$lane] = element(keys, keys_layout, base, index[$lane]);
#endunroll
#endif
}
