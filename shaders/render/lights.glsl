// What arrives at a point from each light.
//
// Options: LIGHTS; SHADOWS maps. Kinds: 0 directional, 1 point, 2 spot. An intensity of 1 lights a white surface that
// faces the light fully (1 unit away from a point or spot light), so that pi is nowhere.
// Uniforms: light_position (xyz, kind), light_direction (xyz towards which it shines, cosine of the outer angle),
// light_color (rgb, range: 0 endless), light_more (cosine of the inner angle, index of the shadow map or -1).
#default LIGHTS 0
#default SHADOWS 0

#if LIGHTS
uniform vec4 light_position[LIGHTS], light_direction[LIGHTS], light_color[LIGHTS];
uniform vec2 light_more[LIGHTS];
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

float shadow_of(float index) {
#unroll i 0 SHADOWS
  if (index == float($i)) return lit(shadow_map$i, v_shadow$i);
#endunroll
  return 1.0;
}

#if LIGHTS
// Direction to light i from position, and its colour there.
vec3 arriving(int i, vec3 position, out vec3 to_light) {
  vec4 from = light_position[i], aim = light_direction[i], color = light_color[i];
  vec3 light = color.rgb;
  if (from.w < 0.5) {
    to_light = -aim.xyz;
  } else {
    vec3 d = from.xyz - position;
    float square = max(dot(d, d), 1e-6);
    to_light = d * inversesqrt(square);
    light /= square;
    if (color.w > 0.0) {  // fades to nothing at its range, as glTF's KHR_lights_punctual recommends
      float q = square / (color.w * color.w);
      light *= clamp(1.0 - q * q, 0.0, 1.0);
    }
    if (from.w > 1.5) {
      float t = clamp((dot(-to_light, aim.xyz) - aim.w) / max(light_more[i].x - aim.w, 1e-4), 0.0, 1.0);
      light *= t * t;
    }
  }
  return light * shadow_of(light_more[i].y);
}
#endif
