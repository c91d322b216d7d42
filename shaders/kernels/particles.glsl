// Particles around two attractors: each texel is one. Inputs: position, velocity. Outputs: o0 position, o1 velocity, o2 colour.
// Uniforms: dt, attractor[2] (xyz, strength).

uniform position_SAMPLER position;
uniform ivec4 position_layout;
uniform velocity_SAMPLER velocity;
uniform ivec4 velocity_layout;
uniform float dt;
uniform vec4 attractor[2];

void point(ivec2 p) {
  vec3 x = fetch(position, p).xyz, v = fetch(velocity, p).xyz;
  for (int i = 0; i < 2; i++) {
    vec3 d = attractor[i].xyz - x;
    float square = dot(d, d) + 0.05;
    v += dt * attractor[i].w * d * inversesqrt(square) / square;
  }
  v *= 1.0 - 0.05 * dt;
  float speed = clamp(length(v) * 0.45, 0.0, 1.0);
  o0 = vec4(x + dt * v, 1.0);
  o1 = vec4(v, 0.0);
  o2 = vec4(mix(vec3(0.02, 0.1, 0.6), vec3(1.0, 0.28, 0.03), speed), 1.0);
}
