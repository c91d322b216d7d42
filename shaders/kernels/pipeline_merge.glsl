// Per-fragment operations: scissor, stencil, depth, blending and masks, each sample's fragments in drawing order.
//
// Inputs: starts, int32, one axis: the first pair of each tile; pairs (n, 4), int32: first quad, front facing, primitive;
// coverage (pairs, 4 * TEXELS); alive, packed like the fragments: 1 where not discarded, depth;
// cN, the shaded colours, packed; primitives (n, 12) for the slope of depth; with ONTO 1 also dN and ds, what the
// targets held before (ds: depth, stencil and both counts), else the clear values. With SAMPLES 4 the outputs have four pictures, one above the other.
// With EARLY 1 the fragments that fail the depth test were not shaded: the colours are packed by `slots`, the place of
// each quad among those that were, and depths come from coord, packed like all fragments; alive is not read.
// Outputs: o0 ... colours, then one of (depth, stencil, fragments, fragments that passed).
//
// Defines per target N: FORMAT_N (0 float, 1 8-bit, 2 sRGB 8-bit, 3 integer), BLEND_N, and with it FACTORS_N (source
// and destination for colour, then for alpha) and EQUATIONS_N, in the order of state.py. KEEP_N: a vec4 of the write
// mask. Front and back stencil: FRONT_n and BACK_n, ivec4 lists (compare, fail, depth fail, pass).
#require TARGETS
#require SAMPLES
#require TEXELS
#default ONTO 0
#default STENCIL 0
#default DEPTH_TEST (-1)
#default DEPTH_WRITE 1
#default SHADER_DEPTH 0
#default SCISSOR 0
#default EARLY 0
#include "lib/primitives.glsl"
#include "lib/fragments.glsl"
#include "lib/blend.glsl"
#include "lib/compare.glsl"

uniform starts_SAMPLER starts;
uniform ivec4 starts_layout;
uniform pairs_SAMPLER pairs;
uniform ivec4 pairs_layout;
uniform coverage_SAMPLER coverage;
uniform ivec4 coverage_layout;
#if EARLY
uniform coord_SAMPLER coord;
uniform slots_SAMPLER slots;
uniform ivec4 slots_layout;
uniform int shaded_columns;
#else
uniform alive_SAMPLER alive;
#endif
uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
#unroll n 0 TARGETS
uniform c$(n)_SAMPLER c$n;
#if ONTO
uniform d$(n)_SAMPLER d$n;
#endif
uniform vec4 constant$n;
#endunroll
#if ONTO
uniform ds_SAMPLER ds;
#endif
uniform vec4 clear_color;
uniform float clear_depth;
uniform int clear_stencil;
uniform int height, across, columns;
uniform int first, most;  // pairs of each tile to leave out, and to take then
uniform vec2 places[4];  // of the samples, from the centre
uniform ivec4 scissor;
uniform ivec4 stencil_front, stencil_back;  // reference, read mask, write mask
uniform vec2 range;

int stencil_result(int operation, int stored, ivec4 face) {
  int v = stored;
  if (operation == 1) v = 0;
  if (operation == 2) v = face.x;
  if (operation == 3) v = min(stored + 1, 255);
  if (operation == 4) v = (stored + 1) & 255;
  if (operation == 5) v = max(stored - 1, 0);
  if (operation == 6) v = (stored - 1) & 255;
  if (operation == 7) v = ~stored & 255;
  return (stored & ~face.z) | (v & face.z);
}

void point(ivec2 p) {
  int plane = p.y / height;
  ivec2 pixel = ivec2(p.x, p.y - plane * height);
  int bit = coverage_bit(pixel.x & 7, pixel.y & 7);
  int quad = bit >> 2;
  bool upper = (pixel.y & 4) != 0;
  vec4 put;
#if ONTO
  vec4 held = fetch(ds, p);
  float depth = held.x;
  int stencil = int(held.y), tested = int(held.z), passed = int(held.w);
#unroll n 0 TARGETS
  o$(n)_TEXEL color$n = fetch(d$n, p);
#endunroll
#else
  float depth = clear_depth;
  int stencil = clear_stencil, tested = 0, passed = 0;
#unroll n 0 TARGETS
#if FORMAT_$n == 3
  o$(n)_TEXEL color$n = o$(n)_TEXEL(clear_color);
#else
  vec4 color$n = stored(FORMAT_$n, clear_color);
#endif
#endunroll
#endif
  int tile = (pixel.y / 8) * across + pixel.x / 8;
  ivec2 span = ivec2(element(starts, starts_layout, tile) + first, element(starts, starts_layout, tile + 1));
  span.y = min(span.y, span.x + most);
#if SCISSOR
  if (any(lessThan(pixel, scissor.xy)) || any(greaterThanEqual(pixel, scissor.xy + scissor.zw))) span.y = span.x;
#endif
  for (int k = span.x; k < span.y; ++k) {
    ivec4 words = texel(coverage, coverage_layout, k, 0);
#if SAMPLES > 1
    ivec4 more = texel(coverage, coverage_layout, k, 1);
    ivec2 own = plane == 0 ? words.xy : plane == 1 ? words.zw : plane == 2 ? more.xy : more.zw;
    ivec2 any_sample = words.xy | words.zw | more.xy | more.zw;
#else
    ivec2 own = words.xy;
    ivec2 any_sample = own;
#endif
    if ((((upper ? own.y : own.x) >> bit) & 1) == 0) continue;
    ivec4 pair = texel(pairs, pairs_layout, k, 0);
    int record = pair.x;
    record += upper ? quads_in(uint(any_sample.x)) + quads_below(uint(any_sample.y), quad) : quads_below(uint(any_sample.x), quad);
    ivec2 at = 2 * ivec2(record % columns, record / columns) + (pixel & 1);
#if EARLY
    vec4 lives = vec4(1.0, fetch(coord, at).z, 0.0, 0.0);
    int slot = element(slots, slots_layout, record);
    at = 2 * ivec2(slot % shaded_columns, slot / shaded_columns) + (pixel & 1);
#else
    vec4 lives = fetch(alive, at);
#endif
    if (lives.x == 0.0) continue;
    tested += 1;
    float z = lives.y;
#if SAMPLES > 1 && !SHADER_DEPTH
    vec4 slope = texel(primitives, primitives_layout, pair.z, 1);
    z = clamp(z + slope.z * places[plane].x + slope.w * places[plane].y, range.x, range.y);
#else
    z = clamp(z, range.x, range.y);
#endif
    bool deep = DEPTH_TEST < 0 || compares(DEPTH_TEST, z, depth);
#if STENCIL
    bool front = pair.y != 0;
    ivec4 face = front ? stencil_front : stencil_back;
    float reference = float(face.x & face.y), there = float(stencil & face.y);
    bool agrees = front ? compares(FRONT_0, reference, there) : compares(BACK_0, reference, there);
    if (!agrees) {
      stencil = front ? stencil_result(FRONT_1, stencil, face) : stencil_result(BACK_1, stencil, face);
      continue;
    }
    if (!deep) {
      stencil = front ? stencil_result(FRONT_2, stencil, face) : stencil_result(BACK_2, stencil, face);
      continue;
    }
    stencil = front ? stencil_result(FRONT_3, stencil, face) : stencil_result(BACK_3, stencil, face);
#endif
    if (!deep) continue;
#if DEPTH_WRITE
    if (DEPTH_TEST >= 0) depth = z;
#endif
    passed += 1;
#unroll n 0 TARGETS
#if FORMAT_$n == 3
    o$(n)_TEXEL new$n = fetch(c$n, at);
    color$n = o$(n)_TEXEL(greaterThan(KEEP_$n, vec4(0.5))) * new$n + o$(n)_TEXEL(lessThan(KEEP_$n, vec4(0.5))) * color$n;
#else
    put = fetch(c$n, at);
#if BLEND_$n
    put = blended(FORMAT_$n, put, color$n, constant$n, FACTORS_$n, EQUATIONS_$n);
#endif
    color$n = chosen(stored(FORMAT_$n, put), color$n, KEEP_$n);
#endif
#endunroll
  }
#unroll n 0 TARGETS
  o$n = color$n;
#endunroll
  o$(TARGETS) = vec4(depth, float(stencil), float(tested), float(passed));
}
