// An expression of broadcast operands, evaluated for the four elements of one output texel.
//
// It is the whole elementwise kernel, and the epilogue of any kernel whose result goes through an expression first.
// PRELUDE (statements) and EXPR are over scalars x0, x1, ... (the operands, converted to e0_ARG, e1_ARG, ...).
// For operand N, eN_MODE says where its element for an output element is:
//   0 same texel of a texture of the same size     1 same linear texel, another texture width
//   2 a uniform scalar                             3 the operand's texels repeat (broadcast over leading axes)
//   7 as 3, where the texels are a power of two and lie in one line
//   9 as 3, where the operand is one row as long as the output's rows: hold(column) has fetched it for a column of a tile
//   4 strided: uniform int eN_strides[RANK] rows of the operand per step of each output axis but the last
//   5 as 4, and the last axis has one element      6 what the kernel itself computed
// MASK 1 where the output's last axis is no multiple of four: pad lanes are written as zero.
// Uniforms: o_layout; e_shape, the output's axes but the last, outermost first (modes 4 and 5).
#include "lib/numeric.glsl"

#default EXPR 0
#default OPERANDS 0
#default PRELUDE ;
#default RANK 1
#default MASK 0
#default STRIDED 0

#if STRIDED
uniform int e_shape[RANK];
#endif

#unroll n 0 OPERANDS
#if e$(n)_MODE == 2
uniform e$(n)_SCALAR e$n;
#elif e$(n)_MODE != 6
uniform e$(n)_SAMPLER e$n;
uniform ivec4 e$(n)_layout;
#if e$(n)_MODE == 3 || e$(n)_MODE == 7
uniform int e$(n)_texels;
#elif e$(n)_MODE == 4 || e$(n)_MODE == 5
uniform int e$(n)_strides[RANK];
#elif e$(n)_MODE == 9
e$(n)_TEXEL held$n;
#endif
#endif
#endunroll

// Fetches the operands of mode 9 for one column of texels.
void hold(int column) {
#unroll n 0 OPERANDS
#if e$(n)_MODE == 9
  held$n = fetch(e$n, ivec2(column, 0));
#endif
#endunroll
}

o0_SCALAR apply(
#unroll n 0 1
  e$(n)_ARG x$n
#endunroll
#unroll n 1 OPERANDS
  , e$(n)_ARG x$n
#endunroll
) {
  PRELUDE
  return o0_SCALAR(EXPR);
}

// p: the output texel's address; t: its linear index; produced: what the kernel computed for it.
o0_TEXEL expression(ivec2 p, int t, o0_TEXEL produced) {
#if STRIDED
  int column = modulo(t, o_layout.y);
  int index[RANK];
  int row = quotient(t, o_layout.y);
  for (int axis = RANK - 1; axis > 0; axis--) {
    int outer = quotient(row, e_shape[axis]);
    index[axis] = row - outer * e_shape[axis];
    row = outer;
  }
  index[0] = row;
#endif
#unroll n 0 OPERANDS
#if e$(n)_MODE == 0
  e$(n)_TEXEL v$n = fetch(e$n, p);
#elif e$(n)_MODE == 1
  e$(n)_TEXEL v$n = fetch(e$n, address(e$(n)_layout, t));
#elif e$(n)_MODE == 2
  e$(n)_TEXEL v$n = e$(n)_TEXEL(e$n);
#elif e$(n)_MODE == 3
  e$(n)_TEXEL v$n = fetch(e$n, address(e$(n)_layout, modulo(t, e$(n)_texels)));
#elif e$(n)_MODE == 7
  e$(n)_TEXEL v$n = fetch(e$n, ivec2(t & (e$(n)_texels - 1), 0));
#elif e$(n)_MODE == 9
  e$(n)_TEXEL v$n = held$n;
#elif e$(n)_MODE == 6
  o0_TEXEL v$n = produced;
#else
  int row$n = 0;
  for (int axis = 0; axis < RANK; axis++) row$n += index[axis] * e$(n)_strides[axis];
#if e$(n)_MODE == 4
  e$(n)_TEXEL v$n = texel(e$n, e$(n)_layout, row$n, column);
#else
  e$(n)_TEXEL v$n = e$(n)_TEXEL(texel(e$n, e$(n)_layout, row$n, 0).x);
#endif
#endif
#endunroll
  o0_TEXEL result;
#unroll lane 0 4
  result[$lane] = apply(
#unroll n 0 1
    e$(n)_ARG(v$n[$lane])
#endunroll
#unroll n 1 OPERANDS
    , e$(n)_ARG(v$n[$lane])
#endunroll
  );
#endunroll
#if MASK
  result = keep(result, lanes(o_layout, modulo(t, o_layout.y)));
#endif
  return result;
}
