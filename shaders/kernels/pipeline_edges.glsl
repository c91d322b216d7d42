// Rasterisation set-up: every primitive as a convex figure of up to four fixed-point edge functions.
//
// An edge is a triple (c, dx, dy): a sample at (x, y), in subpixels, is inside where c + dx * y - dy * x >= 0. The tie rule
// is part of c: an edge that does not own the samples on it has c less 1. All of it is exact, c in 64 bits.
//
// Inputs: primitives (n, 8), int32; window (vertices, 4); for points sizes (vertices, 4) where the vertex shader sets them.
// Outputs: o0 and o1, low and high words of c, o2 dx, o3 dy, each (n, 4), int32, an edge to a lane; o4 (n, 4), int32, the
// first and the last subpixel that may be inside: x, y, x, y.
// Uniforms: bits; size of points; first, the centre of the first pixel or 0 with several samples; border, the viewport that
// cuts points (x, y, then the far corner) in subpixels.
// FIGURE: 0 triangle, 1 line, 2 line as multisampling draws it, 3 point. LEFT, BOTTOM: the tie rule. HALVES_EVEN: 1 rounds
// lines and points halfway between two subpixels to the even one, as triangles always are, 0 away from `first`. EXACT_ENDS as
// in lib/diamond.glsl. DROPS_LINES: 1 where rectangles of lines are left out whose box holds no corner of a pixel. OWN_SIZE,
// BORDER.
#require FIGURE
#require LEFT
#require BOTTOM
#default HALVES_EVEN 1
#default DROPS_LINES 0
#default OWN_SIZE 0
#default BORDER 0
#include "lib/primitives.glsl"
#include "lib/wide.glsl"
#if FIGURE == 1
#include "lib/diamond.glsl"
#endif

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
uniform float first;
uniform ivec4 border;

#define SIDES (FIGURE == 0 ? 3 : 4)

ivec2 ring[4];
bool empty;

// A position of a line or a point on the grid.
ivec2 placed(vec2 window, float from) {
#if HALVES_EVEN
  return snapped(window, bits);
#else
  vec2 way = (window - from) * float(1 << bits);
  return ivec2(sign(way) * floor(abs(way) + 0.5)) + int(from * float(1 << bits));
#endif
}

#if FIGURE == 2
// A rectangle of width 1 around the line (OpenGL 4.6, section 14.5.4).
void rectangle(vec2 a, vec2 b) {
  vec2 d = a - b;
  float square = d.x * d.x + d.y * d.y;
  float factor = square > 0.0 ? 0.5 / sqrt(square) : 0.0;
  ivec2 aside = placed(vec2(-d.y * factor, d.x * factor), 0.0);
  ivec2 p = placed(a, first), q = placed(b, first);
  ring = ivec2[4](p - aside, q - aside, q + aside, p + aside);
  empty = square == 0.0;
#if DROPS_LINES
  ivec2 low = min(min(ring[0], ring[1]), min(ring[2], ring[3])), high = max(max(ring[0], ring[1]), max(ring[2], ring[3]));
  ivec2 up = ivec2((1 << bits) - 1) + ivec2(0, 1 - BOTTOM);  // a corner on the box's border counts by the tie rule
  empty = empty || any(greaterThanEqual((low + up) >> bits, (high + up) >> bits));
#endif
}
#elif FIGURE == 1
// A parallelogram, one pixel across, between the ends that the diamond rule gives; nothing where they have passed each other.
void parallelogram(vec2 a, vec2 b) {
  Line line = line_between(a, b);
  int half_pixel = 1 << (bits - 1);
  ivec2 aside = line.steep ? ivec2(half_pixel, 0) : ivec2(0, half_pixel);
  ivec2 p = placed(line.start, first), q = placed(line.end, first);
  ring = ivec2[4](p - aside, q - aside, q + aside, p + aside);
  int way = line.steep ? p.y - q.y : q.x - p.x;
  empty = a == b || (line.forward ? way < 0 : way > 0);
}
#elif FIGURE == 3
// A square around the point (OpenGL 4.6, section 14.4.1).
void square(vec2 at, float side) {
  int sides = max(int(roundEven(side * float(1 << bits))), 1);
  ivec2 low = placed(at, first) - sides / 2;
  ivec2 high = low + sides;
#if BORDER
  low = clamp(low, border.xy, border.zw);
  high = clamp(high, border.xy, border.zw);
#endif
  ring = ivec2[4](low, ivec2(high.x, low.y), high, ivec2(low.x, high.y));
  empty = false;
}
#endif

void point(ivec2 p) {
  int row = p.y * o_layout.x + p.x;
  ivec4 v = texel(primitives, primitives_layout, row, 0);
  vec2 a = texel(window, window_layout, v.x, 0).xy, b = texel(window, window_layout, v.y, 0).xy;
#if FIGURE == 0
  ring = ivec2[4](snapped(a, bits), snapped(b, bits), snapped(texel(window, window_layout, v.z, 0).xy, bits), ivec2(0));
  empty = false;
#elif FIGURE == 1
  parallelogram(a, b);
#elif FIGURE == 2
  rectangle(a, b);
#elif OWN_SIZE
  square(a, texel(sizes, sizes_layout, v.x, 0).x);
#else
  square(a, size);
#endif
  Wide area = cross_product(ring[1] - ring[0], ring[2] - ring[0]);
#if FIGURE != 0
  area = add(area, cross_product(ring[2] - ring[0], ring[3] - ring[0]));
#endif
  if (is_negative(area)) {
    ivec2 first = ring[0];
    ring[0] = ring[SIDES - 1];
    ring[SIDES - 1] = first;
#if FIGURE != 0
    first = ring[1];
    ring[1] = ring[2];
    ring[2] = first;
#endif
  }
  // A triangle's fourth edge has everything inside. (GLSL ES does not index outputs by variables.)
  ivec4 c_low = ivec4(0), c_high = ivec4(0), dx = ivec4(0), dy = ivec4(0);
  ivec2 low = ring[0], high = ring[0];
  for (int i = 0; i < SIDES; ++i) {
    ivec2 at = ring[i], d = ring[i + 1 < SIDES ? i + 1 : 0] - at;
    bool owns = d.y == 0 ? (d.x > 0) == (BOTTOM == 1) : (d.y < 0) == (LEFT == 1);
    Wide c = negative(cross_product(d, at));
    if (!owns) c = subtract(c, wide(1));
    if (empty) c = wide(-1);
    c_low[i] = int(c.low);
    c_high[i] = c.high;
    dx[i] = empty ? 0 : d.x;
    dy[i] = empty ? 0 : d.y;
    low = min(low, at);
    high = max(high, at);
  }
  o0 = c_low;
  o1 = c_high;
  o2 = dx;
  o3 = dy;
  o4 = ivec4(low, high);
}
