// Rasterisation: which samples of a tile of 8 x 8 pixels a primitive covers, in exact integer arithmetic.
//
// Inputs, int32: pairs (n, 8): the four edge functions at the tile's corner, floor(E / 2^bits), then the primitive; c_low,
// dx, dy (primitives, 4): of each edge the low word of c, whose part below a pixel is the same at every tile, and steps.
// Output: o0 (n, 4 * TEXELS), int32: for each sample two words; bit 4 * quad + pixel, quads and pixels row by row.
// Uniforms: offsets, the samples' places within a pixel in subpixels; bits.
#require TEXELS   texels of a row of the output: two samples each
#require SAMPLES

uniform pairs_SAMPLER pairs;
uniform ivec4 pairs_layout;
uniform c_low_SAMPLER c_low;
uniform dx_SAMPLER dx;
uniform dy_SAMPLER dy;
uniform ivec4 c_low_layout;
uniform ivec2 offsets[4];
uniform int bits;

// The two words of one sample: pixels in the lower and in the upper half of the tile.
ivec2 covered(ivec4 e, ivec4 dx, ivec4 dy) {
  ivec2 words = ivec2(0);
  for (int y = 0; y < 8; ++y) {
    ivec4 v = e + dx * y;
    int line = 0;
    for (int x = 0; x < 8; ++x) {
      ivec4 w = v - dy * x;
      int bit = ((x >> 1) << 2) | (x & 1) | ((y & 1) << 1) | ((y & 2) << 3);
      line |= (w.x | w.y | w.z | w.w) >= 0 ? 1 << bit : 0;
    }
    if (y < 4) words.x |= line; else words.y |= line;
  }
  return words;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = t / TEXELS, part = t % TEXELS;
  o0 = ivec4(0);
  ivec4 base = texel(pairs, pairs_layout, row, 0);
  int primitive = texel(pairs, pairs_layout, row, 1).x;
  if (row * pairs_layout.y >= textureSize(pairs, 0).x * textureSize(pairs, 0).y) return;
  ivec4 rest = texel(c_low, c_low_layout, primitive, 0) & ((1 << bits) - 1);
  ivec4 x = texel(dx, c_low_layout, primitive, 0), y = texel(dy, c_low_layout, primitive, 0);
  ivec2 at = offsets[2 * part];
  o0.xy = covered(base + ((rest + x * at.y - y * at.x) >> bits), x, y);
#if SAMPLES > 1
  at = offsets[2 * part + 1];
  o0.zw = covered(base + ((rest + x * at.y - y * at.x) >> bits), x, y);
#endif
}
