// Draws figures given in normalised device coordinates, to find out how a device rasterises.
// CLIPS 1: distances that keep the right half, for devices that may cut though nobody enabled them.
#default CLIPS 0
in vec2 position;
uniform float lean;
centroid out float w;
#if CLIPS
out float gl_ClipDistance[1];
#endif
void main() {
  w = 1.0 + lean * position.x;
  gl_Position = vec4(position, 0.5 * position.x, 1.0) * w;
#if CLIPS
  gl_ClipDistance[0] = position.x;
#endif
  gl_PointSize = 5.0;
}
