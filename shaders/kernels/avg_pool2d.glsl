// The mean of each window, channel by channel.
//
// Input: x (N, H, W, C). Output: o0 (N, OH, OW, C).
// Options: INCLUDE_PAD 1: pixels beyond the border count as zeros; 0: they take no part.
// Uniforms: as in lib/window.glsl.
#include "lib/window.glsl"

#require INCLUDE_PAD

uniform x_SAMPLER x;
uniform ivec4 x_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = t % o_layout.y;
  ivec3 at = pixel_of(t / o_layout.y, result);
  ivec2 corner = at.yz * stride - border;
  ivec2 first = max(corner, ivec2(0)), end = min(corner + window, image);
#if INCLUDE_PAD
  ivec2 side = window;
#else
  ivec2 side = end - first;
#endif
  vec4 sum = vec4(0.0);
  for (int iy = first.x; iy < end.x; iy++)
    for (int ix = first.y; ix < end.y; ix++)
      sum += texel(x, x_layout, pixel_at(at.x, image, ivec2(iy, ix)), column);
  o0 = sum / float(side.x * side.y);
}
