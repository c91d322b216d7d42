// Picks elements along the last axis by an index of their own row.
//
// Inputs: x; order, int32, of x's shape. Output: o0, of x's shape.
// Uniforms: o_layout, x_layout, order_layout.

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform order_SAMPLER order;
uniform ivec4 order_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  ivec4 wanted = fetch(order, address(order_layout, t));
  o0_TEXEL found;
#unroll lane 0 4
  found[$lane] = texel(x, x_layout, row, wanted[$lane] >> 2)[wanted[$lane] & 3];
#endunroll
  o0 = keep(found, lanes(o_layout, column));
}
