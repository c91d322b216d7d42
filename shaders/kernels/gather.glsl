// Puts the layers that a fragment tile pass wrote into the output tensor.
//
// Input: layers, an array texture: layer i * COLS + j holds texel (i, j) of every tile.
// Output: o0, the tensor seen as view = (groups, rows, columns), tiles of ROWS x COLS texels.
// Uniforms: view, o_layout, grid_width (cells in one line of the array texture). With PARTS 1 the array texture has only
// `cells` cells from first_cell on, and the rest of the output stays as it is.
#default PARTS 0
#include "lib/tile.glsl"

uniform highp layers_SAMPLER layers;
uniform int grid_width;
#if PARTS
uniform int first_cell, cells;
#endif

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int line = quotient(t, view.z), group = quotient(line, view.y);
  int column = t - line * view.z, row = line - group * view.y;
  int row_blocks = (view.y + ROWS - 1) / ROWS, column_blocks = (view.z + COLS - 1) / COLS;
  int id = (group * row_blocks + row / ROWS) * column_blocks + column / COLS;
#if PARTS
  id -= first_cell;
  if (id < 0 || id >= cells) discard;
#endif
  int grid_y = quotient(id, grid_width);
  int layer = (row % ROWS) * COLS + column % COLS;
  COUNT_FETCH
  o0 = texelFetch(layers, ivec3(id - grid_y * grid_width, grid_y, layer), 0);
}
