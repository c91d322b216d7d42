// The gradient of a convolution with respect to its weights, for one group of channels: a tile is TAPS neighbouring taps
// of one row of the window x LANES input channels x (4 COLS) output channels, summed over a share of the batch.
//
// Inputs: x (N, H, W, C_in); g (N, OH, OW, C_out), the gradient of the result.
// Output: partial sums, seen as (shares * KH, rows, texels of C_out); row ((c * BLOCKS + b) * TAPS + k) * LANES + q is
// input channel LANES * c + q at tap TAPS * b + k. conv2d_weight_grad_sum.glsl adds the shares and puts rows in order.
// A step takes UNIT windows of one row of the result. Pixels slide through registers: each is fetched once for all taps,
//   acc += outer product of vec4 g and vec4 x.
// The texels of one row of an image must be neighbours in one line of the textures of x and g.
//
// Options: TAPS, LANES, BLOCKS, UNIT  see above; BLOCKS: of taps, in a row of the window
//          STRIDE, DILATION  along rows of images
//          SPAN     pixels of x that a step reads, from column STRIDE * (first window) + DILATION * (first tap) - border
//          SAFE_FROM, SAFE_TO  those from SAFE_FROM to SAFE_TO - 1 lie within x in every step
//          WHOLE    1: a step takes a whole row and a tile all taps, so that the others lie outside in every step
//          TAIL     1: the last step of a row starts among the windows of the one before, which it leaves out
// Uniforms: as in lib/window.glsl; a share is per_share batch items of `batch`, of them one of row_shares blocks of
// rows_per_share rows of the result.
#include "lib/cursor.glsl"
#include "lib/window.glsl"

#require TAPS
#require LANES
#require BLOCKS
#require UNIT
#require STRIDE
#require DILATION
#require SPAN
#require SAFE_FROM
#require SAFE_TO
#require WHOLE
#require TAIL

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform g_SAMPLER g;
uniform ivec4 g_layout;
uniform int batch, per_share, row_shares, rows_per_share;

CURSOR line_at(sampler2D s, ivec4 layout_, int row, int size, int column) {
  int at = row * size * layout_.y;
  int line = quotient(at, layout_.x);
  return cursor_at(s, ivec2(at - line * layout_.x + column, line));
}

void tile(int group, int row, int column, out vec4 acc[ROWS * COLS]) {
#unroll i 0 ROWS*COLS
  vec4 s$i = vec4(0.0);
#endunroll
  int share = quotient(group, window.x), ky = group - share * window.x;
  int block = row / (TAPS * LANES), channels = block / BLOCKS;
  int first_x = (block - channels * BLOCKS) * (TAPS * DILATION) - border.y;
  channels = min(channels, x_layout.y - 1);
#unroll m 0 COLS
  int column$m = min(column + $m, g_layout.y - 1);
#endunroll
  STEP x_pixel = step_x(x, x_layout.y), g_pixel = step_x(g, g_layout.y);

  // Rows of the result whose row ky of the window lies within x: [first_y, end_y).
  int offset = ky * dilation.x - border.x;
  int first_y = quotient(max(-offset, 0) + stride.x - 1, stride.x);
  int end_y = offset < image.x ? min(quotient(image.x - 1 - offset, stride.x) + 1, result.x) : 0;
  int items = quotient(share, row_shares), first_row = (share - items * row_shares) * rows_per_share;
  first_y = max(first_y, first_row);
  end_y = min(end_y, first_row + rows_per_share);
  int n_end = min((items + 1) * per_share, batch);
  for (int n = items * per_share; n < n_end; n++) {
    for (int oy = first_y; oy < end_y; oy++) {
      CURSOR x_line = line_at(x, x_layout, n * image.x + oy * stride.x + offset, image.y, channels);
#unroll m 0 COLS
      CURSOR g_line$m = line_at(g, g_layout, n * result.x + oy, result.y, column$m);
#endunroll
#if WHOLE
      const int ox = 0;
#else
      for (int next = 0; next < result.y; next += UNIT) {
        int ox = min(next, result.y - UNIT);
#endif
      int from = first_x + ox * STRIDE;
      CURSOR pixels = MOVED_X(x_line, from, x_pixel);
#unroll j 0 SPAN
#if $j >= SAFE_FROM && $j < SAFE_TO
      vec4 x$j = read(x, MOVED_X(pixels, $j, x_pixel));
#elif !WHOLE
      vec4 x$j = read(x, MOVED_X(pixels, $j, x_pixel));
      if (from + $j < 0 || from + $j >= image.y) x$j = vec4(0.0);
#endif
#endunroll
#unroll m 0 COLS
#unroll u 0 UNIT
      vec4 g$(u)_$m = read(g, MOVED_X(g_line$m, ox + $u, g_pixel));
#if TAIL
      if (ox + $u < next) g$(u)_$m = vec4(0.0);
#endif
#endunroll
#endunroll
#unroll k 0 TAPS
#unroll m 0 COLS
#unroll q 0 LANES
#unroll u 0 UNIT
#unroll j u*STRIDE+k*DILATION u*STRIDE+k*DILATION+1
#if !WHOLE || $j >= SAFE_FROM && $j < SAFE_TO
      s$((k*LANES+q)*COLS+m) += x$j[$q] * g$(u)_$m;
#endif
#endunroll
#endunroll
#endunroll
#endunroll
#endunroll
#if !WHOLE
      }
#endif
    }
  }
#unroll i 0 ROWS*COLS
  acc[$i] = s$i;
#endunroll
}
