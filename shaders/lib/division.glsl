// Division rounded down and its remainder, as Python and NumPy; integers stay integers.
#include "lib/bits.glsl"

// -|x|, which unlike |x| is in range for every int.
int negative_abs(int x) { return x > 0 ? -x : x; }

int floor_divide(int x, int y) {
  if (y == 0) return 0;
  if (y == -1) return -x;  // -2^31 / -1 is out of range, which some processors answer with a trap
  int q = x / y;
  int r = x - q * y;  // not x % y: GLSL leaves it undefined for negative operands, and drivers do differ
  if (negative_abs(r) <= negative_abs(y)) {  // a driver that divides through floats may be off by one
    q += (r < 0) == (y < 0) ? 1 : -1;
    r = x - q * y;
  }
  return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
}
int remainder(int x, int y) { return y == 0 ? 0 : x - floor_divide(x, y) * y; }

// A float's mantissa as a whole number: |x| = mantissa * 2^(exponent - 150).
uint mantissa(float x, out int exponent) {
  uint bits = floatBitsToUint(x) & 0x7fffffffu;
  exponent = max(int(bits >> 23), 1);
  return bits < 0x00800000u ? bits : (bits & 0x007fffffu) | 0x00800000u;
}

// x - y * trunc(x / y), exactly: long division of the mantissas, eight bits at a time. For finite x and y != 0.
float truncated_remainder(float x, float y) {
  int ex, ey;
  uint mx = mantissa(x, ex), my = mantissa(y, ey);
  if (ex < ey) return x;
  mx %= my;
  for (int left = ex - ey; left > 0; left -= 8) mx = (mx << min(left, 8)) % my;
  float r = scale(float(mx), ey - 150);
  return floatBitsToInt(x) < 0 ? -r : r;
}

float remainder(float x, float y) {
  if (is_nan(x) || is_nan(y) || is_inf(x) || y == 0.0) return NOT_A_NUMBER;
  float r = is_inf(y) ? x : truncated_remainder(x, y);
  if (r == 0.0) return y < 0.0 ? -0.0 : 0.0;
  return (r < 0.0) != (y < 0.0) ? r + y : r;
}

float floor_divide(float x, float y) {
  if (y == 0.0 || is_nan(x) || is_nan(y) || is_inf(x)) return y == 0.0 ? x / y : NOT_A_NUMBER;
  float r = is_inf(y) ? x : truncated_remainder(x, y);
  float q = is_inf(y) ? 0.0 : (x - r) / y;
  if (r != 0.0 && (r < 0.0) != (y < 0.0)) q -= 1.0;
  return floor(q + 0.5);
}
