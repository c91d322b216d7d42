// One row of x as a softmax sees it: the largest element and the sum of the exponentials.
//
// A kernel declares `uniform x_SAMPLER x; uniform ivec4 x_layout;` first.
// Options: MASKED  1 where the last axis is no multiple of four: pad lanes are left out.
#include "lib/numeric.glsl"
#default MASKED 0

// A row's largest element, what its elements are shifted by, and the sum of their exponentials so shifted.
struct Row {
  float peak, shift, sum;
};

// Texel `column` of a row, with -infinity (whose exponential is 0) in pad lanes.
vec4 exponents(int row, int column) {
  vec4 v = vec4(texel(x, x_layout, row, column));
#if MASKED
  if (column == x_layout.y - 1) {
    bvec4 kept = lanes(x_layout, column);
#unroll lane 0 4
    if (!kept[$lane]) v[$lane] = NEGATIVE_INFINITY;
#endunroll
  }
#endif
  return v;
}

// The shift by an infinite peak is left out, so that infinities meet as they do in exp() and log() themselves.
Row row_of(int row) {
  Row r;
  vec4 peak = exponents(row, 0);
  for (int c = 1; c < x_layout.y; c++) {
    vec4 v = exponents(row, c);
#unroll lane 0 4
    peak[$lane] = maximum(peak[$lane], v[$lane]);
#endunroll
  }
  r.peak = maximum(maximum(peak.x, peak.y), maximum(peak.z, peak.w));
  r.shift = is_inf(r.peak) ? 0.0 : r.peak;
  vec4 sum = vec4(0.0);
  for (int c = 0; c < x_layout.y; c++) {
    vec4 v = exponents(row, c);
#unroll lane 0 4
    sum[$lane] += exp_(v[$lane] - r.shift);
#endunroll
  }
  r.sum = (sum.x + sum.y) + (sum.z + sum.w);
  return r;
}
