// Joins OPERANDS tensors along one axis.
//
// Inputs: x0, x1, ... Output: o0. The output is seen as (outer, sides, inner) elements with `inner` whole rows, or,
// with LAST 1, as (rows, last axis). Uniforms: o_layout, xN_layout, xN_start (first index of operand N along the
// axis), xN_side, inner (rows in one step of the axis), o_side.
#require OPERANDS
#default LAST 0

#unroll n 0 OPERANDS
uniform x$(n)_SAMPLER x$n;
uniform ivec4 x$(n)_layout;
uniform int x$(n)_start, x$(n)_side;
#endunroll
uniform int inner, o_side;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, o_layout.y), row = quotient(t, o_layout.y);
#if LAST
  bvec4 kept = lanes(o_layout, column);
#unroll lane 0 4
  {
    int e = 4 * column + $lane;
    o0[$lane] = o0_SCALAR(0);
#unroll n 0 OPERANDS
    if (kept[$lane] && e >= x$(n)_start && e < x$(n)_start + x$(n)_side) {
      int c = e - x$(n)_start;
      o0[$lane] = o0_SCALAR(texel(x$n, x$(n)_layout, row, c / 4)[c % 4]);
    }
#endunroll
  }
#endunroll
#else
  int b = modulo(row, inner), i = modulo(quotient(row, inner), o_side), group = quotient(row, inner * o_side);
  o0 = o0_TEXEL(0);
#unroll n 0 OPERANDS
  if (i >= x$(n)_start && i < x$(n)_start + x$(n)_side)
    o0 = o0_TEXEL(texel(x$n, x$(n)_layout, (group * x$(n)_side + i - x$(n)_start) * inner + b, column));
#endunroll
#endif
}
