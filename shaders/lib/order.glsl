// Numbers as integers in the same order, so that all devices compare them alike, denormals included: -0 equals 0, and NaN,
// whatever its sign, comes after all others.
#include "lib/bits.glsl"

int order(int x) { return x; }
int order(float x) {
  int bits = floatBitsToInt(x), size = bits & 0x7fffffff;
  return is_nan(x) ? 0x7fffffff : bits < 0 ? -size : size;
}
