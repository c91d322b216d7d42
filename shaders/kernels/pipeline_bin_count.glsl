// Binning: the lines of tiles of 8 x 8 pixels that the box around every primitive meets.
//
// Input: boxes (n, 4), int32: first and last subpixel in x, y, x, y. Output: o0 (n, 4), int32: first and last tile in x,
// first line, lines. Uniforms: bits; tiles of the target in x and y.
uniform boxes_SAMPLER boxes;
uniform int bits;
uniform ivec2 tiles;

void point(ivec2 p) {
  ivec4 box = fetch(boxes, p) >> (3 + bits);
  ivec2 low = max(box.xy, ivec2(0)), high = min(box.zw, tiles - 1);
  o0 = ivec4(low.x, high.x, low.y, low.x > high.x ? 0 : max(high.y - low.y + 1, 0));
}
