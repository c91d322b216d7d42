// Adds the sum of all blocks before to the sums of each block.
//
// Inputs: sums (rows, n), within blocks; totals (rows, blocks but the last), their own sums from the start.
// Output: o0 (rows, n).
#require BLOCK

uniform sums_SAMPLER sums;
uniform ivec4 sums_layout;
uniform totals_SAMPLER totals;
uniform ivec4 totals_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  int block = column / BLOCK - 1;
  o0 = texel(sums, sums_layout, row, column);
  if (block < 0) return;
  o0 += o0_TEXEL(texel(totals, totals_layout, row, block / 4)[block % 4]);
  o0 = keep(o0, lanes(o_layout, column));
}
