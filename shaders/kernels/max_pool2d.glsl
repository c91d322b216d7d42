// The largest pixel of each window, channel by channel; of several the first in row-major order. NaN counts as largest.
//
// Input: x (N, H, W, C). With PICK 1 also u of the same shape: the result is u where x is largest.
// Output: o0 (N, OH, OW, C). Pixels beyond the border take no part.
// Uniforms: as in lib/window.glsl.
#include "lib/numeric.glsl"
#include "lib/window.glsl"

#default PICK 0

uniform x_SAMPLER x;
uniform ivec4 x_layout;
#if PICK
uniform u_SAMPLER u;
uniform ivec4 u_layout;
#endif

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = t % o_layout.y;
  ivec3 at = pixel_of(t / o_layout.y, result);
  ivec2 corner = at.yz * stride - border;
  ivec2 first = max(corner, ivec2(0)), end = min(corner + window, image);
  int row = pixel_at(at.x, image, first);
  vec4 best = texel(x, x_layout, row, column);
#if PICK
  vec4 picked = texel(u, u_layout, row, column);
#endif
  for (int iy = first.x; iy < end.x; iy++) {
    for (int ix = first.y; ix < end.y; ix++) {
      row = pixel_at(at.x, image, ivec2(iy, ix));
      vec4 v = texel(x, x_layout, row, column);
#if PICK
      vec4 other = texel(u, u_layout, row, column);
#endif
#unroll lane 0 4
      if (!is_nan(best[$lane]) && (v[$lane] > best[$lane] || is_nan(v[$lane]))) {
        best[$lane] = v[$lane];
#if PICK
        picked[$lane] = other[$lane];
#endif
      }
#endunroll
    }
  }
#if PICK
  o0 = picked;
#else
  o0 = best;
#endif
}
