// Elements of every row in another order.
//
// Inputs: x (rows, n); order (rows, n), int32: the place in the row that each element comes from. Output: o0 (rows, n).

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform order_SAMPLER order;
uniform ivec4 order_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  ivec4 from = texel(order, order_layout, row, column);
  bvec4 kept = lanes(o_layout, column);
  o0 = o0_TEXEL(0);
#unroll lane 0 4
  if (kept[$lane]) o0[$lane] = texel(x, x_layout, row, from[$lane] >> 2)[from[$lane] & 3];
#endunroll
}
