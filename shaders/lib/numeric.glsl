// Scalar functions with NumPy's behaviour at the edges: NaN and infinity propagate, large arguments do not overflow.
#include "lib/bits.glsl"
#include "lib/exponential.glsl"
#include "lib/trigonometric.glsl"
#include "lib/division.glsl"

float maximum(float x, float y) { return x > y || is_nan(x) ? x : y; }
float minimum(float x, float y) { return x < y || is_nan(x) ? x : y; }
int maximum(int x, int y) { return max(x, y); }
int minimum(int x, int y) { return min(x, y); }

// Compilers take x < 0.0 ? 0.0 : x for max(x, 0.0), which loses NaN.
float relu(float x) { return is_nan(x) ? x : max(x, 0.0); }
int relu(int x) { return max(x, 0); }

int power(int x, int y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? ((y & 1) == 0 ? 1 : -1) : 0;
  int r = 1;
  for (int n = y; n > 0; n >>= 1) {
    if ((n & 1) == 1) r *= x;
    x *= x;
  }
  return r;
}

int sign_(int x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
float sign_(float x) { return is_nan(x) ? x : x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; }
