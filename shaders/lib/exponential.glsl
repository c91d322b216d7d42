// exp, log and what follows from them, to a few units in the last place over the whole range of float: drivers
// compute exp(), log() and pow() with errors of up to thousands of units (log near 1) or flush early (exp below -87).
//
// All take the argument apart by its bits, reduce it to a short interval and use a series there, as W. J. Cody and
// W. Waite, "Software Manual for the Elementary Functions", 1980, do. Where a difference has to be exact, a float is
// cut to 12 bits: a product of two such is exact without fused operations.
#include "lib/bits.glsl"

// x = m * 2^k with m in [sqrt(1/2), sqrt(2)), for finite x > 0. Denormals are read as integers, since a device may take
// them for zero.
float split(float x, out int k) {
  int bits = floatBitsToInt(x);
  k = 0;
  if (bits < 0x00800000) {
    bits = floatBitsToInt(float(bits));
    k = -149;
  }
  bits += 0x3f800000 - 0x3f3504f3;
  k += (bits >> 23) - 127;
  return intBitsToFloat((bits & 0x007fffff) + 0x3f3504f3);
}

// exp(r) - 1 for |r| <= log(2) / 2: its series to r^8, error below 1e-9 of the value.
float exp_minus_1(float r) {
  float p = 0.5 + r * (0.166666667 + r * (0.0416666667 + r * (0.00833333333 + r * (0.00138888889 + r * (0.000198412698 + r * 2.48015873e-5)))));
  return r + r * r * p;
}

// The multiple n of log(2) nearest to x, and x - n log(2), log(2) in two parts of which n times the first is exact.
float reduce_exp(float x, out int n) {
  float whole = floor(x * 1.44269504 + 0.5);
  n = int(whole);
  return (x - whole * 0.693359375) - whole * -2.12194440e-4;
}

float exp_(float x) {
  if (is_nan(x)) return x;
  int n;
  float r = reduce_exp(clamp(x, -104.0, 89.0), n);  // beyond: 0 and infinity
  return scale(1.0 + exp_minus_1(r), n);
}

// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1): exact near 0.
float expm1_(float x) {
  if (is_nan(x) || x == 0.0) return x;
  if (abs(x) > 30.0) return exp_(x) - 1.0;
  int n;
  float r = reduce_exp(x, n);
  float power_of_2 = scale(1.0, n);
  return power_of_2 * exp_minus_1(r) + (power_of_2 - 1.0);
}

// log(m 2^k) by log(m) = 2 atanh(s), s = (m - 1) / (m + 1), with the part that m - 1 holds exactly kept apart.
float log_(float x) {
  if (is_nan(x)) return x;
  int bits = floatBitsToInt(x);
  if ((bits & 0x7fffffff) == 0) return NEGATIVE_INFINITY;
  if (bits < 0) return NOT_A_NUMBER;
  if (bits == 0x7f800000) return x;
  int k;
  float f = split(x, k) - 1.0;
  float s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
  float series = z * (0.666666667 + z * (0.4 + z * (0.285714286 + z * 0.222222222)));
  return s * (half_square + series) + float(k) * -2.12194440e-4 - half_square + f + float(k) * 0.693359375;
}

// log(1 + x): the series near 0; else log(h) + log(1 + rest / h) with h the first 12 bits of 1 + x. W. Kahan's shorter
// correction by (1 + x) - 1 does not survive compilers, which take that for x.
float log1p_(float x) {
  if (abs(x) < 0.01) return x - x * x * (0.5 - x * (0.333333333 - x * (0.25 - x * 0.2)));
  float u = 1.0 + x;
  if (u <= 0.0 || is_nan(u) || is_inf(u)) return log_(u);
  float h = cut(u), t = (x - (h - 1.0)) / h;
  return log_(h) + (t - t * t * (0.5 - t * 0.333333333));
}

// tanh |x| = t / (t + 2), t = exp(2 |x|) - 1.
float tanh_(float x) {
  if (is_nan(x) || x == 0.0) return x;
  float t = expm1_(2.0 * min(abs(x), 10.0));
  float r = t / (t + 2.0);
  return x < 0.0 ? -r : r;
}

float sigmoid(float x) {
  float e = exp_(-abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

// log(1 + exp(x)) without overflow.
float softplus(float x) { return (x > 0.0 ? x : is_nan(x) ? x : 0.0) + log1p_(exp_(-abs(x))); }

// Error function. |x| < 1: its Maclaurin series to x^19; beyond: 1 - erfc by the Chebyshev fit of Numerical Recipes
// (Press et al., section 6.2), fractional error below 1.2e-7.
float erf(float x) {
  float a = abs(x);
  if (is_nan(x)) return x;
  if (a < 1.0) {
    float s = x * x;
    return x * (1.1283791671 + s * (-0.3761263890 + s * (0.1128379167 + s * (-0.0268661706 + s * (0.0052239776
      + s * (-0.0008548327 + s * (0.0001205533 + s * (-0.0000149257 + s * (0.0000016462 - s * 0.0000001637)))))))));
  }
  float t = 1.0 / (1.0 + 0.5 * a);
  float p = -1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * (0.27886807
    + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
  float r = 1.0 - t * exp_(p - a * a);
  return x < 0.0 ? -r : r;
}

// |x|^y for finite |x| > 0: 2^(y log2 |x|) with the logarithm in two floats, of which the first has 12 bits.
float power_of_finite(float x, float y) {
  int k;
  float m = split(x, k);
  float f = m - 1.0, sum_ = m + 1.0, s = f / sum_, z = s * s;
  float s_high = cut(s), sum_high = cut(sum_), sum_low = m - (sum_high - 1.0);
  float s_low = ((f - s_high * sum_high) - s_high * sum_low) / sum_;
  // log(m) = 2 s + series.
  float series = s * z * (0.666666667 + z * (0.4 + z * (0.285714286 + z * (0.222222222 + z * 0.181818182))));
  float rest = 2.0 * s_low + series;
  float high = cut(2.0 * s_high + rest), low = rest - (high - 2.0 * s_high);
  // Times 1 / log(2), in two parts too, plus k.
  float log_high = high * 1.44238281, log_low = high * 0.000312226917 + low * 1.44269504;
  float whole = float(k);
  float first = cut(log_high + log_low + whole), second = log_low - ((first - whole) - log_high);
  float y_high = cut(y);
  float product = y_high * first, correction = (y - y_high) * first + y * second;
  float exponent = product + correction;
  if (!(abs(exponent) < 160.0)) return (y > 0.0) == (x > 1.0) ? POSITIVE_INFINITY : 0.0;
  float n = floor(exponent + 0.5);
  return scale(1.0 + exp_minus_1(((product - n) + correction) * 0.693147181), int(n));
}

// As C's pow and NumPy: any whole power of a negative number, NaN for a fractional one.
float power(float x, float y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (is_nan(x) || is_nan(y)) return NOT_A_NUMBER;
  float a = abs(x), r;
  if (is_inf(y)) return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? POSITIVE_INFINITY : 0.0;
  bool negative = floatBitsToInt(x) < 0;
  if ((floatBitsToInt(x) & 0x7fffffff) == 0) r = y > 0.0 ? 0.0 : POSITIVE_INFINITY;
  else if (is_inf(x)) r = y > 0.0 ? POSITIVE_INFINITY : 0.0;
  else if (negative && fract(y) != 0.0) r = NOT_A_NUMBER;
  else r = power_of_finite(a, y);
  return negative && mod(abs(y), 2.0) == 1.0 ? -r : r;
}
