// Philox4x32-10: four random words from a key of two words and a counter of four.
//
// J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Whole numbers only, so that every device
// gives the same words.
//
// Uniforms: key; counter, of the texel 0: texel t of a tensor, counted row-major, takes counter + t; rounds, 10: drivers unroll
// a loop whose length they know, and take half as long again to compile it.

uniform uvec2 key;
uniform uvec4 counter;
uniform int rounds;

// (upper, lower) word of a * b, by 16-bit halves: umulExtended is not in GLSL 3.30 or ES 3.00.
uvec2 wide_product(uint a, uint b) {
  uint a_low = a & 0xffffu, a_high = a >> 16, b_low = b & 0xffffu, b_high = b >> 16;
  uint cross1 = a_high * b_low, cross2 = a_low * b_high;
  uint middle = ((a_low * b_low) >> 16) + (cross1 & 0xffffu) + (cross2 & 0xffffu);
  return uvec2(a_high * b_high + (cross1 >> 16) + (cross2 >> 16) + (middle >> 16), a * b);
}

// The four words of texel t.
uvec4 philox(int t) {
  uvec4 c = counter;
  c.x += uint(t);
  if (c.x < counter.x) {
    c.y++;
    if (c.y == 0u) {
      c.z++;
      if (c.z == 0u) c.w++;
    }
  }
  uvec2 k = key;
  for (int round_ = 0; round_ < rounds; round_++) {
    uvec2 first = wide_product(0xD2511F53u, c.x), second = wide_product(0xCD9E8D57u, c.z);
    c = uvec4(second.x ^ c.y ^ k.x, second.y, first.x ^ c.w ^ k.y, first.y);
    k += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}

// Numbers in [0, 1), whole multiples of 2^-24.
vec4 unit(uvec4 words) { return vec4(words >> 8) * 5.9604644775390625e-8; }
