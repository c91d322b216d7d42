// Reduces whole runs of texels to single elements.
//
// Input: x; element e of the output combines its texels [e * run, (e + 1) * run), all lanes that hold elements.
// Output: o0; PACKED 1: four elements to a texel along the output's last axis; 0: one element a row, in the first lane.
// COMBINE(p, q), ACC, ACC4, MASKED, IDENTITY: as in reduce_rows.glsl.
// Uniforms: o_layout, x_layout, run.
#include "lib/numeric.glsl"

#require ACC  scalar type of the arithmetic
#require ACC4  its texel type
#require COMBINE  (p, q): combines two scalars
#default MASKED 0
#default IDENTITY 0
#default PACKED 1

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int run;

ACC4 load(ivec2 p, int t) {
  ACC4 v = ACC4(fetch(x, p));
#if MASKED
  bvec4 kept = lanes(x_layout, modulo(t, x_layout.y));
#unroll lane 0 4
  if (!kept[$lane]) v[$lane] = IDENTITY;
#endunroll
#endif
  return v;
}

ACC element(int e) {
  int at = e * run;
  ivec2 q = address(x_layout, at);
  ACC4 acc = load(q, at);
  for (int r = 1; r < run; r++) {
    at++;
    q.x++;
    if (q.x >= x_layout.x) q = ivec2(0, q.y + 1);
    ACC4 v = load(q, at);
#unroll lane 0 4
    acc[$lane] = COMBINE(acc[$lane], v[$lane]);
#endunroll
  }
  ACC low = COMBINE(acc.x, acc.y), high = COMBINE(acc.z, acc.w);
  return COMBINE(low, high);
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
#if PACKED
  int column = modulo(t, o_layout.y);
  int e = (quotient(t, o_layout.y)) * o_layout.w + 4 * column;
  bvec4 kept = lanes(o_layout, column);
  o0 = o0_TEXEL(0);
#unroll lane 0 4
  if (kept[$lane]) o0[$lane] = o0_SCALAR(element(e + $lane));
#endunroll
#else
  o0 = o0_TEXEL(0);
  o0.x = o0_SCALAR(element(t));
#endif
}
