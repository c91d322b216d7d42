// One expression over up to six broadcast operands, element by element.
//
// EXPR is an expression of the scalars x0, x1, ... (the operands, converted to x0_ARG, ...). Output: o0.
// For operand xN, xN_MODE says where its element for an output element is:
//   0 same texel of a texture of the same size     1 same linear texel, another texture width
//   2 a uniform scalar                             3 the operand's texels repeat (broadcast over leading axes)
//   4 strided: uniform int xN_strides[RANK] rows of the operand per step of each output axis but the last
//   5 as 4, and the last axis has one element
// MASK 1 where the output's last axis is no multiple of four: pad lanes are written as zero.
// Uniforms: o_layout; o_shape, the output's axes but the last, outermost first (modes 4 and 5).
#include "lib/numeric.glsl"

#require EXPR      expression over the operands
#require OPERANDS  number of operands
#default RANK 1
#default MASK 0
#default STRIDED 0

#if STRIDED
uniform int o_shape[RANK];
#endif

#unroll n 0 OPERANDS
#if x$(n)_MODE == 2
uniform x$(n)_SCALAR x$n;
#else
uniform x$(n)_SAMPLER x$n;
uniform ivec4 x$(n)_layout;
#if x$(n)_MODE == 3
uniform int x$(n)_texels;
#endif
#if x$(n)_MODE >= 4
uniform int x$(n)_strides[RANK];
#endif
#endif
#endunroll

o0_SCALAR apply(
#unroll n 0 1
  x$(n)_ARG x$n
#endunroll
#unroll n 1 OPERANDS
  , x$(n)_ARG x$n
#endunroll
) { return o0_SCALAR(EXPR); }

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
#if STRIDED
  int column = t % o_layout.y;
  int index[RANK];
  int row = t / o_layout.y;
  for (int axis = RANK - 1; axis >= 0; axis--) {
    index[axis] = row % o_shape[axis];
    row /= o_shape[axis];
  }
#endif
#unroll n 0 OPERANDS
#if x$(n)_MODE == 0
  x$(n)_TEXEL v$n = fetch(x$n, p);
#elif x$(n)_MODE == 1
  x$(n)_TEXEL v$n = fetch(x$n, address(x$(n)_layout, t));
#elif x$(n)_MODE == 2
  x$(n)_TEXEL v$n = x$(n)_TEXEL(x$n);
#elif x$(n)_MODE == 3
  x$(n)_TEXEL v$n = fetch(x$n, address(x$(n)_layout, t % x$(n)_texels));
#else
  int row$n = 0;
  for (int axis = 0; axis < RANK; axis++) row$n += index[axis] * x$(n)_strides[axis];
#if x$(n)_MODE == 4
  x$(n)_TEXEL v$n = texel(x$n, x$(n)_layout, row$n, column);
#else
  x$(n)_TEXEL v$n = x$(n)_TEXEL(texel(x$n, x$(n)_layout, row$n, 0).x);
#endif
#endif
#endunroll
#unroll lane 0 4
  o0[$lane] = apply(
#unroll n 0 1
    x$(n)_ARG(v$n[$lane])
#endunroll
#unroll n 1 OPERANDS
    , x$(n)_ARG(v$n[$lane])
#endunroll
  );
#endunroll
#if MASK
  o0 = keep(o0, lanes(o_layout, t % o_layout.y));
#endif
}
