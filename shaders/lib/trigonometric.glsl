// sin and cos of any finite float, absolute error below 1e-7: drivers' own lose every digit for large arguments.
#include "lib/bits.glsl"

// The first 224 bits of 2 / pi after a word of zeros.
const uint TWO_OVER_PI[8] = uint[8](
  0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);

// The upper word of a * b, b < 2^24; umulExtended is not in GLSL 3.30.
uint upper_product(uint a, uint b) {
  uint a_high = a >> 16, a_low = a & 0xffffu, b_high = b >> 16, b_low = b & 0xffffu;
  uint middle = a_high * b_low + ((a_low * b_low) >> 16);
  uint carry = (middle & 0xffffu) + a_low * b_high;
  return a_high * b_high + (middle >> 16) + (carry >> 16);
}

// |x| less the nearest multiple of pi / 2, and which multiple that is (modulo 4).
//
// M. H. Payne and R. N. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983:
// |x| = m * 2^e with a whole m, so that of 2 / pi only the 96 bits from that of weight 2^(1 - e) on matter modulo 4.
float reduce_angle(float x, out int quarter) {
  uint bits = floatBitsToUint(x) & 0x7fffffffu;
  quarter = 0;
  if (bits < 0x3f490fdbu) return uintBitsToFloat(bits);  // below pi / 4
  uint m = (bits & 0x007fffffu) | 0x00800000u;
  int at = int(bits >> 23) - 120, word = at >> 5, shift = at & 31;
  uint w0 = TWO_OVER_PI[word], w1 = TWO_OVER_PI[word + 1], w2 = TWO_OVER_PI[word + 2], w3 = TWO_OVER_PI[word + 3];
  if (shift > 0) {
    w0 = w0 << shift | w1 >> (32 - shift);
    w1 = w1 << shift | w2 >> (32 - shift);
    w2 = w2 << shift | w3 >> (32 - shift);
  }
  uint high = m * w0 + upper_product(w1, m), low = m * w1, more = upper_product(w2, m);
  low += more;
  if (low < more) high++;
  // Two bits of quarters before 62 of a fraction, which is made signed: a half or more belongs to the next quarter.
  quarter = int(high >> 30);
  high = high << 2 | low >> 30;
  low <<= 2;
  bool over = high >= 0x80000000u;
  if (over) {
    quarter++;
    low = ~low;
    high = ~high;
  }
  float fraction = (float(high) + float(low) * 2.3283064365386963e-10) * 2.3283064365386963e-10;
  return (over ? -fraction : fraction) * 1.57079633;
}

// sin(r) and cos(r) for |r| <= pi / 4, by their series to r^9 and r^10.
float short_sin(float r) {
  float s = r * r;
  return r + r * s * (-0.166666667 + s * (0.00833333333 + s * (-0.000198412698 + s * 2.75573192e-6)));
}
float short_cos(float r) {
  float s = r * r;
  return 1.0 - (0.5 * s - s * s * (0.0416666667 + s * (-0.00138888889 + s * (2.48015873e-5 - s * 2.75573192e-7))));
}

float sin_(float x) {
  if (is_nan(x) || is_inf(x)) return NOT_A_NUMBER;
  if (x == 0.0) return x;
  int quarter;
  float r = reduce_angle(x, quarter);
  float found = (quarter & 1) == 0 ? short_sin(r) : short_cos(r);
  return ((quarter & 2) != 0) != (x < 0.0) ? -found : found;
}

float cos_(float x) {
  if (is_nan(x) || is_inf(x)) return NOT_A_NUMBER;
  int quarter;
  float r = reduce_angle(x, quarter);
  float found = (quarter & 1) == 0 ? short_cos(r) : short_sin(r);
  return ((quarter + 1) & 2) != 0 ? -found : found;
}
