// Where a tile's fragments lie: coverage words, quads in order, and fragments packed as 2 x 2 quads.

// Bit of pixel (x, y) of a tile in its word of coverage: quads row by row, eight to a word, pixels row by row.
int coverage_bit(int x, int y) { return ((y & 2) << 3) | ((x >> 1) << 2) | ((y & 1) << 1) | (x & 1); }

// One flag in the lowest bit of each group of four that has a bit set.
uint quad_flags(uint word) {
  word |= word >> 1;
  return (word | (word >> 2)) & 0x11111111u;
}

// Quads that a word holds below bit 4 * quad.
int quads_below(uint word, int quad) {
  uint flags = quad_flags(word) & ((1u << uint(4 * quad)) - 1u);
  return int((flags * 0x11111111u) >> 28);
}
int quads_in(uint word) { return int((quad_flags(word) * 0x11111111u) >> 28); }
