// Polygon offset: factor * m + units * r, m the largest slope of the depth, r its least step (OpenGL 4.6, section 14.6.5).
//
// Inputs: planes (n, 12), what pipeline_setup found; primitives (n, 8), int32; window (vertices, 4). Output: o0 (n, 12), the
// planes with the offset in their last element. Uniform: offset, (factor, units).
uniform planes_SAMPLER planes;
uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform ivec4 planes_layout;
uniform window_SAMPLER window;
uniform ivec4 window_layout;
uniform vec2 offset;

float depth_of(int vertex) { return abs(texel(window, window_layout, vertex, 0).z); }

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = t / 3;
  o0 = fetch(planes, p);
  if (t - 3 * row != 2) return;
  ivec4 v = texel(primitives, primitives_layout, row, 0);
  vec2 slope = abs(texel(planes, planes_layout, row, 1).zw);
  // For a 32-bit float depth buffer r is 2^(e - 23), e the exponent of the largest depth in the triangle.
  float largest = max(depth_of(v.x), max(depth_of(v.y), depth_of(v.z)));
  int step = ((floatBitsToInt(largest) >> 23) & 255) - 23;
  o0.w = offset.x * max(slope.x, slope.y) + offset.y * (step > 0 ? intBitsToFloat(step << 23) : 0.0);
}
