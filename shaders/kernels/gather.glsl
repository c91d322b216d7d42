// Puts the layers that a fragment tile pass wrote into the output tensor.
//
// Input: layers, an array texture: layer i * COLS + j holds texel (i, j) of every tile.
// Output: o0, the tensor seen as view = (groups, rows, columns), tiles of ROWS x COLS texels.
// Uniforms: view, o_layout, grid_width (cells in one line of the array texture).
#include "lib/tile.glsl"

uniform highp layers_SAMPLER layers;
uniform int grid_width;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int column = t % view.z, line = t / view.z;
  int row = line % view.y, group = line / view.y;
  int row_blocks = (view.y + ROWS - 1) / ROWS, column_blocks = (view.z + COLS - 1) / COLS;
  int id = (group * row_blocks + row / ROWS) * column_blocks + column / COLS;
  int layer = (row % ROWS) * COLS + column % COLS;
  o0 = texelFetch(layers, ivec3(id % grid_width, id / grid_width, layer), 0);
}
