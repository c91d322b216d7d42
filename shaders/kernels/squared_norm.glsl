// Sums of squares of up to OPERANDS tensors, as many partial sums as the output has lanes: texel i of the output adds up
// texels i, i + count, i + 2 count, ... of each tensor, lane by lane.
//
// Inputs: x0, x1, ...; with CARRIED 1 carry, earlier partial sums in the output's shape. Output: o0.
// Uniforms: o_layout, xN_layout, xN_texels; count, texels of the output.
#require OPERANDS
#default CARRIED 0

#unroll n 0 OPERANDS
uniform x$(n)_SAMPLER x$n;
uniform ivec4 x$(n)_layout;
uniform int x$(n)_texels;
#endunroll
#if CARRIED
uniform carry_SAMPLER carry;
#endif
uniform int count;

void point(ivec2 p) {
  int i = p.y * o_layout.x + p.x;
#if CARRIED
  vec4 sum = fetch(carry, p);
#else
  vec4 sum = vec4(0.0);
#endif
#unroll n 0 OPERANDS
  for (int t = i; t < x$(n)_texels; t += count) {
    vec4 v = fetch(x$n, address(x$(n)_layout, t));
    sum += v * v;
  }
#endunroll
  o0 = sum;
}
