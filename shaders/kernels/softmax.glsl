// Softmax along the last axis of x, or its logarithm; every texel goes over its whole row, so rows should be short.
//
// Input: x. Output: o0, of x's shape. Uniforms: o_layout, x_layout.
// Options: LOG  1 for the logarithm.
#default LOG 0

uniform x_SAMPLER x;
uniform ivec4 x_layout;

#include "lib/row_softmax.glsl"

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, o_layout.y);
  Row r = row_of(quotient(t, o_layout.y));
  vec4 v = texel(x, x_layout, quotient(t, o_layout.y), column);
#if LOG
  v = v - r.shift - log_(r.sum);
#else
  float sum = is_inf(r.peak) ? NOT_A_NUMBER : r.sum;
#unroll lane 0 4
  v[$lane] = exp_(v[$lane] - r.shift) / sum;
#endunroll
#endif
  o0 = o0_TEXEL(keep(v, lanes(o_layout, column)));
}
