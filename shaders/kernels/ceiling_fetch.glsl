// Benchmark: texel fetches along a line, as a matrix product reads. Input: x. Output: o0.
// Uniforms: steps of 16 texels; lines (lines from one column of the output to the next, and from one row to the next).

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int steps;
uniform ivec2 lines;

void point(ivec2 p) {
  o0 = vec4(0.0);
  int line = p.x * lines.x + p.y * lines.y;
  for (int k = 0; k < steps; k++) {
#unroll i 0 16
    o0 += fetch(x, ivec2(16 * k + $i, line));
#endunroll
  }
}
