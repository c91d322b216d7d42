// Scalar functions with NumPy's behaviour at the edges: NaN and infinity propagate, large arguments do not overflow.

// By bits, since some compilers take x != x for always false.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
bool is_nan(int x) { return false; }
bool is_inf(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }
bool is_inf(int x) { return false; }

float maximum(float x, float y) { return x > y || is_nan(x) ? x : y; }
float minimum(float x, float y) { return x < y || is_nan(x) ? x : y; }
int maximum(int x, int y) { return max(x, y); }
int minimum(int x, int y) { return min(x, y); }

float relu(float x) { return x < 0.0 ? 0.0 : x; }
int relu(int x) { return x < 0 ? 0 : x; }

// tanh through exp(-2|x|): never overflows; a series where the quotient would cancel.
float tanh_(float x) {
  float a = abs(x);
  if (is_nan(x)) return x;
  if (a < 0.1) {
    float s = x * x;
    return x * (1.0 + s * (-0.333333333 + s * (0.133333333 + s * (-0.0539682540 + s * 0.0218694885))));
  }
  float e = exp(-2.0 * a);
  float t = (1.0 - e) / (1.0 + e);
  return x < 0.0 ? -t : t;
}

float sigmoid(float x) {
  float e = exp(-abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

// log(1 + exp(x)) without overflow.
float softplus(float x) { return maximum(x, 0.0) + log(1.0 + exp(-abs(x))); }

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
  float r = 1.0 - t * exp(p - a * a);
  return x < 0.0 ? -r : r;
}

// As NumPy: x to a whole power of any sign, NaN for a fractional power of a negative number.
float power(float x, float y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  float p = pow(abs(x), y);
  if (x >= 0.0 || is_nan(x)) return p;
  if (fract(y) != 0.0 && !is_inf(y)) return uintBitsToFloat(0x7fc00000u);
  return abs(mod(y, 2.0)) == 1.0 ? -p : p;
}
int power(int x, int y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? ((y & 1) == 0 ? 1 : -1) : 0;
  int r = 1;
  for (int n = y; n > 0; n >>= 1) {
    if ((n & 1) == 1) r *= x;
    x *= x;
  }
  return r;
}

// Quotient rounded down and remainder with the divisor's sign, as Python and NumPy; integers stay integers.
int floor_divide(int x, int y) {
  if (y == 0) return 0;
  int q = x / y;
  int r = x - q * y;  // not x % y: GLSL leaves it undefined for negative operands, and drivers do differ
  if (abs(r) >= abs(y)) {  // a driver that divides through floats may be off by one
    q += (r < 0) == (y < 0) ? 1 : -1;
    r = x - q * y;
  }
  return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
}
int remainder(int x, int y) { return y == 0 ? 0 : x - floor_divide(x, y) * y; }
float remainder(float x, float y) {
  float r = x - y * trunc(x / y);
  if (abs(r) >= abs(y)) r = 0.0;
  return r != 0.0 && (r < 0.0) != (y < 0.0) ? r + y : r;
}
float floor_divide(float x, float y) { return y == 0.0 ? x / y : floor((x - remainder(x, y)) / y + 0.5); }

int sign_(int x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
float sign_(float x) { return is_nan(x) ? x : x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; }

float exp_(float x) { return exp(x); }
float log_(float x) { return log(x); }

// exp(x) - 1: a series where the difference would cancel.
float expm1_(float x) {
  if (abs(x) > 0.3) return exp_(x) - 1.0;
  return x * (1.0 + x * (0.5 + x * (0.166666667 + x * (0.0416666667 + x * (0.00833333333 + x * (0.00138888889 + x * 0.000198412698))))));
}

// log(1 + x) by W. Kahan's correction: the error of 1 + x cancels in the quotient.
float log1p_(float x) {
  float u = 1.0 + x;
  if (u == 1.0 || is_inf(x)) return x;
  return u <= 0.0 || is_nan(u) ? log_(u) : log_(u) * (x / (u - 1.0));
}
