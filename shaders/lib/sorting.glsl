// What the passes of a merge sort share. They see all rows as one sequence of texels, `columns` to a row, in textures that
// are wide as a power of two where that is possible.
//
// Options: SHIFTED 1: the textures of keys and indices are 2^shift texels wide, so that addresses take no division.
#default SHIFTED 0
uniform int columns;  // texels of a row

#if SHIFTED
uniform int shift;
ivec2 place(ivec4 layout_, int t) { return ivec2(t & (layout_.x - 1), t >> shift); }
#else
ivec2 place(ivec4 layout_, int t) { return address(layout_, t); }
#endif

// Element `i`, counted from texel `base` on.
int element(isampler2D s, ivec4 layout_, int base, int i) {
  ivec4 v = fetch(s, place(layout_, base + (i >> 2)));
  ivec2 pair = (i & 2) == 0 ? v.xy : v.zw;
  return (i & 1) == 0 ? pair.x : pair.y;
}
