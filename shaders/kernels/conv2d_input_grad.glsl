// The gradient of a convolution with respect to its input, the plain kernel (see conv2d.glsl for the options).
//
// Inputs: g (N, OH, OW, C_out), the gradient of the result; w (KH, KW, C_in / groups, C_out).
// Output: o0 (N, H, W, C_in).
// Uniforms: as in lib/window.glsl; in_each, out_each.
#include "lib/window.glsl"

#require GROUPING

uniform g_SAMPLER g;
uniform ivec4 g_layout;
uniform w_SAMPLER w;
uniform ivec4 w_layout;
uniform int in_each, out_each;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = t % o_layout.y;
  ivec3 at = pixel_of(t / o_layout.y, image);
  vec4 acc = vec4(0.0);
  int row_w = 0;
  for (int ky = 0; ky < window.x; ky++) {
    for (int kx = 0; kx < window.y; kx++, row_w += in_each) {
      ivec2 o = window_of(at.yz, ivec2(ky, kx));
      if (o.x < 0) continue;
      int row = pixel_at(at.x, result, o);
#if GROUPING == 0
      int channel = 4 * column % in_each, first = 4 * column / in_each * out_each / 4;
      for (int c = first; 4 * c < 4 * first + out_each; c++) {
        vec4 v = texel(g, g_layout, row, c);
#unroll q 0 4
        acc[$q] += dot(v, texel(w, w_layout, row_w + min(channel + $q, in_each - 1), c));
#endunroll
      }
#elif GROUPING == 1
      acc += texel(g, g_layout, row, column) * texel(w, w_layout, row_w, column);
#else
#unroll lane 0 4
      {
        int channel = min(4 * column + $lane, o_layout.w - 1);
        int first = channel / in_each * out_each;
        for (int c = first; c < first + out_each; c++)
          acc[$lane] += texel(g, g_layout, row, c / 4)[c % 4] * texel(w, w_layout, row_w + channel % in_each, c / 4)[c % 4];
      }
#endunroll
#endif
    }
  }
  o0 = keep(acc, lanes(o_layout, column));
}
