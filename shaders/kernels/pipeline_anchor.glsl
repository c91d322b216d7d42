// Interpolation set-up: weights and depth at the centre of the first pixel of every pair's tile, from where the float32
// steps inside the tile lose nothing.
//
// Inputs: pairs (n, 8), int32; primitives (m, 8), int32; window (vertices, 4); planes (m, 12), what pipeline_setup found.
// Output: o0 (n, 4): three weights, linear in the window, and the depth with the polygon offset. Uniforms: bits;
// centre, from a pixel's lower left corner to where lines and points take their values, in x and y.
// FIGURE as in pipeline_setup.
#require FIGURE
#include "lib/primitives.glsl"
#include "lib/weights.glsl"

uniform pairs_SAMPLER pairs;
uniform ivec4 pairs_layout;
uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform window_SAMPLER window;
uniform ivec4 window_layout;
uniform planes_SAMPLER planes;
uniform ivec4 planes_layout;
uniform int bits;
#if FIGURE != 0
uniform float centre;
#endif

void point(ivec2 p) {
  int row = p.y * o_layout.x + p.x;
  ivec4 pair = texel(pairs, pairs_layout, row, 1);
  ivec4 v = texel(primitives, primitives_layout, pair.x, 0);
  vec4 a = texel(window, window_layout, v.x, 0), b = texel(window, window_layout, v.y, 0), c = texel(window, window_layout, v.z, 0);
  ivec2 pixel = pair.yz * 8;
#if FIGURE == 0
  vec3 weights = weights_at(corners(a.xy, b.xy, c.xy, bits), (pixel << bits) + (1 << (bits - 1)));
  float depth = a.z + weights.y * (b.z - a.z) + weights.z * (c.z - a.z);
#else
  vec4 first = texel(planes, planes_layout, pair.x, 0), second = texel(planes, planes_layout, pair.x, 1);
  vec2 way = vec2(pixel) + centre - a.xy;
  float along = dot(first.zw, way);
#if FIGURE == 3
  vec3 weights = vec3(1.0, 0.5 + along, 0.5 + dot(second.xy, way));
  float depth = a.z;
#else
  vec3 weights = vec3(1.0 - along, along, 0.0);
  float depth = a.z + along * (b.z - a.z);
#endif
#endif
  o0 = vec4(weights, depth + texel(planes, planes_layout, pair.x, 2).w);
}
