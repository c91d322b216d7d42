// Light from all around: a picture in equirectangular projection, in layers from sharp to blurred, and its irradiance.
//
// Uniforms: environment_map (layers: roughness 0 to 1), irradiance: nine spherical harmonics, already convolved with the
// cosine (R. Ramamoorthi and P. Hanrahan, 2001), divided by pi; environment_layers, environment_intensity.
precision highp sampler2DArray;

uniform sampler2DArray environment_map;
uniform vec3 irradiance[9];
uniform float environment_layers, environment_intensity;

vec2 equirectangular(vec3 d) {
  return vec2(0.5 + atan(d.x, -d.z) * 0.15915494, acos(clamp(d.y, -1.0, 1.0)) * 0.31830989);
}

vec3 environment_at(vec3 direction, float roughness) {
  float layer = clamp(roughness, 0.0, 1.0) * (environment_layers - 1.0);
  vec2 at = equirectangular(normalize(direction));
  vec3 a = textureLod(environment_map, vec3(at, floor(layer)), 0.0).rgb;
  vec3 b = textureLod(environment_map, vec3(at, min(floor(layer) + 1.0, environment_layers - 1.0)), 0.0).rgb;
  return environment_intensity * mix(a, b, fract(layer));
}

vec3 irradiance_at(vec3 n) {
  return environment_intensity * max(vec3(0.0), irradiance[0] + irradiance[1] * n.y + irradiance[2] * n.z + irradiance[3] * n.x
    + irradiance[4] * (n.x * n.y) + irradiance[5] * (n.y * n.z) + irradiance[6] * (3.0 * n.z * n.z - 1.0)
    + irradiance[7] * (n.x * n.z) + irradiance[8] * (n.x * n.x - n.y * n.y));
}
