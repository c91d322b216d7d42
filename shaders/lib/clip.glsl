// Clipping one primitive against the view volume and the user's planes, in float32 as devices do (OpenGL 4.6, section 13.7).
//
// Inputs: primitives (n, 8), int32; positions (vertices, 4); with USER planes of the user distances (vertices, 8).
// After clip_primitive(row) the corners are polygon[0] to polygon[count - 1], and verdict says what became of it.
#require SIDES    corners of a primitive
#require VOLUME   planes of the view volume: 6, or 4 where depths are clamped
#require USER     planes of the user
#require STRAIGHT 1 where an output is linear in the window
#default ZERO_TO_ONE 0
#include "lib/bits.glsl"

const int MOST = SIDES + VOLUME + USER;
const int WHOLE = 0, CUT = 1, REJECTED = 2, DROPPED = 3;

uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform positions_SAMPLER positions;
uniform ivec4 positions_layout;
#if USER
uniform distances_SAMPLER distances;
uniform ivec4 distances_layout;
#endif

// share: the corner as a sum of the primitive's vertices, linear in clip space; straight: linear in the window.
struct Corner {
  vec4 position;
  vec3 share;
#if STRAIGHT
  vec3 straight;
#endif
#if USER
  vec4 user[2];
#endif
};

Corner polygon[MOST];
int count, verdict;

// Signed distance to a plane: x <= w, x >= -w, y <= w, y >= -w, near, far, then the user's; negative is outside.
float distance_to(int plane, Corner c) {
  vec4 p = c.position;
  if (plane == 0) return p.w - p.x;
  if (plane == 1) return p.w + p.x;
  if (plane == 2) return p.w - p.y;
  if (plane == 3) return p.w + p.y;
#if VOLUME == 6
  if (plane == 4) return ZERO_TO_ONE == 1 ? p.z : p.z + p.w;
  if (plane == 5) return p.w - p.z;
#endif
#if USER
  int d = plane - VOLUME;
  return d < 4 ? c.user[0][d & 3] : c.user[1][d & 3];
#else
  return 0.0;
#endif
}

#if STRAIGHT
// How far a new corner lies from a to b in the window, by x, or by y where x is the same.
float in_window(vec4 a, vec4 b, vec4 made, float t) {
  float share = t;
#unroll axis 0 2
  {
    float low = a[1 - $axis] / a.w, high = b[1 - $axis] / b.w, at = made[1 - $axis] / made.w;
    if (low != high) share = (at - low) / (high - low);
  }
#endunroll
  return is_nan(share) ? 0.0 : clamp(share, -3.4e38, 3.4e38);
}
#endif

// The corner where the edge between two corners on different sides meets the plane.
Corner between(Corner inner, Corner outer, float d_in, float d_out) {
  // From the nearer one, whose share is then the more exact one.
  bool from_inner = -d_out >= d_in;
  Corner a = outer, b = inner;
  float d_a = d_out, d_b = d_in;
  if (from_inner) {
    a = inner;
    b = outer;
    d_a = d_in;
    d_b = d_out;
  }
  float t = d_a / (d_a - d_b);
  Corner made;
  made.position = a.position + (b.position - a.position) * t;
  made.share = a.share + (b.share - a.share) * t;
#if STRAIGHT
  made.straight = a.straight + (b.straight - a.straight) * in_window(a.position, b.position, made.position, t);
#endif
#if USER
  made.user[0] = a.user[0] + (b.user[0] - a.user[0]) * t;
  made.user[1] = a.user[1] + (b.user[1] - a.user[1]) * t;
#endif
  return made;
}

// Sutherland and Hodgman's step for one plane.
void against(int plane) {
  Corner left[MOST];
  int filled = 0;
  int edges = SIDES == 2 ? min(count, 1) : count;
  for (int i = 0; i < edges; ++i) {
    Corner a = polygon[i], b = polygon[SIDES == 2 || i + 1 < count ? i + 1 : 0];
    float d_a = distance_to(plane, a), d_b = distance_to(plane, b);
    if (d_a >= 0.0 && filled < MOST) left[filled++] = a;
    if ((d_a >= 0.0) != (d_b >= 0.0) && d_a != d_b && filled < MOST) {
      if (d_a >= 0.0) left[filled++] = between(a, b, d_a, d_b);
      else left[filled++] = between(b, a, d_b, d_a);
    }
    if (SIDES == 2 && d_b >= 0.0 && filled < MOST) left[filled++] = b;
  }
  count = filled >= SIDES ? filled : 0;
  for (int i = 0; i < count; ++i) polygon[i] = left[i];
}

void clip_primitive(int row) {
  ivec4 v = texel(primitives, primitives_layout, row, 0);
  bool finite = true;
  for (int i = 0; i < SIDES; ++i) {
    Corner c;
    c.position = texel(positions, positions_layout, v[i], 0);
    c.share = vec3(i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0);
#if STRAIGHT
    c.straight = c.share;
#endif
#if USER
    c.user[0] = texel(distances, distances_layout, v[i], 0);
    c.user[1] = texel(distances, distances_layout, v[i], 1);
#endif
    // (0, 0, 0, 0) is inside all planes and has no place in the window.
    bool zero = true;
    for (int j = 0; j < 4; ++j) {
      finite = finite && !is_nan(c.position[j]) && !is_inf(c.position[j]);
      zero = zero && c.position[j] == 0.0;
    }
    finite = finite && !zero;
    polygon[i] = c;
  }
  count = 0;
  verdict = DROPPED;
  if (!finite) return;
  verdict = WHOLE;
  count = SIDES;
  int crossed = 0;  // planes with a corner outside, as bits
  for (int plane = 0; plane < VOLUME + USER; ++plane) {
    int outside = 0;
    for (int i = 0; i < SIDES; ++i) outside += distance_to(plane, polygon[i]) < 0.0 ? 1 : 0;
    if (outside == SIDES) verdict = REJECTED;
    if (outside > 0) crossed |= 1 << plane;
  }
  if (verdict == REJECTED || crossed == 0) return;
  verdict = CUT;
  for (int plane = 0; plane < VOLUME + USER; ++plane) {
    if (((crossed >> plane) & 1) == 1) against(plane);
  }
}
