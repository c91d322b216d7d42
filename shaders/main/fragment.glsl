// Runs a kernel as a fragment pass (OpenGL 3.3, GLSL ES 3.00).
//
// A point kernel computes one texel of each of its OUTPUTS per fragment and writes o0, o1, ...
// A tile kernel computes ROWS x COLS texels per fragment; each goes to a colour attachment of its own
// (a layer of an array texture), and the gather pass puts them in place. A 1 x 1 tile is written in place.
//
// Options: oN_HALF where output N has half precision: it is rounded, not cut

#require OUTPUTS  outputs of a point kernel, 0 for a tile kernel
#require KERNEL  the kernel's file
#include "lib/tensor.glsl"
#include "lib/tile.glsl"
#include "lib/half.glsl"

#if COUNTED
#define MAIN_OUT(n)
layout(location = 0) out vec4 counted;
#else
#define MAIN_OUT(n) layout(location = n) out
#endif
#if OUTPUTS
#unroll n 0 OUTPUTS
MAIN_OUT($n) o$(n)_TEXEL o$n;
#endunroll
#else
#unroll n 0 ROWS*COLS
MAIN_OUT($n) o0_TEXEL layer$n;
#endunroll
uniform int grid_width, first_cell;
#endif

#include $KERNEL

#if EPILOGUE
#include "lib/expression.glsl"
#endif

#if OUTPUTS
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy);
  point(p);
#if EPILOGUE
  o0 = expression(p, p.y * o_layout.x + p.x, o0);
#endif
#unroll n 0 OUTPUTS
#ifdef o$(n)_HALF
  o$n = to_half(o$n);
#endif
#endunroll
#if COUNTED
  counted = vec4(float(fetched), 0.0, 0.0, 0.0);
#endif
}
#else
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy);
  ivec3 at = cell(p.y * grid_width + p.x + first_cell);
  at.x = min(at.x, view.x - 1);  // cells beyond the last repeat it; nobody gathers them
  o0_TEXEL acc[ROWS * COLS];
  tile(at.x, at.y, at.z, acc);
#unroll n 0 ROWS*COLS
  layer$n = acc[$n];
#endunroll
#if EPILOGUE
  layer0 = expression(p, p.y * grid_width + p.x, layer0);  // a 1 x 1 tile; larger ones leave it to the gather pass
#endif
#ifdef o0_HALF
#unroll n 0 ROWS*COLS
  layer$n = to_half(layer$n);
#endunroll
#endif
#if COUNTED
  counted = vec4(float(fetched), 0.0, 0.0, 0.0);
#endif
}
#endif
