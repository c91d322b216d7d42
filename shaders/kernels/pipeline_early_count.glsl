// Early depth test: the quads with a fragment that will pass.
//
// Input: early, packed like the fragments: 1 where it passes. Output: o0 (quads, 4), int32: 1 or 0, then 0.
// Uniform: columns of quads.
uniform early_SAMPLER early;
uniform int columns;

void point(ivec2 p) {
  int q = p.y * o_layout.x + p.x;
  int line = quotient(q, columns);
  ivec2 at = 2 * ivec2(q - line * columns, line);
  float any = 0.0;
#unroll i 0 4
  any = max(any, fetch(early, at + ivec2($i & 1, $i >> 1)).x);
#endunroll
  o0 = ivec4(any > 0.0 ? 1 : 0, 0, 0, 0);
}
