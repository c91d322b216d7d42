// Primitive assembly: the vertices of every primitive of every instance (OpenGL 4.6, section 10.1).
//
// Inputs, int32: stream, vertex numbers in drawing order; with RUNS 1 places (n, 4), what pipeline_assemble_count found
// at each of them, and owner and ends: the place where each primitive ends, and the sums of primitives up to each place.
// Output: o0 (primitives, 8), int32, as lib/primitives.glsl says. Uniforms: each, primitives of one instance; vertices of
// one instance. MODE as in pipeline_assemble_count; PROVOKING_LAST.
#require MODE
#require RUNS
#require PROVOKING_LAST
#include "lib/primitives.glsl"

uniform stream_SAMPLER stream;
uniform ivec4 stream_layout;
#if RUNS
uniform places_SAMPLER places;
uniform ivec4 places_layout;
uniform owner_SAMPLER owner;
uniform ivec4 owner_layout;
uniform ends_SAMPLER ends;
uniform ivec4 ends_layout;
#endif
uniform int each, vertices;

int vertex(int place) { return element(stream, stream_layout, place); }

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = t / 2;
  int instance = quotient(row, each), number = row - instance * each;
  if ((t & 1) == 1) {
    o0 = ivec4(number, 1, row, 1);
    return;
  }
  // The place where the primitive ends, the first of its run, and whether it closes a loop.
#if RUNS
  int at = element(owner, owner_layout, number);
  int first = texel(places, places_layout, at, 0).y;
  bool closes = MODE == 3 && number - begin(ends, ends_layout, at) == 1;
#else
  int first = 0;
  bool closes = MODE == 3 && number == each - 1;
#if MODE == 0
  int at = number;
#elif MODE == 1
  int at = 2 * number + 1;
#elif MODE == 2 || MODE == 3
  int at = closes ? number : number + 1;
#elif MODE == 4
  int at = 3 * number + 2;
#else
  int at = number + 2;
#endif
#endif
  ivec4 v;
#if MODE == 0
  v = ivec4(vertex(at));
#elif MODE <= 3
  v.xy = closes ? ivec2(vertex(at), vertex(first)) : ivec2(vertex(at - 1), vertex(at));
  v.z = v.y;
  v.w = PROVOKING_LAST == 1 ? v.y : v.x;
#else
  v.xyz = ivec3(vertex(MODE == 6 ? first : at - 2), vertex(at - 1), vertex(at));
  v.w = PROVOKING_LAST == 1 ? v.z : MODE == 6 ? v.y : v.x;
  // Every second triangle of a strip is turned, so that all face the same way.
  if (MODE == 5 && ((at - first) & 1) == 1) v.xy = v.yx;
#endif
  o0 = v + ivec4(instance * vertices);
}
