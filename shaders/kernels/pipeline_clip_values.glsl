// Clipping: the vertex shader's outputs at the corners of primitives that were cut.
//
// Inputs: shares and, with STRAIGHT 1, straight (corners, 4): each corner as a sum of its primitive's vertices; owner, int32,
// one axis: its primitive; primitives (n, 8); table (vertices, 4 * SLOTS), what the vertices have.
// Output: o0 (corners, 4 * SLOTS). MODES: for each slot 2 where it is linear in the window.
#require SLOTS
#require MODES
#require STRAIGHT
#include "lib/primitives.glsl"

uniform shares_SAMPLER shares;
uniform ivec4 shares_layout;
#if STRAIGHT
uniform straight_SAMPLER straight;
uniform ivec4 straight_layout;
#endif
uniform owner_SAMPLER owner;
uniform ivec4 owner_layout;
uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform table_SAMPLER table;
uniform ivec4 table_layout;

const int modes[SLOTS] = int[SLOTS](MODES);

// A vertex without a share is left out, whatever it holds.
vec4 part(float share, int vertex, int slot) {
  return share == 0.0 ? vec4(0.0) : share * texel(table, table_layout, vertex, slot);
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int corner = t / SLOTS, slot = t % SLOTS;
  o0 = vec4(0.0);
  if (corner >= owner_layout.w) return;
  ivec4 v = texel(primitives, primitives_layout, element(owner, owner_layout, corner), 0);
  vec4 share = texel(shares, shares_layout, corner, 0);
#if STRAIGHT
  if (modes[slot] == 2) share = texel(straight, straight_layout, corner, 0);
#endif
  o0 = part(share.x, v.x, slot) + part(share.y, v.y, slot) + part(share.z, v.z, slot);
}
