// Floats by their bits: some compilers take x != x for always false, and some devices take denormals for zero.

#define NOT_A_NUMBER uintBitsToFloat(0x7fc00000u)
#define POSITIVE_INFINITY uintBitsToFloat(0x7f800000u)
#define NEGATIVE_INFINITY uintBitsToFloat(0xff800000u)

bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
bool is_nan(int x) { return false; }
bool is_inf(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }
bool is_inf(int x) { return false; }

// x * 2^n for n in [-252, 254], in two steps, so that neither factor overflows.
float scale(float x, int n) {
  int first = n >> 1;
  return x * intBitsToFloat((first + 127) << 23) * intBitsToFloat((n - first + 127) << 23);
}

// x without the last 12 bits of its mantissa.
float cut(float x) { return intBitsToFloat(floatBitsToInt(x) & ~0xfff); }
