// Benchmark: texel fetches along a line, as a convolution's inner loop reads. Input: x. Output: o0.
// Uniforms: steps of 16 texels; lines (lines from one column of the output to the next, and from one row to the next).
#include "lib/cursor.glsl"

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int steps;
uniform ivec2 lines;

void point(ivec2 p) {
  o0 = vec4(0.0);
  STEP one = step_x(x, 1);
  for (int k = 0; k < steps; k++) {
    CURSOR first = cursor_at(x, ivec2(16 * k, p.x * lines.x + p.y * lines.y));
#unroll i 0 16
    o0 += read(x, MOVED_X(first, $i, one));
#endunroll
  }
}
