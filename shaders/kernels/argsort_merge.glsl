// Sorting, the further steps: merges neighbouring sorted runs, stably.
//
// Inputs, int32, (rows, n): keys and places, sorted in runs of `run` elements (a multiple of 4). Outputs the same, in runs
// twice as long. Every texel finds by bisection how many elements of its two runs come before it (the merge path of Green,
// McColl and Bader, 2012), and takes its four from there.

uniform keys_SAMPLER keys;
uniform ivec4 keys_layout;
uniform places_SAMPLER places;
uniform ivec4 places_layout;
uniform int run;

int key(int row, int i) { return texel(keys, keys_layout, row, i >> 2)[i & 3]; }
int place(int row, int i) { return texel(places, places_layout, row, i >> 2)[i & 3]; }

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  int n = keys_layout.w;
  int first = quotient(4 * column, 2 * run) * 2 * run;
  int second = min(first + run, n);
  int left = second - first, right = min(first + 2 * run, n) - second;
  // Of the elements before this texel, how many come from the left run: ties go to the left.
  int before = 4 * column - first;
  int low = max(before - right, 0), high = min(before, left);
  while (low < high) {
    int middle = (low + high) / 2;
    if (key(row, first + middle) <= key(row, second + before - 1 - middle)) low = middle + 1;
    else high = middle;
  }
  int i = low, j = before - low;
  o0 = ivec4(0);
  o1 = ivec4(0);
#unroll lane 0 4
  if (i < left || j < right) {
    int a = i < left ? key(row, first + i) : 0, b = j < right ? key(row, second + j) : 0;
    bool from_left = j >= right || (i < left && a <= b);
    o0[$lane] = from_left ? a : b;
    o1[$lane] = place(row, from_left ? first + i : second + j);
    i += from_left ? 1 : 0;
    j += from_left ? 0 : 1;
  }
#endunroll
}
