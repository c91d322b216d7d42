#version 330 core
// Clip-space positions with a colour; flat and window-linear copies of it besides.
in vec4 position;
in vec4 tint;
out vec4 smooth_color;
flat out vec4 flat_color;
noperspective out vec4 straight_color;
void main() {
  gl_Position = position;
  smooth_color = tint;
  flat_color = tint;
  straight_color = tint;
}
