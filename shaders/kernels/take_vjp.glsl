// The gradient of take: adds up the slices of g that were picked from each index.
//
// Inputs: g, (outer, count, inner) or with LAST 1 (rows, count); index. Output: o0, (outer, side, inner) or (rows, side).
// Uniforms: o_layout, g_layout, index_layout, side, count, inner.
#require LAST

uniform g_SAMPLER g;
uniform ivec4 g_layout;
uniform index_SAMPLER index;
uniform ivec4 index_layout;
uniform int side, count, inner;

int wanted(int i) {
  int r = i / index_layout.w, c = i % index_layout.w;
  int found = texel(index, index_layout, r, c / 4)[c % 4];
  return found < 0 ? found + side : found;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, o_layout.y), row = quotient(t, o_layout.y);
  o0 = o0_TEXEL(0);
#if LAST
  for (int k = 0; k < count; k++) {
    int i = wanted(k);
    o0_SCALAR v = o0_SCALAR(texel(g, g_layout, row, k / 4)[k % 4]);
#unroll lane 0 4
    if (i == 4 * column + $lane) o0[$lane] += v;
#endunroll
  }
#else
  int here = (row / inner) % side, outer = row / (inner * side);
  for (int k = 0; k < count; k++)
    if (wanted(k) == here) o0 += o0_TEXEL(texel(g, g_layout, (outer * count + k) * inner + row % inner, column));
#endif
}
