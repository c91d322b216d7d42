// What a program of a few lines would use to draw a Phong-shaded mesh: matrices as uniforms.
in vec3 in_position;
in vec3 in_normal;
uniform mat4 model_view_projection, model;
uniform mat3 normals;
out vec3 v_normal;
out vec3 v_position;

void main() {
  v_position = (model * vec4(in_position, 1.0)).xyz;
  v_normal = normals * in_normal;
  gl_Position = model_view_projection * vec4(in_position, 1.0);
}
