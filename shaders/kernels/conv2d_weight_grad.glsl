// The gradient of a convolution with respect to its weights, the plain kernel (see conv2d.glsl for the options).
//
// Inputs: x (N, H, W, C_in); g (N, OH, OW, C_out), the gradient of the result.
// Output: o0 (shares, KH, KW, C_in / groups, C_out): share s is the sum over `per_share` batch items from
// s / row_shares * per_share on, and there over `rows_per_share` rows of g from s % row_shares * rows_per_share on.
// Uniforms: as in lib/window.glsl; in_each, out_each; batch, per_share, row_shares, rows_per_share.
#include "lib/window.glsl"

#require GROUPING

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform g_SAMPLER g;
uniform ivec4 g_layout;
uniform int in_each, out_each, batch, per_share, row_shares, rows_per_share;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = t % o_layout.y, row = t / o_layout.y;
  int channel = row % in_each, tap = row / in_each;
  int kx = tap % window.y, ky = tap / window.y % window.x;
  int share = tap / (window.y * window.x);
  int first = share / row_shares * per_share, first_row = share % row_shares * rows_per_share;
  ivec2 offset = ivec2(ky, kx) * dilation - border;
#if GROUPING != 1
#unroll lane 0 4
  int c$lane = min(4 * column + $lane, o_layout.w - 1) / out_each * in_each + channel;
#endunroll
#endif
  vec4 acc = vec4(0.0);
  for (int n = first; n < min(first + per_share, batch); n++) {
    for (int oy = first_row; oy < min(first_row + rows_per_share, result.x); oy++) {
      vec4 line = vec4(0.0);  // summed by itself, so that long sums stay exact
      for (int ox = 0; ox < result.y; ox++) {
        ivec2 from = ivec2(oy, ox) * stride + offset;
        if (!inside(from, image)) continue;
        int from_row = pixel_at(n, image, from);
#if GROUPING == 0
        float v = texel(x, x_layout, from_row, c0 / 4)[c0 % 4];
#elif GROUPING == 1
        vec4 v = texel(x, x_layout, from_row, column);
#else
        vec4 v;
#unroll lane 0 4
        v[$lane] = texel(x, x_layout, from_row, c$lane / 4)[c$lane % 4];
#endunroll
#endif
        line += v * texel(g, g_layout, pixel_at(n, result, ivec2(oy, ox)), column);
      }
      acc += line;
    }
  }
  o0 = keep(acc, lanes(o_layout, column));
}
