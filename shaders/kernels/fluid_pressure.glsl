// One step of Jacobi's method for the pressure, or with PROJECT 1 the velocity less its gradient: what is left has no sources.
// Inputs: pressure (x), velocity (x, y), (H, W, 4). Uniforms: size. Output: o0.
#default PROJECT 0

uniform pressure_SAMPLER pressure;
uniform ivec4 pressure_layout;
uniform velocity_SAMPLER velocity;
uniform ivec4 velocity_layout;
uniform vec2 size;

int row(ivec2 p) {
  ivec2 q = clamp(p, ivec2(0), ivec2(size) - 1);
  return q.y * int(size.x) + q.x;
}
float p_at(ivec2 p) { return texel(pressure, pressure_layout, row(p), 0).x; }
vec2 v_at(ivec2 p) {
  vec2 v = texel(velocity, velocity_layout, row(p), 0).xy;
  return p.x < 0 || p.y < 0 || p.x >= int(size.x) || p.y >= int(size.y) ? -v : v;  // a wall
}

void point(ivec2 p) {
  ivec2 x = ivec2(1, 0), y = ivec2(0, 1);
#if PROJECT
  vec2 gradient = 0.5 * vec2(p_at(p + x) - p_at(p - x), p_at(p + y) - p_at(p - y));
  o0 = vec4(texel(velocity, velocity_layout, row(p), 0).xy - gradient, 0.0, 0.0);
#else
  float divergence = 0.5 * (v_at(p + x).x - v_at(p - x).x + v_at(p + y).y - v_at(p - y).y);
  o0 = vec4(0.25 * (p_at(p + x) + p_at(p - x) + p_at(p + y) + p_at(p - y) - divergence), 0.0, 0.0, 0.0);
#endif
}
