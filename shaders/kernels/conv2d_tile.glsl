// Convolution and its gradient with respect to its input, a tile of ROWS neighbouring pixels x (4 COLS) channels at a
// time, for one group of channels (conv2d.glsl and conv2d_input_grad.glsl take any).
//
// Inputs: x, the images that are read (of a gradient: the result's gradient); w (KH, KW, C_in, C_out).
// Output: images, seen as (N * height, width, texels of channels).
// A step takes four channels of one row of the window. The pixels of x slide through registers, so that each is
// fetched once for all taps of the row; each tap is a mat4,
//   acc += mat4 w * vec4 x.
// The texels of one row of an image must be neighbours in one line of x's texture, and those of one tap (its C_in rows)
// in one line of w's, unless each row of w has a line of its own.
//
// Options: GRADIENT   1: the output is the gradient of the input, x that of the result, and w is transposed
//          UP, DOWN, TAP, OFFSET  tap k of the tile's output pixel i is pixel n / DOWN, n = i * UP + OFFSET + k * TAP,
//                     of the SPAN pixels of x that the tile reads; there is none where DOWN does not divide n
//          LEFT       the first of the SPAN pixels is column (output column * UP / DOWN) - LEFT of x
//          SAFE       those from LEFT to SAFE - 1 lie within x in every tile
//          WHOLE      1: one tile takes the whole row, so that the others lie outside in every tile
//          KW         columns of the window
//          IN_TAIL    channels in the last texel of a pixel of x, the others are left out; 0: all
//          ONLY_TAIL  1: there is no other texel
//          OUT_TAIL   the same of the output, the others are written as zero
//          PAIRS      1: windows of three neighbouring columns, two pixels of the output at a time: F(2, 3) of S. Winograd,
//                     four products instead of six for each row of taps, of differences and sums of pixels and of
//                     weights. Each pair has four sums, which make its pixels at the end. An infinity may become NaN.
// Uniforms: as in lib/window.glsl; in_each (C_in), steps (texels of a pixel of x).
#include "lib/cursor.glsl"
#include "lib/window.glsl"

#require GRADIENT
#require UP
#require DOWN
#require TAP
#require OFFSET
#require LEFT
#require SPAN
#require SAFE
#require WHOLE
#require KW
#require IN_TAIL
#require ONLY_TAIL
#require OUT_TAIL
#require PAIRS

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform w_SAMPLER w;
uniform ivec4 w_layout;
uniform int in_each, steps;

#if GRADIENT
#define HEIGHT image.x
#define X_SIZE result
#else
#define HEIGHT result.x
#define X_SIZE image
#endif

#if OUT_TAIL
#define KEPT(value, column) keep(value, lanes(o_layout, column))
#else
#define KEPT(value, column) value
#endif

// The address of row `row` of w, where whole taps lie in a line; what moves a cursor n rows on.
#if w_LINES == 1
ivec2 w_address(int row) { return ivec2(0, row); }
#define ROW_STEP step_y(w, 1)
#define MOVED_ROWS MOVED_Y
#else
ivec2 w_address(int row) {
  int line = quotient(row, w_layout.z);
  return ivec2((row - line * w_layout.z) * w_layout.y, line);
}
#define ROW_STEP step_x(w, w_layout.y)
#define MOVED_ROWS MOVED_X
#endif

void tile(int group, int row, int column, out vec4 acc[ROWS * COLS]) {
#unroll i 0 ROWS*COLS*(1+PAIRS)
  vec4 s$i = vec4(0.0);
#endunroll
  int item = quotient(group, HEIGHT);
  int y = group - item * HEIGHT;
#if WHOLE
  const int first_x = -LEFT;
#else
  int first_x = row * UP / DOWN - LEFT;
#endif
  // Rows of the window that read rows of x: [ky, ky_end).
#if GRADIENT
  y += border.x;
  int ky = quotient(max(y - (result.x - 1) * stride.x, 0) + dilation.x - 1, dilation.x);
  int ky_end = min(quotient(y, dilation.x) + 1, window.x);
#else
  y = y * stride.x - border.x;
  int ky = quotient(max(-y, 0) + dilation.x - 1, dilation.x);
  int ky_end = y < image.x ? min(quotient(image.x - 1 - y, dilation.x) + 1, window.x) : 0;
#endif
  STEP x_pixel = step_x(x, x_layout.y), x_texel = step_x(x, 1);
  STEP w_row = ROW_STEP, w_texel = step_x(w, 1);

  for (; ky < ky_end; ky++) {
#if GRADIENT
    int from = y - ky * dilation.x;
    int read_y = quotient(from, stride.x);
    if (read_y * stride.x != from) continue;
#else
    int read_y = y + ky * dilation.x;
#endif
    int at = (item * X_SIZE.x + read_y) * X_SIZE.y * x_layout.y;
    int line = quotient(at, x_layout.x);
    CURSOR pixels = cursor_at(x, ivec2(at - line * x_layout.x + first_x * x_layout.y, line));
#unroll k 0 KW
    ivec2 tap$k = w_address((ky * KW + $k) * in_each);
#unroll m 0 COLS
#if GRADIENT
    CURSOR tap$(k)_$m = cursor_at(w, tap$k);
#else
    CURSOR tap$(k)_$m = cursor_at(w, tap$k + ivec2(min(column + $m, w_layout.y - 1), 0));
#endif
#endunroll
#endunroll
#unroll tail ONLY_TAIL 1+(IN_TAIL+3)/4
#if $tail == 0
    for (int c = 0; c < steps - (IN_TAIL > 0 ? 1 : 0); c++) {
#else
    {
      int c = steps - 1;
#endif
      CURSOR texels = MOVED_X(pixels, c, x_texel);
#unroll j 0 SPAN
#if $j >= LEFT && $j < SAFE
      vec4 x$j = read(x, MOVED_X(texels, $j, x_pixel));
#elif !WHOLE
      vec4 x$j = read(x, MOVED_X(texels, $j, x_pixel));
      if (first_x + $j < 0 || first_x + $j >= X_SIZE.y) x$j = vec4(0.0);
#elif PAIRS
      const vec4 x$j = vec4(0.0);
#endif
#endunroll
#unroll k 0 KW
#unroll m 0 COLS
#if GRADIENT
#unroll q 0 4
      vec4 t$(k)_$(m)_$q = read(w, MOVED_X(MOVED_ROWS(tap$(k)_$m, min(4 * (column + $m) + $q, in_each - 1), w_row), c, w_texel));
#endunroll
#unroll q 0 4-tail*(4-IN_TAIL)
      vec4 w$(k)_$(m)_$q = vec4(t$(k)_$(m)_0[$q], t$(k)_$(m)_1[$q], t$(k)_$(m)_2[$q], t$(k)_$(m)_3[$q]);
#endunroll
#else
      CURSOR row$(k)_$m = MOVED_ROWS(tap$(k)_$m, 4 * c, w_row);
#unroll q 0 4-tail*(4-IN_TAIL)
      vec4 w$(k)_$(m)_$q = read(w, MOVED_ROWS(row$(k)_$m, $q, w_row));
#endunroll
#endif
#endunroll
#if !PAIRS
#unroll i 0 ROWS
#unroll j (i*UP+OFFSET+k*TAP)/DOWN (i*UP+OFFSET+k*TAP)/DOWN+1
#if $(j*DOWN) == $(i*UP+OFFSET+k*TAP) && (!WHOLE || $j >= LEFT && $j < SAFE)
#unroll m 0 COLS
#unroll q 0 4-tail*(4-IN_TAIL)
      s$(i*COLS+m) += x$j[$q] * w$(k)_$(m)_$q;
#endunroll
#endunroll
#endif
#endunroll
#endunroll
#endif
#endunroll
#if PAIRS
#unroll m 0 COLS
#unroll q 0 4-tail*(4-IN_TAIL)
      vec4 outer$(m)_$q = w0_$(m)_$q + w2_$(m)_$q;
      vec4 p0_$(m)_$q = w$(1-TAP)_$(m)_$q, p1_$(m)_$q = outer$(m)_$q + w1_$(m)_$q;
      vec4 p2_$(m)_$q = outer$(m)_$q - w1_$(m)_$q, p3_$(m)_$q = w$(1+TAP)_$(m)_$q;
#endunroll
#endunroll
#unroll n 0 4
#unroll i 0 ROWS/2
#unroll j 2*i+OFFSET+TAP-1 2*i+OFFSET+TAP
#if $n == 0
      vec4 d$(i)_$n = x$j - x$(j+2);
#elif $n == 1
      vec4 d$(i)_$n = x$(j+1) + x$(j+2);
#elif $n == 2
      vec4 d$(i)_$n = x$(j+2) - x$(j+1);
#else
      vec4 d$(i)_$n = x$(j+1) - x$(j+3);
#endif
#unroll m 0 COLS
#unroll q 0 4-tail*(4-IN_TAIL)
      s$(4*(i*COLS+m)+n) += d$(i)_$n[$q] * p$(n)_$(m)_$q;
#endunroll
#endunroll
#endunroll
#endunroll
#endunroll
#endif
    }
#endunroll
  }
#if PAIRS
#unroll i 0 ROWS/2
#unroll m 0 COLS
#unroll n 4*(i*COLS+m) 4*(i*COLS+m)+1
  acc[$(2*i*COLS+m)] = KEPT(s$n + 0.5 * (s$(n+1) + s$(n+2)), column + $m);
  acc[$((2*i+1)*COLS+m)] = KEPT(0.5 * (s$(n+1) - s$(n+2)) - s$(n+3), column + $m);
#endunroll
#endunroll
#endunroll
#else
#unroll i 0 ROWS*COLS
  acc[$i] = KEPT(s$i, column + $(i%COLS));
#endunroll
#endif
}
