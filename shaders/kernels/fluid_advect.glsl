// Carries a field along a velocity, backwards in time (J. Stam, "Stable fluids", 1999), and stirs in colour.
// Inputs: field, velocity, (H, W, 4). Uniforms: size (width, height), dt (pixels for a unit of velocity), fade; up to 2
// sources: source (x, y, radius, strength) and what each adds, source_value. Output: o0.

uniform field_SAMPLER field;
uniform ivec4 field_layout;
uniform velocity_SAMPLER velocity;
uniform ivec4 velocity_layout;
uniform vec2 size;
uniform float dt, fade;
uniform vec4 source[2], source_value[2];

vec4 at(ivec2 p) {
  ivec2 q = clamp(p, ivec2(0), ivec2(size) - 1);
  return texel(field, field_layout, q.y * int(size.x) + q.x, 0);
}

void point(ivec2 p) {
  vec2 v = texel(velocity, velocity_layout, p.y * int(size.x) + p.x, 0).xy;
  vec2 from = vec2(p) - dt * v;
  vec2 base = floor(from), f = from - base;
  ivec2 b = ivec2(base);
  o0 = fade * mix(mix(at(b), at(b + ivec2(1, 0)), f.x), mix(at(b + ivec2(0, 1)), at(b + ivec2(1, 1)), f.x), f.y);
  for (int i = 0; i < 2; i++) {
    vec2 d = vec2(p) - source[i].xy;
    o0 += source_value[i] * source[i].w * exp(-dot(d, d) / (source[i].z * source[i].z));
  }
}
