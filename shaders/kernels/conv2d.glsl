// Convolution, the plain kernel: any channels, groups, stride, dilation. One texel (four output channels) at a time.
//
// Inputs: x (N, H, W, C_in); w (KH, KW, C_in / groups, C_out).
// Output: o0 (N, OH, OW, C_out).
// Options: GROUPING  0: a texel's channels are of one group that starts at a whole texel of x
//                    1: each channel is a group of its own
//                    2: any groups, channel by channel
// Uniforms: as in lib/window.glsl; in_each, out_each: input and output channels of one group.
#include "lib/window.glsl"

#require GROUPING

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform w_SAMPLER w;
uniform ivec4 w_layout;
uniform int in_each, out_each;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = t % o_layout.y;
  ivec3 at = pixel_of(t / o_layout.y, result);
  ivec2 corner = at.yz * stride - border;
  vec4 acc = vec4(0.0);
  int row_w = 0;
  for (int ky = 0; ky < window.x; ky++) {
    for (int kx = 0; kx < window.y; kx++, row_w += in_each) {
      ivec2 from = corner + ivec2(ky, kx) * dilation;
      if (!inside(from, image)) continue;
      int row = pixel_at(at.x, image, from);
#if GROUPING == 0
      int first = 4 * column / out_each * in_each / 4;
      for (int c = 0; c < in_each; c += 4) {
        vec4 v = texel(x, x_layout, row, first + c / 4);
#unroll q 0 4
        if (c + $q < in_each) acc += v[$q] * texel(w, w_layout, row_w + c + $q, column);
#endunroll
      }
#elif GROUPING == 1
      acc += texel(x, x_layout, row, column) * texel(w, w_layout, row_w, column);
#else
#unroll lane 0 4
      for (int c = 0; c < in_each; c++) {
        int from_channel = min(4 * column + $lane, o_layout.w - 1) / out_each * in_each + c;
        acc[$lane] += texel(x, x_layout, row, from_channel / 4)[from_channel % 4] * texel(w, w_layout, row_w + c, column)[$lane];
      }
#endunroll
#endif
    }
  }
  o0 = keep(acc, lanes(o_layout, column));
}
