// The sum of each block: the last element of its sums.
//
// Input: sums (rows, n), what cumulative_sum found. Output: o0 (rows, blocks but the last), whose blocks are all whole.
#require BLOCK

uniform sums_SAMPLER sums;
uniform ivec4 sums_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  bvec4 kept = lanes(o_layout, column);
  o0 = o0_TEXEL(0);
#unroll lane 0 4
  if (kept[$lane]) o0[$lane] = texel(sums, sums_layout, row, (4 * column + $lane) * BLOCK + BLOCK - 1).w;
#endunroll
}
