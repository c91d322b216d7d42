// Draws figures given in normalised device coordinates, to find out how a device rasterises.
in vec2 position;
void main() {
  gl_Position = vec4(position, 0.5 * position.x, 1.0);
  gl_PointSize = 5.0;
}
