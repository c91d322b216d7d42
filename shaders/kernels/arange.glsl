// start + step * index, for a tensor of one axis.
// Output: o0. Uniforms: o_layout, start, step_. Options: SCALAR the type that start and step_ have.
#require SCALAR  int or float

uniform SCALAR start;
uniform SCALAR step_;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
#unroll lane 0 4
  o0[$lane] = o0_SCALAR(start + step_ * SCALAR(4 * t + $lane));
#endunroll
  o0 = keep(o0, lanes(o_layout, modulo(t, o_layout.y)));
}
