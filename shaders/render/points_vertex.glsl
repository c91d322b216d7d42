// Vertex stage of points: squares of a size in pixels, or in units of the world.
//
// Inputs: positions (count, 3 or 4), colors (count, 3 or 4) with COLORS. Uniforms: node, view, viewport, size, world_size 1:
// the size is in the world's units.
#include "render/matrices.glsl"
#default COLORS 0

uniform sampler2D positions;
uniform ivec4 positions_layout;
#if COLORS
uniform sampler2D colors;
uniform ivec4 colors_layout;
#endif
uniform int node, view;
uniform vec2 viewport;
uniform float size, world_size;

out vec4 v_color;
flat out int v_index;
out vec3 v_position;

void main() {
  vec4 position = transform(world_matrix(node), vec4(texel(positions, positions_layout, gl_VertexID, 0).xyz, 1.0));
  gl_Position = transform(view_projection(view), position);
  v_position = position.xyz;
  v_index = gl_VertexID;
#if COLORS
  v_color = texel(colors, colors_layout, gl_VertexID, 0);
  if (colors_layout.w == 3) v_color.a = 1.0;
#else
  v_color = vec4(1.0);
#endif
  float scale_ = 1.0;
  if (world_size > 0.5) {  // length of the image of a world unit, in pixels
    mat4 v = view_projection(view);
    scale_ = 0.5 * viewport.y * length(vec3(v[0].y, v[1].y, v[2].y)) / gl_Position.w;
  }
  gl_PointSize = max(size * scale_, 1.0);
}
