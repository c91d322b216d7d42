// Binning: the tiles of 8 x 8 pixels that the box around every primitive meets.
//
// Input: boxes (n, 4), int32: first and last subpixel in x, y, x, y. Output: o0 (n, 4), int32: first tile in x and y, tiles
// in x, tiles in all. Uniforms: bits; tiles of the target in x and y.
uniform boxes_SAMPLER boxes;
uniform int bits;
uniform ivec2 tiles;

void point(ivec2 p) {
  ivec4 box = fetch(boxes, p) >> (3 + bits);
  ivec2 low = clamp(box.xy, ivec2(0), tiles), high = clamp(box.zw, ivec2(-1), tiles - 1);
  ivec2 extent = max(high - low + 1, ivec2(0));
  o0 = ivec4(low, extent.x, extent.x * extent.y);
}
