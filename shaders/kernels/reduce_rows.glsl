// Reduces the middle axis of a tensor seen as (groups, length, inner, columns), in chunks of neighbouring steps.
//
// Input: x. Output: o0, seen as (groups, chunks, inner, columns); chunk s combines steps [s * chunk, (s + 1) * chunk).
// COMBINE(p, q) combines two scalars; ACC is the scalar type that it works in, ACC4 its texel type.
// MASKED 1: pad lanes of x's rows hold IDENTITY instead of what they hold (each step is then one texel of x).
// Uniforms: o_layout, x_layout; length, inner, columns, chunk, chunks.
#include "lib/numeric.glsl"

#require ACC  scalar type of the arithmetic
#require ACC4  its texel type
#require COMBINE  (p, q): combines two scalars
#default MASKED 0
#default IDENTITY 0

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int length_, inner, columns, chunk, chunks;

ACC4 load(ivec2 p, int t) {
  ACC4 v = ACC4(fetch(x, p));
#if MASKED
  bvec4 kept = lanes(x_layout, modulo(t, x_layout.y));
#unroll lane 0 4
  if (!kept[$lane]) v[$lane] = IDENTITY;
#endunroll
#endif
  return v;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, columns), row = quotient(t, columns);
  int b = modulo(row, inner), s = modulo(quotient(row, inner), chunks), group = quotient(row, inner * chunks);
  int first = s * chunk, last = min(first + chunk, length_);
  int step_ = inner * columns;
  int at = ((group * length_ + first) * inner + b) * columns + column;
  ivec2 q = address(x_layout, at);
  ivec2 stride = address(x_layout, step_);
  ACC4 acc = load(q, at);
  for (int r = first + 1; r < last; r++) {
    at += step_;
    q += stride;
    if (q.x >= x_layout.x) q += ivec2(-x_layout.x, 1);
    ACC4 v = load(q, at);
#unroll lane 0 4
    acc[$lane] = COMBINE(acc[$lane], v[$lane]);
#endunroll
  }
  o0 = o0_TEXEL(acc);
}
