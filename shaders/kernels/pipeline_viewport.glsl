// Viewport transform: normalised device coordinates to the window's x, y and depth; 1/w stays (OpenGL 4.6, section 13.8.1).
//
// Uniforms: size and centre of the viewport and of the depth range, already halved and offset.
uniform ndc_SAMPLER ndc;
uniform vec3 size, centre;

void point(ivec2 p) {
  vec4 device = fetch(ndc, p);
  o0 = vec4(device.xyz * size + centre, device.w);
}
