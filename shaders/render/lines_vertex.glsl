// Vertex stage of lines: each segment is two triangles, `size` pixels wide on the screen.
//
// Inputs: positions (count, 3 or 4), colors with COLORS. Segment i joins points i * stride and i * stride + 1.
// Uniforms: node, view, viewport, size, stride.
#include "render/matrices.glsl"
#default COLORS 0

uniform sampler2D positions;
uniform ivec4 positions_layout;
#if COLORS
uniform sampler2D colors;
uniform ivec4 colors_layout;
#endif
uniform int node, view, stride;
uniform vec2 viewport;
uniform float size;

out vec4 v_color;
flat out int v_index;
out vec3 v_position;

void main() {
  int segment = gl_VertexID / 6, corner = gl_VertexID % 6;
  int end = corner == 0 || corner == 1 || corner == 3 ? 0 : 1;  // triangles 0 1 2 and 3 5 4, as a strip
  float side = corner == 0 || corner == 2 || corner == 4 ? -1.0 : 1.0;
  mat4 world = world_matrix(node), clip = view_projection(view);
  int first = segment * stride;
  vec4 p = transform(world, vec4(texel(positions, positions_layout, first, 0).xyz, 1.0));
  vec4 q = transform(world, vec4(texel(positions, positions_layout, first + 1, 0).xyz, 1.0));
  vec4 a = transform(clip, p), b = transform(clip, q);
  // An end behind the camera is moved to just before it.
  if (a.w < 1e-4 && b.w > 1e-4) a = mix(b, a, (b.w - 1e-4) / (b.w - a.w));
  if (b.w < 1e-4 && a.w > 1e-4) b = mix(a, b, (a.w - 1e-4) / (a.w - b.w));
  vec2 along = (b.xy / b.w - a.xy / a.w) * viewport;
  vec2 across = normalize(vec2(-along.y, along.x) + vec2(1e-9)) * side * size / viewport;
  gl_Position = end == 0 ? a : b;
  gl_Position.xy += across * gl_Position.w;
  v_position = end == 0 ? p.xyz : q.xyz;
  v_index = segment;
#if COLORS
  v_color = texel(colors, colors_layout, first + end, 0);
  if (colors_layout.w == 3) v_color.a = 1.0;
#else
  v_color = vec4(1.0);
#endif
}
