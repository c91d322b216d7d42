// Interpolation set-up: how the barycentric weights and the depth of every primitive change over the window.
//
// Inputs: primitives (n, 8), int32; window (vertices, 4), unsnapped; for points sizes (vertices, 4) where the vertex shader
// sets them. Output: o0 (n, 12): the change per pixel in x and y of the three weights and of the depth, then 1/w at the
// corners and 0, where the polygon offset goes. Uniforms: bits; size of points.
// FIGURE: 0 triangle, 1 line, 2 line as multisampling draws it, 3 point (two weights are gl_PointCoord). OWN_SIZE.
#require FIGURE
#default OWN_SIZE 0
#include "lib/primitives.glsl"
#include "lib/weights.glsl"

uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform window_SAMPLER window;
uniform ivec4 window_layout;
#if OWN_SIZE
uniform sizes_SAMPLER sizes;
uniform ivec4 sizes_layout;
#endif
uniform int bits;
uniform float size;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = t / 3, part = t - 3 * row;
  ivec4 v = texel(primitives, primitives_layout, row, 0);
  vec4 a = texel(window, window_layout, v.x, 0), b = texel(window, window_layout, v.y, 0), c = texel(window, window_layout, v.z, 0);
  if (part == 2) {
    o0 = vec4(a.w, b.w, c.w, 0.0);
    return;
  }
  // Of the weights of the second and the third corner; the first one's is what is left to 1.
  vec2 second = vec2(0.0), third = vec2(0.0);
#if FIGURE == 0
  Corners at = corners(a.xy, b.xy, c.xy, bits);
  float area = triangle_area(at);
  if (area != 0.0) {
    // Differences of whole subpixels and of what snapping took away, each of them exact.
    vec2 ca = vec2(at.whole[2] - at.whole[0]) + (at.rest[2] - at.rest[0]), ab = vec2(at.whole[0] - at.whole[1]) + (at.rest[0] - at.rest[1]);
    float pixel = float(1 << bits) / area;
    second = vec2(ca.y, -ca.x) * pixel;
    third = vec2(ab.y, -ab.x) * pixel;
  }
#elif FIGURE == 3
#if OWN_SIZE
  float side = texel(sizes, sizes_layout, v.x, 0).x;
#else
  float side = size;
#endif
  // gl_PointCoord runs over a square of the size that was snapped, around the position that was not.
  float pixel = float(1 << bits) / max(roundEven(side * float(1 << bits)), 1.0);
  second.x = pixel;
  third.y = -pixel;
#else
  vec2 d = b.xy - a.xy;
#if FIGURE == 2
  float square = dot(d, d);
  if (square != 0.0) second = d / square;
#else
  // Linear along the major axis, as section 14.5.1 allows.
  if (abs(d.x) >= abs(d.y)) second.x = d.x != 0.0 ? 1.0 / d.x : 0.0;
  else second.y = 1.0 / d.y;
#endif
#endif
#if FIGURE == 3
  o0 = part == 0 ? vec4(0.0, 0.0, second) : vec4(third, 0.0, 0.0);
#else
  vec2 depth = second * (b.z - a.z) + third * (c.z - a.z);
  o0 = part == 0 ? vec4(-second - third, second) : vec4(third, depth);
#endif
}
