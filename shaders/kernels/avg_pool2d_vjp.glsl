// The gradient of avg_pool2d: each window's gradient, shared equally between its pixels.
//
// Input: g (N, OH, OW, C), the gradient of the result. Output: o0 (N, H, W, C).
// Options and uniforms: as in avg_pool2d.glsl.
#include "lib/window.glsl"

#require INCLUDE_PAD

uniform g_SAMPLER g;
uniform ivec4 g_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = t % o_layout.y;
  ivec3 at = pixel_of(t / o_layout.y, image);
  ivec2 here = at.yz + border;
  ivec2 low = max((here - window + stride) / stride, ivec2(0));
  ivec2 high = min(here / stride, result - 1);
  o0 = vec4(0.0);
  for (int oy = low.x; oy <= high.x; oy++) {
    for (int ox = low.y; ox <= high.y; ox++) {
#if INCLUDE_PAD
      ivec2 side = window;
#else
      ivec2 corner = ivec2(oy, ox) * stride - border;
      ivec2 side = min(corner + window, image) - max(corner, ivec2(0));
#endif
      o0 += texel(g, g_layout, pixel_at(at.x, result, ivec2(oy, ox)), column) / float(side.x * side.y);
    }
  }
}
