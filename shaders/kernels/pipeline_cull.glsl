// Facing and culling of triangles, by the sign of their area on the subpixel grid (OpenGL 4.6, section 14.6.1).
//
// Inputs: primitives (n, 8), int32; window (vertices, 4). Output: o0 (n, 8), int32: the same rows, front facing and
// whether they go on written in. Uniform: bits. TURNED: 1 where clockwise triangles show their front. CULL: bit 0 front,
// bit 1 back faces.
#require TURNED
#require CULL
#include "lib/primitives.glsl"
#include "lib/wide.glsl"

uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform window_SAMPLER window;
uniform ivec4 window_layout;
uniform int bits;

ivec2 place(int vertex) { return snapped(texel(window, window_layout, vertex, 0).xy, bits); }

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  o0 = fetch(primitives, p);
  if ((t & 1) == 0) return;
  ivec4 v = texel(primitives, primitives_layout, t / 2, 0);
  ivec2 a = place(v.x);
  Wide area = cross_product(place(v.y) - a, place(v.z) - a);
  bool counter = !is_negative(area) && !is_zero(area);
  bool front = counter != (TURNED == 1);
  o0.y = front ? 1 : 0;
  o0.w = is_zero(area) || ((CULL >> (front ? 0 : 1)) & 1) == 1 ? 0 : 1;
}
