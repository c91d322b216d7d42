// Elements as integers that sort in the same order. Input: x. Output: o0, int32, x's texels one after another.
//
// Pad lanes get the largest key, so that they stay behind the elements of their row. DESCENDING 1: the order is reversed.
// Uniforms: o_layout, x_layout, columns (texels of a row of x).
#include "lib/order.glsl"
#require DESCENDING

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int columns;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  x_TEXEL v = fetch(x, address(x_layout, t));
  bvec4 kept = lanes(x_layout, modulo(t, columns));
#unroll lane 0 4
  o0[$lane] = kept[$lane] ? DESCENDING == 1 ? ~order(v[$lane]) : order(v[$lane]) : 0x7fffffff;
#endunroll
}
