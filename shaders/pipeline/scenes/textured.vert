#version 330 core
in vec4 position;
in vec2 uv;
out vec2 at;
void main() {
  gl_Position = position;
  at = uv;
}
