// Division of indices without the integer divider, which has no vector form on processors and is slow on cards.

// a / b for a >= 0, b > 0. The float quotient is a guess; two exact remainders correct it (the first may be off by
// a / b * 2^-22 for large a, the second by one).
int quotient(int a, int b) {
  float inverse = 1.0 / float(b);
  int q = int(float(a) * inverse);
  q += int(floor(float(a - q * b) * inverse));
  int r = a - q * b;
  return r < 0 ? q - 1 : r >= b ? q + 1 : q;
}

// a modulo b for a >= 0, b > 0.
int modulo(int a, int b) { return a - quotient(a, b) * b; }
