#version 330 core
in vec4 position;
in vec4 tint;
uniform vec4 plane;
out vec4 smooth_color;
out float gl_ClipDistance[2];
void main() {
  gl_Position = position;
  gl_ClipDistance[0] = dot(plane, position);
  gl_ClipDistance[1] = position.w - length(position.xy) * 0.8;
  smooth_color = tint;
}
