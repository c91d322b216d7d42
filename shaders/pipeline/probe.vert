// Draws figures given in normalised device coordinates, to find out how a device rasterises.
in vec2 position;
uniform float lean;
centroid out float w;
void main() {
  w = 1.0 + lean * position.x;
  gl_Position = vec4(position, 0.5 * position.x, 1.0) * w;
  gl_PointSize = 5.0;
}
