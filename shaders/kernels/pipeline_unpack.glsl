// Vertex outputs as transform feedback wrote them, one after another, into a table of one kind of them.
//
// Input: raw, int32, one axis: the words of every vertex in turn. Output: o0 (vertices, 4 * SLOTS), the words' bits as
// o0's dtype; components that a slot lacks are 0. Uniform: words of a vertex. FIRSTS, COUNTS: of each slot, its first
// word and its components.
#require SLOTS
#require FIRSTS
#require COUNTS
#include "lib/primitives.glsl"

uniform raw_SAMPLER raw;
uniform ivec4 raw_layout;
uniform int words;

const int firsts[SLOTS] = int[SLOTS](FIRSTS);
const int counts[SLOTS] = int[SLOTS](COUNTS);

#if INTEGERS
#define BITS(word) (word)
#else
#define BITS(word) intBitsToFloat(word)
#endif

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int vertex = t / SLOTS, slot = t % SLOTS;
  int at = vertex * words + firsts[slot];
  o0 = o0_TEXEL(0);
#unroll lane 0 4
  if ($lane < counts[slot]) o0[$lane] = BITS(element(raw, raw_layout, at + $lane));
#endunroll
}
