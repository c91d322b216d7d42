// The loss of each row of x, (N, C), at its label, times `weight`:
//   sum_j t_j (log(sum(exp(x))) - x_j), t = smoothing / C, and 1 - smoothing more at the label.
// A label outside 0 .. C - 1 gives NaN.
//
// Inputs: x; labels, (N), int32; with ROWS_KNOWN 1 also peaks and sums, (N, 1), of x's rows (see logsumexp.glsl).
// Output: o0, (N). Uniforms: o_layout, x_layout, labels_layout, weight, smoothing.
// Options: LOGITS      0 where x holds logarithms of probabilities already: the loss is -x at the label.
//          SMOOTHED    1 where smoothing is not 0 (with LOGITS only).
//          ROWS_KNOWN  1 for long rows, whose sums passes of their own compute.
#default LOGITS 1
#default SMOOTHED 0
#default ROWS_KNOWN 0

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform labels_SAMPLER labels;
uniform ivec4 labels_layout;
uniform float weight, smoothing;

#include "lib/row_softmax.glsl"
#include "lib/known_row.glsl"

float loss(int row, int label) {
  if (label < 0 || label >= x_layout.w) return NOT_A_NUMBER;
  float at_label = texel(x, x_layout, row, label / 4)[label % 4];
#if !LOGITS
  return -at_label;
#else
  Row r = ROW_OF(row);
  float log_sum = log_(r.sum);
  float found = log_sum - (at_label - r.shift);
#if SMOOTHED
  float total = 0.0;
  for (int c = 0; c < x_layout.y; c++) {
    vec4 v = keep(log_sum - (vec4(texel(x, x_layout, row, c)) - r.shift), lanes(x_layout, c));
    total += (v.x + v.y) + (v.z + v.w);
  }
  found = (1.0 - smoothing) * found + smoothing / float(x_layout.w) * total;
#endif
  return found;
#endif
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  ivec4 at = ivec4(fetch(labels, address(labels_layout, t)));
  // A loop that stays one: unrolled, the driver would compile four copies of all that loss() does.
  vec4 found = vec4(0.0);
  int rows = min(4, o_layout.w - 4 * t);
  for (int lane = 0; lane < rows; lane++) found[lane] = weight * loss(4 * t + lane, at[lane]);
  o0 = o0_TEXEL(found);
}
