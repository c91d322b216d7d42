// Reading the matrices that the kernel scene_matrices computed, and matrices (count, 4, 4) of the caller.
#include "lib/tensor.glsl"
#include "lib/transform.glsl"

uniform sampler2D matrices;
uniform ivec4 matrices_layout;

mat4 matrix_of(sampler2D s, ivec4 layout_, int row) {
  return transpose(mat4(texel(s, layout_, row, 0), texel(s, layout_, row + 1, 0), texel(s, layout_, row + 2, 0),
    texel(s, layout_, row + 3, 0)));
}

mat4 world_matrix(int node) { return matrix_of(matrices, matrices_layout, 8 * node); }
mat3 node_normal_matrix(int node) { return mat3(matrix_of(matrices, matrices_layout, 8 * node + 4)); }
mat4 view_projection(int view) { return matrix_of(matrices, matrices_layout, 8 * view); }
