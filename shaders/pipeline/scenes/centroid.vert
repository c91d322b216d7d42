#version 330 core
// Clip-space positions with a colour, taken where the primitive covers the pixel; window-linear besides.
in vec4 position;
in vec4 tint;
centroid out vec4 curved;
noperspective centroid out vec4 straight;
void main() {
  gl_Position = position;
  curved = straight = tint;
}
