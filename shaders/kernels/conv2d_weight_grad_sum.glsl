// Adds the partial sums that conv2d_weight_grad_tile.glsl wrote, and puts them in the order of the weights.
//
// Input: parts (shares * KH, rows, C_out). Output: o0 (KH, KW, C_in, C_out).
// Options: TAPS, LANES, BLOCKS  as in conv2d_weight_grad_tile.glsl.
// Uniforms: KH, KW, C_in as in lib/window.glsl and in_each; shares; part_rows: rows of one part.
#include "lib/window.glsl"

#require TAPS
#require LANES
#require BLOCKS

uniform parts_SAMPLER parts;
uniform ivec4 parts_layout;
uniform int in_each, shares, part_rows;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y), column = t - row * o_layout.y;
  int tap = quotient(row, in_each), channel = row - tap * in_each;
  int ky = quotient(tap, window.y), kx = tap - ky * window.y;
  int part_row = ((channel / LANES * BLOCKS + kx / TAPS) * TAPS + kx % TAPS) * LANES + channel % LANES;
  int at = (ky * part_rows + part_row) * parts_layout.y + column;
  int share = window.x * part_rows * parts_layout.y;
  o0 = vec4(0.0);
  for (int s = 0; s < shares; s++, at += share) {
    int line = quotient(at, parts_layout.x);
    o0 += fetch(parts, ivec2(at - line * parts_layout.x, line));
  }
  o0 = keep(o0, lanes(o_layout, column));
}
