// Benchmark: multiply-adds held in registers, the most that any kernel could do.
// Output: o0. Uniforms: x, y (unknown to the compiler), steps. CHAINS independent vec4 accumulators, UNROLLED times a step.
#require CHAINS    independent accumulators
#require UNROLLED  multiply-adds of each in a step: with 1 it is the loop that is measured

uniform float x, y;
uniform int steps;

void point(ivec2 p) {
#unroll i 0 CHAINS
  vec4 s$i = vec4(float(p.x) + $i.0);
#endunroll
  for (int k = 0; k < steps; k++) {
#unroll n 0 UNROLLED
#unroll i 0 CHAINS
    s$i = s$i * x + y;
#endunroll
#endunroll
  }
  o0 = vec4(0.0);
#unroll i 0 CHAINS
  o0 += s$i;
#endunroll
}
