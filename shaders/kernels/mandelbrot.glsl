// The Mandelbrot set: how many steps of z = z^2 + c it takes to leave a circle, smoothed, as a colour.
// Uniforms: centre, span (height of the picture in the plane), size (width, height), steps.

uniform vec2 centre, size;
uniform float span;
uniform int steps;

void point(ivec2 p) {
  vec2 c = centre + (vec2(p) + 0.5 - 0.5 * size) * vec2(1.0, -1.0) * span / size.y;
  vec2 z = vec2(0.0);
  int n = 0;
  for (; n < steps; n++) {
    z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    if (dot(z, z) > 256.0) break;
  }
  if (n >= steps) {
    o0 = vec4(0.0, 0.0, 0.0, 1.0);
    return;
  }
  float smooth_ = float(n) + 1.0 - log2(0.5 * log2(dot(z, z)));
  vec3 hue = 0.5 + 0.5 * cos(vec3(3.0, 3.6, 4.3) + 0.14 * smooth_);
  o0 = vec4(hue * hue, 1.0);
}
