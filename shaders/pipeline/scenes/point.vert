#version 330 core
in vec4 position;
in vec4 tint;
out vec4 smooth_color;
void main() {
  gl_Position = position;
  gl_PointSize = 1.0 + 20.0 * tint.a;
  smooth_color = tint;
}
