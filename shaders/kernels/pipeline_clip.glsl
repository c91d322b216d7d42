// Clipping: the corners of every primitive that was cut.
//
// Inputs as lib/clip.glsl has them; owner and ends, int32, one axis: the primitive of each corner, and the sums of corners.
// Outputs: o0 (corners, 4) positions in clip space; o1 (corners, 4) each as a sum of the primitive's three vertices, linear
// in clip space, then 0; with STRAIGHT 1 also o2, linear in the window.
#include "lib/primitives.glsl"
#include "lib/clip.glsl"

uniform owner_SAMPLER owner;
uniform ivec4 owner_layout;
uniform ends_SAMPLER ends;
uniform ivec4 ends_layout;

void point(ivec2 p) {
  int i = p.y * o_layout.x + p.x;
  if (i >= owner_layout.w) return;
  int row = element(owner, owner_layout, i);
  clip_primitive(row);
  Corner c = polygon[i - begin(ends, ends_layout, row)];
  o0 = c.position;
  o1 = vec4(c.share, 0.0);
#if STRAIGHT
  o2 = vec4(c.straight, 0.0);
#endif
}
