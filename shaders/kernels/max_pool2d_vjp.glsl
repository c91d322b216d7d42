// The gradient of max_pool2d: each window's gradient goes to the pixel that max_pool2d chose there.
//
// Inputs: g (N, OH, OW, C), the gradient of the result; x (N, H, W, C). Output: o0 (N, H, W, C).
// Uniforms: as in lib/window.glsl.
#include "lib/numeric.glsl"
#include "lib/window.glsl"

uniform g_SAMPLER g;
uniform ivec4 g_layout;
uniform x_SAMPLER x;
uniform ivec4 x_layout;

// Whether `other` is chosen before `mine`, given whether it comes first.
bool beats(float other, float mine, bool earlier) {
  if (is_nan(mine)) return earlier && is_nan(other);
  return is_nan(other) || other > mine || earlier && other == mine;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = t % o_layout.y;
  ivec3 at = pixel_of(t / o_layout.y, image);
  vec4 mine = texel(x, x_layout, t / o_layout.y, column);
  o0 = vec4(0.0);
  ivec2 here = at.yz + border;
  ivec2 low = max((here - window + stride) / stride, ivec2(0));
  ivec2 high = min(here / stride, result - 1);
  for (int oy = low.x; oy <= high.x; oy++) {
    for (int ox = low.y; ox <= high.y; ox++) {
      ivec2 corner = ivec2(oy, ox) * stride - border;
      ivec2 first = max(corner, ivec2(0)), end = min(corner + window, image);
      bvec4 lost = bvec4(false);
      for (int iy = first.x; iy < end.x; iy++) {
        for (int ix = first.y; ix < end.y; ix++) {
          bool earlier = iy < at.y || iy == at.y && ix < at.z;
          vec4 other = texel(x, x_layout, pixel_at(at.x, image, ivec2(iy, ix)), column);
          if (iy != at.y || ix != at.z) {
#unroll lane 0 4
            lost[$lane] = lost[$lane] || beats(other[$lane], mine[$lane], earlier);
#endunroll
          }
        }
      }
      vec4 v = texel(g, g_layout, pixel_at(at.x, result, ivec2(oy, ox)), column);
#unroll lane 0 4
      if (!lost[$lane]) o0[$lane] += v[$lane];
#endunroll
    }
  }
}
