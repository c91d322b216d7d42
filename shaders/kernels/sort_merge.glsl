// Merges neighbouring sorted runs of `run` texels, keys with their indices.
//
// Four outputs of the merge start where a binary search finds how many of the outputs before them come from the left run
// (O. Green, R. McColl, D. Bader, "GPU Merge Path", 2012). Of equal keys the left run's come first.
// Inputs: keys, index. Outputs: o0, the keys, and o1, their indices; with LAST 1 only o0, the indices, as rows of o_layout.
// Uniforms: o_layout, keys_layout, index_layout, columns, shift, run (a power of two).
#include "lib/sorting.glsl"
#require LAST

uniform keys_SAMPLER keys;
uniform ivec4 keys_layout;
uniform index_SAMPLER index;
uniform ivec4 index_layout;
uniform int run;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = modulo(t, columns), first = column & ~(2 * run - 1);
  int middle = min(first + run, columns), end = min(middle + run, columns);
  int base = t - column + first, right_base = base + middle - first;
  int lefts = 4 * (middle - first), rights = 4 * (end - middle), before = 4 * (column - first);
  int low = max(0, before - rights), high = min(before, lefts);
  while (low < high) {
    int i = (low + high) >> 1;
    if (element(keys, keys_layout, base, i) <= element(keys, keys_layout, right_base, before - 1 - i)) low = i + 1;
    else high = i;
  }
  int i = low, j = before - low;
  int left = element(keys, keys_layout, base, min(i, lefts - 1));
  int right = rights > 0 ? element(keys, keys_layout, right_base, min(j, rights - 1)) : 0;
  ivec4 merged, source;
#unroll lane 0 4
  bool take$lane = i < lefts && (j >= rights || left <= right);
  merged[$lane] = take$lane ? left : right;
  source[$lane] = take$lane ? i : lefts + j;
  i += int(take$lane);
  j += int(!take$lane);
#if $lane < 3
  int next$lane = element(keys, keys_layout, base, take$lane ? min(i, lefts - 1) : lefts + min(j, rights - 1));
  left = take$lane ? next$lane : left;
  right = take$lane ? right : next$lane;
#endif
#endunroll
  ivec4 found;
#unroll lane 0 4
  found[$lane] = element(index, index_layout, base, source[$lane]);
#endunroll
#if LAST
  o0 = keep(found, lanes(o_layout, column));
#else
  o0 = merged;
  o1 = found;
#endif
}
