// Tables of the emulated pipeline: one row for each primitive, tensors of one axis, and positions on the subpixel grid.
//
// A row of primitives (n, 8), int32, is three vertices and the provoking one; gl_PrimitiveID, front facing, the primitive
// before clipping, and whether it is drawn. Lines and points repeat their last vertex.

// Element i of a tensor of one axis.
int element(isampler2D s, ivec4 layout_, int i) { return texel(s, layout_, 0, i >> 2)[i & 3]; }

// Where element i of a list of sums begins: the sum of those before it.
int begin(isampler2D ends, ivec4 layout_, int i) { return i == 0 ? 0 : element(ends, layout_, i - 1); }

// A window position on the grid of 2^bits subpixels a pixel, rounded to nearest, ties to even.
ivec2 snapped(vec2 window, int bits) { return ivec2(roundEven(window * float(1 << bits))); }
