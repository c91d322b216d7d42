#version 330 core
// Two lights, a soft highlight, and the mesh's own layer of the pictures.
uniform sampler2DArray pictures;
uniform vec3 eye;
uniform vec3 sun, side;

in vec3 world;
in vec3 outward;
in vec2 coordinate;
in vec3 color;
flat in int picture;

out vec4 shown;

vec3 lit(vec3 from, vec3 light, vec3 n, vec3 base) {
  vec3 l = normalize(from - world), h = normalize(l + normalize(eye - world));
  float facing = max(dot(n, l), 0.0);
  return light * (base * facing + 0.25 * pow(max(dot(n, h), 0.0), 24.0) * step(0.0, dot(n, l)));
}

void main() {
  vec3 n = normalize(outward) * (gl_FrontFacing ? 1.0 : -1.0);
  vec3 base = color * texture(pictures, vec3(coordinate, float(picture))).rgb;
  shown = vec4(0.12 * base + lit(sun, vec3(1.0, 0.95, 0.85), n, base) + lit(side, vec3(0.2, 0.25, 0.35), n, base), 1.0);
}
