// Sums from the start of its block up to each element of the last axis.
//
// Input: x (rows, n). Output: o0, of the same shape: sums within blocks of BLOCK texels. Every texel adds up those of its
// block before it: a fragment cannot see what its neighbours have added.
#require BLOCK

uniform x_SAMPLER x;
uniform ivec4 x_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  o0_SCALAR before = o0_SCALAR(0);
  for (int k = column / BLOCK * BLOCK; k < column; ++k) {
    o0_TEXEL v = o0_TEXEL(texel(x, x_layout, row, k));
    before = (((before + v.x) + v.y) + v.z) + v.w;
  }
  o0_TEXEL v = o0_TEXEL(texel(x, x_layout, row, column));
  o0.x = before + v.x;
  o0.y = o0.x + v.y;
  o0.z = o0.y + v.z;
  o0.w = o0.z + v.w;
  o0 = keep(o0, lanes(o_layout, column));
}
