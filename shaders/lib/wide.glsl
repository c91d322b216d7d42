// Signed integers of 64 bits, which OpenGL 3.3 and WebGL 2 lack: two's complement in two words.

struct Wide {
  uint low;
  int high;
};

Wide wide(int a) { return Wide(uint(a), a < 0 ? -1 : 0); }

Wide add(Wide a, Wide b) {
  uint low = a.low + b.low;
  return Wide(low, a.high + b.high + (low < a.low ? 1 : 0));
}
Wide negative(Wide a) { return Wide(~a.low + 1u, ~a.high + (a.low == 0u ? 1 : 0)); }
Wide subtract(Wide a, Wide b) { return add(a, negative(b)); }

// The product of two ints, by halves of 16 bits.
Wide product(int a, int b) {
  uint x = uint(a < 0 ? -a : a), y = uint(b < 0 ? -b : b);
  uint x0 = x & 0xffffu, x1 = x >> 16, y0 = y & 0xffffu, y1 = y >> 16;
  uint middle = x1 * y0 + ((x0 * y0) >> 16);  // below 2^32: the first is at most (2^16 - 1)^2, the second below 2^16
  uint other = x0 * y1 + (middle & 0xffffu);
  Wide found = Wide((other << 16) | ((x0 * y0) & 0xffffu), int(x1 * y1 + (middle >> 16) + (other >> 16)));
  return (a < 0) != (b < 0) ? negative(found) : found;
}

// a * d - b * c, twice the area between two vectors.
Wide cross_product(ivec2 p, ivec2 q) { return subtract(product(p.x, q.y), product(q.x, p.y)); }

bool is_negative(Wide a) { return a.high < 0; }
bool is_zero(Wide a) { return a.high == 0 && a.low == 0u; }

// a / 2^bits rounded down, for 0 < bits < 32, held between -limit and limit.
int shifted(Wide a, int bits, int limit) {
  uint low = (a.low >> uint(bits)) | (uint(a.high) << uint(32 - bits));
  int high = a.high >> bits;
  if (high != (int(low) < 0 ? -1 : 0)) return high < 0 ? -limit : limit;
  return clamp(int(low), -limit, limit);
}

// The nearest float, or its neighbour.
float to_float(Wide a) {
  bool below = is_negative(a);
  if (below) a = negative(a);
  float size = float(uint(a.high)) * 4294967296.0 + float(a.low);
  return below ? -size : size;
}
