// Sums of exponentials over the middle axis of x, seen as (groups, length, inner, columns), in chunks of neighbouring
// steps. Each comes as a peak and a sum that stand for sum * exp(peak), so that nothing overflows.
//
// Input: x; with SUMS 1 also sums: x holds peaks, and the sums that belong to them are combined.
// Outputs: o0 peaks, o1 sums, seen as (groups, chunks, inner, columns); chunk s combines steps [s * chunk, (s + 1) * chunk).
// Uniforms: o_layout, x_layout; length_, inner, columns, chunk, chunks.
// Options: LANES   1 where the four lanes are combined too (the last axis); the result is in the first.
//          MASKED  1 where pad lanes of x's rows are to be left out (each step is then one texel of x).
#include "lib/numeric.glsl"

#default SUMS 0
#default LANES 0
#default MASKED 0

uniform x_SAMPLER x;
uniform ivec4 x_layout;
#if SUMS
uniform sums_SAMPLER sums;
uniform ivec4 sums_layout;
#endif
uniform int length_, inner, columns, chunk, chunks;

vec4 load(int t) {
  vec4 v = vec4(fetch(x, address(x_layout, t)));
#if MASKED
  bvec4 kept = lanes(x_layout, modulo(t, x_layout.y));
#unroll lane 0 4
  if (!kept[$lane]) v[$lane] = NEGATIVE_INFINITY;
#endunroll
#endif
  return v;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, columns), row = quotient(t, columns);
  int b = modulo(row, inner), s = modulo(quotient(row, inner), chunks), group = quotient(row, inner * chunks);
  int step_ = inner * columns;
  int first = ((group * length_ + s * chunk) * inner + b) * columns + column;
  int steps = min(chunk, length_ - s * chunk);
  vec4 peak = load(first);
  for (int r = 1; r < steps; r++) {
    vec4 v = load(first + r * step_);
#unroll lane 0 4
    peak[$lane] = maximum(peak[$lane], v[$lane]);
#endunroll
  }
#if LANES
  peak = vec4(maximum(maximum(peak.x, peak.y), maximum(peak.z, peak.w)));
#endif
  vec4 sum = vec4(0.0);
  for (int r = 0; r < steps; r++) {
    vec4 v = load(first + r * step_);
#if SUMS
    vec4 w = vec4(fetch(sums, address(sums_layout, first + r * step_)));
#else
    const vec4 w = vec4(1.0);
#endif
#unroll lane 0 4
    sum[$lane] += w[$lane] * exp_(v[$lane] - (is_inf(peak[$lane]) ? 0.0 : peak[$lane]));
#endunroll
  }
#if LANES
  sum = vec4((sum.x + sum.y) + (sum.z + sum.w));
#endif
  bvec4 kept = lanes(o_layout, modulo(t, o_layout.y));
  o0 = o0_TEXEL(keep(peak, kept));
  o1 = o1_TEXEL(keep(sum, kept));
}
