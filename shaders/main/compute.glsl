// Runs a kernel as a compute pass (OpenGL 4.3): the same kernel files as the fragment main.
//
// Options: FOLDED  1 where a row of the view may be folded over two lines of the output's texture
//          oN_HALF where output N has half precision: it is rounded, not cut
//          BLOCKED 1: neighbouring tiles belong to one work group, LOCAL_Y blocks of rows by LOCAL_X of columns, the columns
//                  of one tile being LOCAL_X apart, so that neighbours read and write neighbours
//          LOOPED  1: a column of a tile is written in a loop. On a processor that is less code, which compiles sooner and
//                  runs as fast; on a GPU the sums would leave their registers.

#require OUTPUTS  outputs of a point kernel, 0 for a tile kernel
#require KERNEL   the kernel's file
#require LOCAL_X  work group size
#require LOCAL_Y
#default FOLDED 0
#default BLOCKED 0
#default LOOPED 0
#include "lib/tensor.glsl"
#include "lib/tile.glsl"
#include "lib/half.glsl"

layout(local_size_x = LOCAL_X, local_size_y = LOCAL_Y) in;

#if OUTPUTS
uniform ivec2 o_size;
#unroll n 0 OUTPUTS
#if !COUNTED
layout(o$(n)_FORMAT, binding = $n) writeonly uniform o$(n)_IMAGE image$n;
#endif
o$(n)_TEXEL o$n;
#endunroll
#else
#if !COUNTED
layout(o0_FORMAT) writeonly uniform o0_IMAGE image0;
#endif
uniform int grid_width;
#endif
#if COUNTED
layout(rgba32f, binding = 0) writeonly uniform image2D counts;
#define MAIN_STORE(image, p, value) value
void write_count() {
  int n = int(gl_GlobalInvocationID.y * gl_NumWorkGroups.x * uint(LOCAL_X) + gl_GlobalInvocationID.x);
  imageStore(counts, ivec2(n % COUNTED, n / COUNTED), vec4(float(fetched), 0.0, 0.0, 0.0));
}
#else
#define MAIN_STORE(image, p, value) imageStore(image, p, value)
#endif

#include $KERNEL

#if EPILOGUE
#include "lib/expression.glsl"
#define EXPRESSED(p, t, value) expression(p, t, value)
#define HOLD(column) hold(column)
#else
#define EXPRESSED(p, t, value) value
#define HOLD(column)
#endif
#ifdef o0_HALF
#define FINAL(p, t, value) to_half(EXPRESSED(p, t, value))
#else
#define FINAL(p, t, value) EXPRESSED(p, t, value)
#endif

#if OUTPUTS
void main() {
  ivec2 p = ivec2(gl_GlobalInvocationID.xy);
  if (p.x >= o_size.x || p.y >= o_size.y) return;
  point(p);
#if EPILOGUE
  o0 = expression(p, p.y * o_layout.x + p.x, o0);
#endif
#unroll n 0 OUTPUTS
#ifdef o$(n)_HALF
  o$n = to_half(o$n);
#endif
  MAIN_STORE(image$n, p, o$n);
#endunroll
#if COUNTED
  write_count();
#endif
}
#else
#if BLOCKED
#define COLUMN_STEP LOCAL_X
ivec3 own_cell() {
  int block = int(gl_WorkGroupID.y) * grid_width + int(gl_WorkGroupID.x);
  int across = (view.z + LOCAL_X * COLS - 1) / (LOCAL_X * COLS), down = (view.y + LOCAL_Y * ROWS - 1) / (LOCAL_Y * ROWS);
  int line = block / across;
  ivec3 corner = ivec3(line / down, line % down * (LOCAL_Y * ROWS), block % across * (LOCAL_X * COLS));
  return corner + ivec3(0, int(gl_LocalInvocationID.y) * ROWS, gl_LocalInvocationID.x);
}
#else
#define COLUMN_STEP APART
ivec3 own_cell() { return cell(int(gl_GlobalInvocationID.y) * grid_width + int(gl_GlobalInvocationID.x)); }
#endif

// The address of the texel one row of the view on: a step is far cheaper than one more division.
ivec2 next_view_row(ivec2 p) {
  p.x += view.z;
  return p.x >= o_layout.x ? ivec2(p.x - o_layout.x, p.y + 1) : p;
}

void main() {
  ivec3 at = own_cell();
  // Beyond the last cell: computed like the last and not stored, which costs no mask in the kernel.
  bool stored = at.x < view.x;
  at.x = min(at.x, view.x - 1);
  o0_TEXEL acc[ROWS * COLS];
  tile(at.x, at.y, at.z, acc);
  int t0 = (at.x * view.y + at.y) * view.z + at.z;
  ivec2 p0 = address(o_layout, t0);
#if LOOPED
  int rows = stored ? min(ROWS, view.y - at.y) : 0;
#unroll j 0 COLS
  if (at.z + $j * COLUMN_STEP < view.z) {
    HOLD(at.z + $j * COLUMN_STEP);
    int t = t0 + $j * COLUMN_STEP;
    ivec2 p = p0;
    for (int i = 0; i < rows; i++) {
      o0_TEXEL value = acc[$j];
#unroll k 1 ROWS
      if (i == $k) value = acc[$(k*COLS+j)];
#endunroll
#if FOLDED
      ivec2 q = address(o_layout, t);
#else
      ivec2 q = p + ivec2($j * COLUMN_STEP, 0);
#endif
      MAIN_STORE(image0, q, FINAL(q, t, value));
      t += view.z;
      p = next_view_row(p);
    }
  }
#endunroll
#else
#unroll i 1 ROWS
  int t$i = t$(i-1) + view.z;
  ivec2 p$i = next_view_row(p$(i-1));
#endunroll
#unroll j 0 COLS
  if (stored && at.z + $j * COLUMN_STEP < view.z) {
    HOLD(at.z + $j * COLUMN_STEP);
#unroll i 0 ROWS
#if FOLDED
    if (at.y + $i < view.y) MAIN_STORE(image0, address(o_layout, t$i + $j * COLUMN_STEP), FINAL(address(o_layout, t$i + $j * COLUMN_STEP), t$i + $j * COLUMN_STEP, acc[$i * COLS + $j]));
#else
    if (at.y + $i < view.y) MAIN_STORE(image0, p$i + ivec2($j * COLUMN_STEP, 0), FINAL(p$i + ivec2($j * COLUMN_STEP, 0), t$i + $j * COLUMN_STEP, acc[$i * COLS + $j]));
#endif
#endunroll
  }
#endunroll
#endif
#if COUNTED
  write_count();
#endif
}
#endif
