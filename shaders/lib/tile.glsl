// Which tile of the output a fragment or an invocation computes.
//
// The output is seen as `view` = (groups, rows, columns in texels); a tile is ROWS x COLS texels of one
// group. Cells number the tiles row-major: group, block of rows, block of columns.
//
// Options: APART  how far apart the columns of a tile lie; those of its APART neighbours lie between them. The view's columns
//                are then a multiple of APART * COLS.
// Uniforms: view.

#require ROWS  rows of texels in a tile
#require COLS  columns of texels in a tile

#default APART 1

uniform ivec3 view;

// (group, first row, first column) of cell `id`.
ivec3 cell(int id) {
  int column_blocks = (view.z + COLS - 1) / COLS;
  int row_blocks = (view.y + ROWS - 1) / ROWS;
  int block = id / column_blocks;
  int column = id % column_blocks;
#if APART > 1
  column = column / APART * (APART * COLS) + column % APART;
#else
  column *= COLS;
#endif
  return ivec3(block / row_blocks, (block % row_blocks) * ROWS, column);
}
