// Benchmark: texel fetches along a row, as a matrix product reads. Input: x. Output: o0. Uniforms: steps.

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int steps;

void point(ivec2 p) {
  o0 = vec4(0.0);
  for (int k = 0; k < steps; k++) {
#unroll i 0 4
    o0 += fetch(x, ivec2(4 * k + $i, p.y));
#endunroll
  }
}
