// Pads a tensor: the input's element i lies at low + i * step of each axis, everything else is `fill`.
//
// Input: x. Output: o0. A negative `low` cuts the input; step > 1 puts fill between its elements.
// Options: RANK  axes.
// Uniforms: o_layout, x_layout, o_shape[RANK], x_shape[RANK], low[RANK], step_[RANK], fill.
#require RANK

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int o_shape[RANK], x_shape[RANK], low[RANK], step_[RANK];
uniform o0_SCALAR fill;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int texel_column = modulo(t, o_layout.y);
  int rest = quotient(t, o_layout.y);
  int row = 0, scale = 1;
  bool inside = true;
  for (int axis = RANK - 2; axis >= 0; axis--) {
    int outer = quotient(rest, o_shape[axis]);
    int i = rest - outer * o_shape[axis] - low[axis];
    rest = outer;
    int j = i / step_[axis];
    inside = inside && i >= 0 && j * step_[axis] == i && j < x_shape[axis];
    row += j * scale;
    scale *= x_shape[axis];
  }
  bvec4 kept = lanes(o_layout, texel_column);
#unroll lane 0 4
  {
    int i = 4 * texel_column + $lane - low[RANK - 1];
    int j = i / step_[RANK - 1];
    bool here = inside && i >= 0 && j * step_[RANK - 1] == i && j < x_shape[RANK - 1];
    o0_SCALAR v = o0_SCALAR(fill);
    if (here) v = o0_SCALAR(texel(x, x_layout, row, j / 4)[j % 4]);
    o0[$lane] = kept[$lane] ? v : o0_SCALAR(0);
  }
#endunroll
}
