// Picks slices along one axis by index.
//
// Inputs: x seen as (outer, side, inner) with `inner` whole rows, or with LAST 1 as (rows, side); index, int32.
// Output: o0, (outer, count, inner) or (rows, count). A negative index counts from the end; one out of range gives
// NaN (0 for int32). Uniforms: o_layout, x_layout, index_layout, side, count, inner.
#require LAST

uniform x_SAMPLER x;
uniform ivec4 x_layout;
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
  bvec4 kept = lanes(o_layout, column);
  o0_TEXEL missing = o0_TEXEL(MISSING);
#if LAST
#unroll lane 0 4
  {
    int j = 4 * column + $lane;
    int i = wanted(min(j, count - 1));
    o0[$lane] = i < 0 || i >= side ? missing[$lane] : o0_SCALAR(texel(x, x_layout, row, i / 4)[i % 4]);
  }
#endunroll
#else
  int i = wanted((row / inner) % count);
  o0 = i < 0 || i >= side ? missing
    : o0_TEXEL(texel(x, x_layout, (row / (inner * count) * side + i) * inner + row % inner, column));
#endif
  o0 = keep(o0, kept);
}
