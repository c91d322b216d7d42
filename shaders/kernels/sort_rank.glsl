// Each key's rank among those of its run of RUN texels: how many are less, or equal and before it.
//
// Input: keys. Output: o0, int32, laid out as keys. Uniforms: o_layout, keys_layout, columns, shift.
#include "lib/sorting.glsl"
#require RUN

uniform keys_SAMPLER keys;
uniform ivec4 keys_layout;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, columns), first = column - column % RUN, last = min(first + RUN, columns);
  int base = t - column;
  ivec4 own = fetch(keys, place(keys_layout, t)), rank = ivec4(0);
  for (int c = first; c < column; c++) {
    ivec4 v = fetch(keys, place(keys_layout, base + c));
#unroll lane 0 4
    rank += ivec4(lessThanEqual(ivec4(v[$lane]), own));
#endunroll
  }
  for (int c = column + 1; c < last; c++) {
    ivec4 v = fetch(keys, place(keys_layout, base + c));
#unroll lane 0 4
    rank += ivec4(lessThan(ivec4(v[$lane]), own));
#endunroll
  }
  rank += ivec4(0, lessThanEqual(own.xxx, own.yzw));
  rank += ivec4(lessThan(own.yyy, own.xzw).x, 0, lessThanEqual(own.yy, own.zw));
  rank += ivec4(lessThan(own.zz, own.xy), 0, own.z <= own.w);
  rank += ivec4(lessThan(own.www, own.xyz), 0);
  o0 = rank;
}
