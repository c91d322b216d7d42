// Reading tensors that lie in textures.
//
// A tensor NAME is a sampler with a uniform `ivec4 NAME_layout` = (width, columns, lines, last):
//   width    texels in one line of the texture
//   columns  texels in one row of the tensor (its last axis, four elements to a texel)
//   lines    rows in one line of the texture, 0 where a row is folded over several lines
//   last     elements in the last axis
// Texel t, counted row-major, lies at (t % width, t / width). Pad lanes are zero.
//
// Options: FETCH_LOD  read through textureLod at texel centres instead of texelFetch (equal, since all
//                     textures are sampled nearest; which is faster depends on the device).
//          COUNTED    the pass writes how many texels each invocation fetched, in place of its results: a dispatch
//                     in lines of so many (dispatches are wider than textures).

#include "lib/divide.glsl"

#default FETCH_LOD 0
#default COUNTED 0

#if COUNTED
int fetched = 0;
#define COUNT_FETCH fetched++;
#else
#define COUNT_FETCH
#endif

uniform ivec4 o_layout;  // of the output

#if FETCH_LOD
vec4 fetch(sampler2D s, ivec2 p) {
  COUNT_FETCH
  return textureLod(s, (vec2(p) + 0.5) * (1.0 / vec2(textureSize(s, 0))), 0.0);
}
ivec4 fetch(isampler2D s, ivec2 p) {
  COUNT_FETCH
  return textureLod(s, (vec2(p) + 0.5) * (1.0 / vec2(textureSize(s, 0))), 0.0);
}
#else
vec4 fetch(sampler2D s, ivec2 p) { COUNT_FETCH return texelFetch(s, p, 0); }
ivec4 fetch(isampler2D s, ivec2 p) { COUNT_FETCH return texelFetch(s, p, 0); }
#endif

// Address of linear texel t.
ivec2 address(ivec4 layout_, int t) {
  int line = quotient(t, layout_.x);
  return ivec2(t - line * layout_.x, line);
}

// Address of the first texel of a row whose texels are neighbours in one line (lines > 0).
ivec2 row_address(ivec4 layout_, int row) {
  int line = quotient(row, layout_.z);
  return ivec2((row - line * layout_.z) * layout_.y, line);
}

// The same of the row after the one that begins at p.
ivec2 next_row(ivec4 layout_, ivec2 p) {
  p.x += layout_.y;
  return p.x >= layout_.x ? ivec2(0, p.y + 1) : p;
}

// Texel `column` of row `row`, for any layout.
vec4 texel(sampler2D s, ivec4 layout_, int row, int column) {
  return fetch(s, address(layout_, row * layout_.y + column));
}
ivec4 texel(isampler2D s, ivec4 layout_, int row, int column) {
  return fetch(s, address(layout_, row * layout_.y + column));
}

// Which lanes of texel `column` hold elements.
bvec4 lanes(ivec4 layout_, int column) {
  return lessThan(ivec4(0, 1, 2, 3) + 4 * column, ivec4(layout_.w));
}

// Zero in the lanes that are not kept.
vec4 keep(vec4 x, bvec4 kept) {
  return vec4(kept.x ? x.x : 0.0, kept.y ? x.y : 0.0, kept.z ? x.z : 0.0, kept.w ? x.w : 0.0);
}
ivec4 keep(ivec4 x, bvec4 kept) {
  return ivec4(kept.x ? x.x : 0, kept.y ? x.y : 0, kept.z ? x.z : 0, kept.w ? x.w : 0);
}
