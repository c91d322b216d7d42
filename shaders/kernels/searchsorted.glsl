// Where values would go in a sorted list, by bisection.
//
// Inputs: x, one axis, ascending, NaN last; values. Output: o0, int32, of the values' shape: how many elements of x are less
// than the value (RIGHT 0) or not greater (RIGHT 1).
#require RIGHT
#include "lib/bits.glsl"

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform values_SAMPLER values;
uniform ivec4 values_layout;

bool before(x_SCALAR a, x_SCALAR b) { return a < b || (is_nan(b) && !is_nan(a)); }

int place(x_SCALAR value) {
  int low = 0, high = x_layout.w;
  while (low < high) {
    int middle = low + (high - low) / 2;
    x_SCALAR there = texel(x, x_layout, 0, middle >> 2)[middle & 3];
#if RIGHT
    bool further = !before(value, there);
#else
    bool further = before(there, value);
#endif
    if (further) low = middle + 1;
    else high = middle;
  }
  return low;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  bvec4 kept = lanes(o_layout, column);
  x_TEXEL wanted = x_TEXEL(texel(values, values_layout, row, column));
  o0 = ivec4(0);
#unroll lane 0 4
  if (kept[$lane]) o0[$lane] = place(wanted[$lane]);
#endunroll
}
