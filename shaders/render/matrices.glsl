// Reading the matrices that the kernel scene_matrices computed, and matrices (count, 4, 4) of the caller.
#include "lib/tensor.glsl"
#include "lib/transform.glsl"

uniform sampler2D matrices;  // (slots, 8, 4): a line of eight texels for each node and camera

// Rows `first` to `first` + 2 of a slot; the last row of these matrices is (0, 0, 0, 1).
mat4 affine_of(int slot, int first) {
  return transpose(mat4(fetch(matrices, ivec2(first, slot)), fetch(matrices, ivec2(first + 1, slot)),
    fetch(matrices, ivec2(first + 2, slot)), vec4(0.0, 0.0, 0.0, 1.0)));
}

mat4 world_matrix(int node) { return affine_of(node, 0); }
mat3 node_normal_matrix(int node) { return mat3(affine_of(node, 4)); }
mat4 view_projection(int view) {
  return transpose(mat4(fetch(matrices, ivec2(0, view)), fetch(matrices, ivec2(1, view)), fetch(matrices, ivec2(2, view)),
    fetch(matrices, ivec2(3, view))));
}

mat4 matrix_of(sampler2D s, ivec4 layout_, int row) {
  return transpose(mat4(texel(s, layout_, row, 0), texel(s, layout_, row + 1, 0), texel(s, layout_, row + 2, 0),
    texel(s, layout_, row + 3, 0)));
}
