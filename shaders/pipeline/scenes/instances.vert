#version 330 core
in vec2 corner;
in vec3 place;
in vec4 tint;
uniform float aspect;
out vec4 smooth_color;
void main() {
  float angle = float(gl_InstanceID) * 0.7 + float(gl_VertexID) * 0.01;
  mat2 turn = mat2(cos(angle), sin(angle), -sin(angle), cos(angle));
  gl_Position = vec4((turn * corner * place.z + place.xy) * vec2(1.0, aspect), 0.1 * float(gl_InstanceID), 1.0);
  smooth_color = tint;
}
