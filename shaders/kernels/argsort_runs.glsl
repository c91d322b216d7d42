// Sorting, the first step: keys that order as the elements do, and runs of four of them sorted.
//
// Input: x (rows, n). Outputs, int32, (rows, n): o0 keys, o1 the elements' places in their rows. Integers are their own keys;
// of floats -0 equals 0 and NaN is the largest. DESCENDING: 1 turns the order round.
#require DESCENDING
#include "lib/bits.glsl"

uniform x_SAMPLER x;
uniform ivec4 x_layout;

int key(int v) { return v; }
int key(float v) {
  if (is_nan(v)) return 0x7fffffff;
  int bits = floatBitsToInt(v);
  return v == 0.0 ? 0 : bits < 0 ? bits ^ 0x7fffffff : bits;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  x_TEXEL v = texel(x, x_layout, row, column);
  int count = clamp(x_layout.w - 4 * column, 0, 4);
  int keys[4] = int[4](key(v.x), key(v.y), key(v.z), key(v.w));
  int places[4] = int[4](4 * column, 4 * column + 1, 4 * column + 2, 4 * column + 3);
#if DESCENDING
  for (int i = 0; i < 4; ++i) keys[i] = ~keys[i];
#endif
  for (int i = 1; i < count; ++i) {
    for (int j = i; j > 0 && keys[j] < keys[j - 1]; --j) {
      int held = keys[j];
      keys[j] = keys[j - 1];
      keys[j - 1] = held;
      held = places[j];
      places[j] = places[j - 1];
      places[j - 1] = held;
    }
  }
  bvec4 kept = lanes(o_layout, column);
  o0 = keep(ivec4(keys[0], keys[1], keys[2], keys[3]), kept);
  o1 = keep(ivec4(places[0], places[1], places[2], places[3]), kept);
}
