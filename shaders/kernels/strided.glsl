// Reads a tensor with another index order: permutation, slices of any step, broadcasting, flips.
//
// Input: x. Output: o0. The output's element (i0, i1, ...) is the input's element `column` of row `row`, where
//   row    = row_start + sum(i_axis * row_steps[axis])
//   column = column_start + sum(i_axis * column_steps[axis])
// Options: RANK  axes of the output.
//          WHOLE 1 where the last axis is the input's last axis from a multiple of four on: whole texels are copied.
// Uniforms: o_layout, x_layout, o_shape[RANK], row_steps[RANK], column_steps[RANK], row_start, column_start.
#require RANK
#default WHOLE 0

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int o_shape[RANK], row_steps[RANK], column_steps[RANK];
uniform int row_start, column_start;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int texel_column = modulo(t, o_layout.y);
  int rest = quotient(t, o_layout.y);
  int row = row_start, column = column_start;
  for (int axis = RANK - 2; axis >= 0; axis--) {
    int outer = quotient(rest, o_shape[axis]);
    int i = rest - outer * o_shape[axis];
    rest = outer;
    row += i * row_steps[axis];
    column += i * column_steps[axis];
  }
  bvec4 kept = lanes(o_layout, texel_column);
#if WHOLE
  o0 = keep(texel(x, x_layout, row, column / 4 + texel_column), kept);
#else
  o0 = o0_TEXEL(0);
#unroll lane 0 4
  if (kept[$lane]) {
    int i$lane = 4 * texel_column + $lane;
    int c$lane = column + i$lane * column_steps[RANK - 1];
    o0[$lane] = texel(x, x_layout, row + i$lane * row_steps[RANK - 1], c$lane / 4)[c$lane % 4];
  }
#endunroll
#endif
}
