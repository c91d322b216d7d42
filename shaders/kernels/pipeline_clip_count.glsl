// Clipping: what becomes of every primitive.
//
// Inputs as lib/clip.glsl has them. Output: o0 (primitives, 4), int32: verdict (0 whole, 1 cut, 2 wholly outside, 3 with a
// position that is no finite number), primitives that are left, vertices that they need anew, 0.
#include "lib/clip.glsl"

void point(ivec2 p) {
  int row = p.y * o_layout.x + p.x;
  o0 = ivec4(0);
  if (row * 2 >= textureSize(primitives, 0).x * textureSize(primitives, 0).y) return;
  clip_primitive(row);
  int left = verdict == WHOLE ? 1 : verdict == CUT && count >= SIDES ? count - SIDES + 1 : 0;
  o0 = ivec4(verdict, left, verdict == CUT && left > 0 ? count : 0, 0);
}
