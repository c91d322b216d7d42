// Interpolation: the fragment shader's inputs, SLOTS texels for every packed fragment.
//
// Inputs: quads (n, 4), int32: x, y, primitive, pair; weights, packed like the fragments; corners (primitives, 8),
// int32: three vertices and the provoking one, then other facts; table (vertices, 4 * SLOTS): the vertices' outputs;
// primitives (n, 12): 1/w of the corners in the third texel.
// Output: o0 (fragments, 4 * SLOTS), of the table's dtype. Uniforms: count, columns of quads.
// MODES: for each slot 0 perspective, 1 flat, 2 linear in the window.
#require SLOTS
#require MODES

uniform quads_SAMPLER quads;
uniform ivec4 quads_layout;
uniform weights_SAMPLER weights;
uniform corners_SAMPLER corners;
uniform ivec4 corners_layout;
uniform table_SAMPLER table;
uniform ivec4 table_layout;
uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform int count, columns;

const int modes[SLOTS] = int[SLOTS](MODES);

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int f = t / SLOTS, slot = t % SLOTS;
  ivec2 at = ivec2(f % (2 * columns), f / (2 * columns));
  int q = (at.y / 2) * columns + at.x / 2;
  o0 = o0_TEXEL(0);
  if (q >= count) return;
  int primitive = texel(quads, quads_layout, q, 0).z;
  ivec4 v = texel(corners, corners_layout, primitive, 0);
#if INTEGERS
  o0 = texel(table, table_layout, v.w, slot);
#else
  int mode = modes[slot];
  if (mode == 1) {
    o0 = texel(table, table_layout, v.w, slot);
    return;
  }
  vec3 share = fetch(weights, at).xyz;
  if (mode == 2) {
    share /= texel(primitives, primitives_layout, primitive, 2).xyz;
    share /= share.x + share.y + share.z;
  }
  o0 = texel(table, table_layout, v.x, slot) * share.x + texel(table, table_layout, v.y, slot) * share.y
    + texel(table, table_layout, v.z, slot) * share.z;
#endif
}
