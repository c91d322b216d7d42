// The gradient of cross_entropy with respect to x: g * weight * (softmax(x) - t), t as there. NaN for a wrong label.
//
// Inputs: g, (N) with G_ROWS 1, else a scalar; x; labels; with ROWS_KNOWN 1 also peaks and sums.
// Output: o0, of x's shape. Uniforms: o_layout, g_layout, x_layout, labels_layout, weight, smoothing.
// Options: LOGITS, ROWS_KNOWN as in cross_entropy.glsl; G_ROWS.
#require G_ROWS  1 where g has an element a row
#default LOGITS 1
#default ROWS_KNOWN 0

uniform g_SAMPLER g;
uniform ivec4 g_layout;
uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform labels_SAMPLER labels;
uniform ivec4 labels_layout;
uniform float weight, smoothing;

#include "lib/row_softmax.glsl"
#include "lib/known_row.glsl"

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, o_layout.y), row = quotient(t, o_layout.y);
  int label = texel(labels, labels_layout, 0, row / 4)[row % 4];
#if G_ROWS
  float factor = weight * texel(g, g_layout, 0, row / 4)[row % 4];
#else
  float factor = weight * fetch(g, ivec2(0)).x;
#endif
  if (label < 0 || label >= x_layout.w) factor = NOT_A_NUMBER;
#if LOGITS
  Row r = ROW_OF(row);
  float sum = is_inf(r.peak) ? NOT_A_NUMBER : r.sum;
  vec4 v = vec4(texel(x, x_layout, row, column)), found;
#unroll lane 0 4
  found[$lane] = exp_(v[$lane] - r.shift) / sum - smoothing / float(x_layout.w);
#endunroll
#else
  vec4 found = vec4(0.0);
#endif
#unroll lane 0 4
  if (label == 4 * column + $lane) found[$lane] -= 1.0 - smoothing;
#endunroll
  o0 = o0_TEXEL(keep(factor * found, lanes(o_layout, column)));
}
