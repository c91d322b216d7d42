// The same elements in row-major order, packed for another last axis.
// Input: x. Output: o0. Uniforms: o_layout, x_layout.

uniform x_SAMPLER x;
uniform ivec4 x_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, o_layout.y);
  int first = (quotient(t, o_layout.y)) * o_layout.w + 4 * column;
  bvec4 kept = lanes(o_layout, column);
  o0 = o0_TEXEL(0);
#unroll lane 0 4
  if (kept[$lane]) {
    int c$lane = modulo(first + $lane, x_layout.w);
    o0[$lane] = texel(x, x_layout, quotient(first + $lane, x_layout.w), c$lane / 4)[c$lane % 4];
  }
#endunroll
}
