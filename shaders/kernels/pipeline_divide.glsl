// Perspective divide: clip positions to normalised device coordinates x, y, z and 1/w (OpenGL 4.6, section 13.8).
uniform positions_SAMPLER positions;

void point(ivec2 p) {
  vec4 clip = fetch(positions, p);
  float inverse = 1.0 / clip.w;
  o0 = vec4(clip.xyz * inverse, inverse);
}
