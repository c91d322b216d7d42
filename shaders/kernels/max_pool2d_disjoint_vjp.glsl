// max_pool2d_vjp.glsl for disjoint windows of KY x KX pixels without padding, whose addresses need few divisions.
//
// Inputs: g (N, OH, OW, C), the gradient of the result; x (N, H, W, C). Output: (N, H, W, C).
// As a point kernel it finds the window of its texel. As a tile kernel it takes one texel of channels of a whole window, so
// that each pixel is fetched once; the windows then cover the image, the output is seen as (1, N * H, W * APART) in texels,
// and the KX columns of a tile lie APART apart.
// Uniforms: as in lib/window.glsl. The rows of an image lie whole in lines of x's texture.
#include "lib/disjoint.glsl"
#include "lib/numeric.glsl"
#include "lib/window.glsl"

uniform g_SAMPLER g;
uniform ivec4 g_layout;
uniform x_SAMPLER x;
uniform ivec4 x_layout;

// Number of the pixel of the window that is largest, lane by lane; qY is the address of the window's row y.
ivec4 largest(
#unroll y 0 KY
  ivec2 q$y,
#endunroll
  int columns) {
  vec4 best = fetch(x, q0);
  ivec4 chosen = ivec4(0);
#unroll y 0 KY
#unroll x 0 KX
#if $x + $y > 0
  {
    vec4 v = fetch(x, q$y + ivec2($x * columns, 0));
#unroll lane 0 4
    if (v[$lane] > best[$lane] || is_nan(v[$lane]) && !is_nan(best[$lane])) {
      best[$lane] = v[$lane];
      chosen[$lane] = $(y*KX+x);
    }
#endunroll
  }
#endif
#endunroll
#endunroll
  return chosen;
}

#if OUTPUTS
void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int columns = o_layout.y, row_texels = image.y * columns;
  int pixel = quotient(t, columns), line = quotient(pixel, image.y), item = quotient(line, image.x);
  int column = t - pixel * columns, ix = pixel - line * image.y, iy = line - item * image.x;
  int oy = iy / KY, ox = ix / KX;
  int mine = (iy - oy * KY) * KX + ix - ox * KX;
  if (oy >= result.x || ox >= result.y) {  // in the rest that no window covers
    o0 = vec4(0.0);
    return;
  }
  ivec2 q0 = address(x_layout, (item * image.x + oy * KY) * row_texels + ox * KX * columns + column);
#unroll y 1 KY
  ivec2 q$y = below(q$(y-1), x_layout, row_texels);
#endunroll
  ivec4 chosen = largest(
#unroll y 0 KY
    q$y,
#endunroll
    columns);
  vec4 v = fetch(g, address(g_layout, ((item * result.x + oy) * result.y + ox) * columns + column));
  o0 = keep(v, equal(chosen, ivec4(mine)));
}
#else
void tile(int group, int row, int column, out vec4 acc[ROWS * COLS]) {
  int row_texels = view.z, window = column / (KX * APART);
  ivec2 q0 = address(x_layout, row * row_texels + column);
#unroll y 1 KY
  ivec2 q$y = below(q$(y-1), x_layout, row_texels);
#endunroll
  ivec4 chosen = largest(
#unroll y 0 KY
    q$y,
#endunroll
    APART);
  int outer = row / KY * (row_texels / KX) + window * APART;
  vec4 v = fetch(g, address(g_layout, outer + column - window * (KX * APART)));
#unroll y 0 KY
#unroll x 0 KX
  acc[$y * COLS + $x] = keep(v, equal(chosen, ivec4($(y*KX+x))));
#endunroll
#endunroll
}
#endif
