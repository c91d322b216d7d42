// What arrives at a point from each light, as functions arriving0, arriving1, ...
//
// Options: LIGHTS; for light N: LIGHTN_KIND 0 directional, 1 point, 2 spot; LIGHTN_RANGED 1: it ends at its range;
// LIGHTN_SHADOW: its shadow map, -1 for none; SHADOWS maps. What a light is, is a define, since software renderers would
// compute every branch. An intensity of 1 lights a white surface that faces the light fully (1 unit away from a point or spot
// light), so that pi is nowhere.
// Uniforms: light_position, light_direction (xyz towards which it shines, cosine of the outer angle), light_color (rgb,
// range), light_inner (cosine of the inner angle).
#default LIGHTS 0
#default SHADOWS 0

#if LIGHTS
uniform vec3 light_position[LIGHTS];
uniform vec4 light_direction[LIGHTS], light_color[LIGHTS];
uniform float light_inner[LIGHTS];
#endif

#if SHADOWS
precision highp sampler2DShadow;
#unroll i 0 SHADOWS
uniform sampler2DShadow shadow_map$i;
in vec4 v_shadow$i;
#endunroll

// Lit part of nine neighbouring texels, each compared and interpolated by the sampler; lit outside the map.
float lit(sampler2DShadow map, vec4 at) {
  vec3 p = at.xyz / at.w * 0.5 + 0.5;
  if (at.w <= 0.0 || p.z > 1.0 || any(lessThan(p.xy, vec2(0.0))) || any(greaterThan(p.xy, vec2(1.0)))) return 1.0;
  vec2 texel_ = 1.0 / vec2(textureSize(map, 0));
  float sum = 0.0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) sum += textureLod(map, vec3(p.xy + vec2(x, y) * texel_, p.z), 0.0);
  return sum / 9.0;
}
#endif

#unroll i 0 LIGHTS
// Direction to the light from position, and its colour there.
vec3 arriving$i(vec3 position, out vec3 to_light) {
  vec3 light = light_color[$i].rgb;
#if LIGHT$(i)_KIND == 0
  to_light = -light_direction[$i].xyz;
#else
  vec3 d = light_position[$i] - position;
  float square = max(dot(d, d), 1e-6);
  to_light = d * inversesqrt(square);
  light /= square;
#if LIGHT$(i)_RANGED
  // Fades to nothing at its range, as glTF's KHR_lights_punctual recommends.
  float q = square / (light_color[$i].a * light_color[$i].a);
  light *= clamp(1.0 - q * q, 0.0, 1.0);
#endif
#if LIGHT$(i)_KIND == 2
  float outer = light_direction[$i].a;
  float t = clamp((dot(-to_light, light_direction[$i].xyz) - outer) / max(light_inner[$i] - outer, 1e-4), 0.0, 1.0);
  light *= t * t;
#endif
#endif
#unroll s 0 SHADOWS
#if LIGHT$(i)_SHADOW == $s
  light *= lit(shadow_map$s, v_shadow$s);
#endif
#endunroll
  return light;
}
#endunroll
