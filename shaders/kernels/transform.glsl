// One function of lib/transform.glsl for every row of its arguments.
//
// Inputs: x0, x1, ...: (count, components), or (count, 4, 4) for a matrix. Output: o0, RESULT rows of texels for each
// result: 4 for a mat4 (count, 4, 4), 3 for a mat3 (count, 3, 3), 1 for a vector (count, 3).
// Options: FUNCTION, ARGS; xN_KIND: 1 float, 3 vec3, 4 vec4, 16 mat4. Uniforms: xN_step: 0 where one serves all.
#include "lib/transform.glsl"

#require FUNCTION
#require ARGS
#require RESULT

#unroll n 0 ARGS
uniform x$(n)_SAMPLER x$n;
uniform ivec4 x$(n)_layout;
uniform int x$(n)_step;
#endunroll

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int i = t / RESULT;
#unroll n 0 ARGS
#if x$(n)_KIND == 16
  int r$n = i * x$(n)_step * 4;
  mat4 a$n = transpose(mat4(texel(x$n, x$(n)_layout, r$n, 0), texel(x$n, x$(n)_layout, r$n + 1, 0),
    texel(x$n, x$(n)_layout, r$n + 2, 0), texel(x$n, x$(n)_layout, r$n + 3, 0)));
#else
  vec4 v$n = texel(x$n, x$(n)_layout, i * x$(n)_step, 0);
#if x$(n)_KIND == 1
  float a$n = v$n.x;
#elif x$(n)_KIND == 3
  vec3 a$n = v$n.xyz;
#else
  vec4 a$n = v$n;
#endif
#endif
#endunroll
#if RESULT == 4
  mat4 found = transpose(FUNCTION(
#elif RESULT == 3
  mat3 found = transpose(FUNCTION(
#else
  o0 = vec4(FUNCTION(
#endif
#unroll n 0 1
    a$n
#endunroll
#unroll n 1 ARGS
    , a$n
#endunroll
#if RESULT == 1
  ), 0.0);
#else
  ));
  int row = t % RESULT;
#if RESULT == 4
  o0 = row == 0 ? found[0] : row == 1 ? found[1] : row == 2 ? found[2] : found[3];
#else
  o0 = vec4(row == 0 ? found[0] : row == 1 ? found[1] : found[2], 0.0);
#endif
#endif
}
