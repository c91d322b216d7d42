// max_pool2d.glsl for disjoint windows of KY x KX pixels without padding, whose addresses need few divisions.
//
// Input: x (N, H, W, C). With PICK 1 also u, of x's shape and layout: the result is u where x is largest.
// Output: o0 (N, OH, OW, C). Uniforms: as in lib/window.glsl. The rows of an image lie whole in lines of x's texture.
#include "lib/disjoint.glsl"
#include "lib/numeric.glsl"
#include "lib/window.glsl"

#default PICK 0

uniform x_SAMPLER x;
uniform ivec4 x_layout;
#if PICK
uniform u_SAMPLER u;
uniform ivec4 u_layout;
#endif

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int columns = o_layout.y, row_texels = image.y * columns;
  int pixel = quotient(t, columns), line = quotient(pixel, result.y), item = quotient(line, result.x);
  int column = t - pixel * columns, ox = pixel - line * result.y, oy = line - item * result.x;
  ivec2 q0 = address(x_layout, (item * image.x + oy * KY) * row_texels + ox * KX * columns + column);
#unroll y 1 KY
  ivec2 q$y = below(q$(y-1), x_layout, row_texels);
#endunroll
  vec4 best = fetch(x, q0);
#if PICK
  vec4 picked = fetch(u, q0);
#endif
#unroll y 0 KY
#unroll x 0 KX
#if $x + $y > 0
  {
    vec4 v = fetch(x, q$y + ivec2($x * columns, 0));
#if PICK
    vec4 other = fetch(u, q$y + ivec2($x * columns, 0));
#endif
#unroll lane 0 4
    if (v[$lane] > best[$lane] || is_nan(v[$lane]) && !is_nan(best[$lane])) {
      best[$lane] = v[$lane];
#if PICK
      picked[$lane] = other[$lane];
#endif
    }
#endunroll
  }
#endif
#endunroll
#endunroll
#if PICK
  o0 = picked;
#else
  o0 = best;
#endif
}
