// The world matrix of every node of a scene, and what its cameras need.
//
// Inputs: nodes (count, 3, 4): translation and parent (-1: none), quaternion, scale; views (cameras, 2, 4): node, kind
// (0 perspective, 1 orthographic), near, far; then fov_y and aspect, or left, right, bottom, top.
// Output: o0 (count + cameras, 8, 4), rows of matrices. Node: world matrix, three rows of the normal matrix, a row of
// zeros. Camera: view-projection, then view.
// Uniforms: count; crop: factors (x, y) and offsets (z, w) that the first camera's clip space is moved by, to draw a part of
// the picture, and to mirror it so that its first line is its top.
#include "lib/transform.glsl"

uniform nodes_SAMPLER nodes;
uniform ivec4 nodes_layout;
uniform views_SAMPLER views;
uniform ivec4 views_layout;
uniform int count;
uniform vec4 crop;

vec4 node_row(int node, int row) { return texel(nodes, nodes_layout, 3 * node + row, 0); }

mat4 world_of(int node) {
  vec4 first = node_row(node, 0);
  mat4 m = compose(first.xyz, node_row(node, 1), node_row(node, 2).xyz);
  for (int depth = 0; depth < count; depth++) {
    int parent = int(floor(first.w + 0.5));
    if (parent < 0) break;
    first = node_row(parent, 0);
    m = product(compose(first.xyz, node_row(parent, 1), node_row(parent, 2).xyz), m);
  }
  return m;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int slot = t / 8, row = t % 8;
  mat4 upper, lower;
  if (slot < count) {
    upper = world_of(slot);
    lower = mat4(normal_matrix(upper));
    lower[3] = vec4(0.0);
  } else {
    vec4 first = texel(views, views_layout, 2 * (slot - count), 0), box = texel(views, views_layout, 2 * (slot - count) + 1, 0);
    lower = view_of(world_of(int(first.x + 0.5)));
    mat4 projection = first.y < 0.5 ? perspective(box.x, box.y, first.z, first.w)
      : orthographic(box.x, box.y, box.z, box.w, first.z, first.w);
    upper = product(projection, lower);
    if (slot == count) {
      mat4 cut = scale(vec3(crop.xy, 1.0));
      cut[3].xy = crop.zw;
      upper = product(cut, upper);
    }
  }
  upper = transpose(upper);
  lower = transpose(lower);
  mat4 m = row < 4 ? upper : lower;
  int r = row % 4;
  o0 = r == 0 ? m[0] : r == 1 ? m[1] : r == 2 ? m[2] : m[3];
}
