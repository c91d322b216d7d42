// Barycentric weights of unsnapped triangles without a loss: positions as whole subpixels, whose products are exact in 64
// bits, and the little that snapping took away, which float32 holds exactly.
#include "lib/wide.glsl"

struct Corners {
  ivec2 whole[3];
  vec2 rest[3];
};

Corners corners(vec2 a, vec2 b, vec2 c, int bits) {
  Corners found;
  float one = float(1 << bits);
  vec2 scaled[3] = vec2[3](a * one, b * one, c * one);
  for (int i = 0; i < 3; ++i) {
    vec2 rounded = roundEven(scaled[i]);
    found.whole[i] = ivec2(rounded);
    found.rest[i] = scaled[i] - rounded;
  }
  return found;
}

// Twice the area between two vectors, each given as whole subpixels and a rest.
float area_between(ivec2 p, vec2 p_rest, ivec2 q, vec2 q_rest) {
  vec2 x = vec2(p), y = vec2(q);
  float rest = (x.x * q_rest.y - q_rest.x * x.y) + (p_rest.x * y.y - y.x * p_rest.y) + (p_rest.x * q_rest.y - q_rest.x * p_rest.y);
  return to_float(cross_product(p, q)) + rest;
}

float triangle_area(Corners c) {
  return area_between(c.whole[1] - c.whole[0], c.rest[1] - c.rest[0], c.whole[2] - c.whole[0], c.rest[2] - c.rest[0]);
}

// The weights at a position in subpixels, linear in the window; those of the first corner where there is no area.
vec3 weights_at(Corners c, ivec2 at) {
  float area = triangle_area(c);
  if (area == 0.0) return vec3(1.0, 0.0, 0.0);
  ivec2 a = c.whole[0] - at, b = c.whole[1] - at, d = c.whole[2] - at;
  vec3 parts = vec3(area_between(b, c.rest[1], d, c.rest[2]), area_between(d, c.rest[2], a, c.rest[0]), area_between(a, c.rest[0], b, c.rest[1]));
  return parts / area;
}
