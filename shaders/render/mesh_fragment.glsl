// Fragment stage of meshes: the material.
//
// Options: SHADING 0 unlit, 1 Lambert, 2 Blinn-Phong, 3 metallic-roughness, 4 normals, 5 depth;
// MAP, NORMAL_MAP, EMISSIVE_MAP, ROUGHNESS_MAP, OCCLUSION_MAP: which textures there are (MAP: their channels, 1, 3 or 4;
// MAP_ENCODED: it holds sRGB that the sampler does not decode); ALPHA 0 opaque, 1 blended, 2 cut off;
// EMISSIVE: it glows; TWO_SIDED: seen from behind, too;
// FOG 0 none, 1 exponential, 2 linear; ENVIRONMENT; IDS: writes colour, normal, position and ids to four targets.
#include "lib/tensor.glsl"
#include "render/color.glsl"
#include "render/lights.glsl"

#require SHADING
#default UV 0
#default COLORS 0
#default INSTANCE_COLORS 0
#default MAP 0
#default MAP_ENCODED 0
#default NORMAL_MAP 0
#default EMISSIVE_MAP 0
#default ROUGHNESS_MAP 0
#default OCCLUSION_MAP 0
#default ALPHA 0
#default EMISSIVE 0
#default TWO_SIDED 0
#default FOG 0
#default ENVIRONMENT 0
#default IDS 0

in vec3 v_position;
in vec3 v_normal;
#if IDS
flat in int v_instance;
#endif
#if UV
in vec2 v_uv;
#endif
#if COLORS || INSTANCE_COLORS
in vec4 v_color;
#endif

layout(location = 0) out vec4 out_color;
#if IDS
layout(location = 1) out vec4 out_normal;
layout(location = 2) out vec4 out_position;
layout(location = 3) out ivec4 out_ids;
uniform int object_id;
#endif

uniform vec4 base_color;
uniform vec3 ambient, eye, emissive;
uniform vec3 forward;  // where the camera looks
uniform vec2 depth_range;
uniform float alpha_cutoff;
#if MAP
uniform sampler2D map;
#endif
#if NORMAL_MAP
uniform sampler2D normal_map;
uniform float normal_scale;
#endif
#if EMISSIVE_MAP
uniform sampler2D emissive_map;
#endif
#if ROUGHNESS_MAP
uniform sampler2D roughness_map;
#endif
#if OCCLUSION_MAP
uniform sampler2D occlusion_map;
#endif
#if SHADING == 2
uniform vec3 specular;
uniform float shininess;
#elif SHADING == 3
uniform float metallic, roughness;
#endif
#if FOG
uniform vec4 fog_color;  // and density
uniform vec2 fog_range;
#endif
#if ENVIRONMENT
#include "render/environment.glsl"
#endif

#if NORMAL_MAP
// The frame of the texture on the surface, from screen-space derivatives (C. Schueler, "Normal mapping without precomputed
// tangents", 2013): no tangents need to be stored.
vec3 bumped(vec3 n) {
  vec3 dp1 = dFdx(v_position), dp2 = dFdy(v_position);
  vec2 duv1 = dFdx(v_uv), duv2 = dFdy(v_uv);
  vec3 a = cross(dp2, n), b = cross(n, dp1);
  vec3 t = a * duv1.x + b * duv2.x, s = a * duv1.y + b * duv2.y;
  float size = inversesqrt(max(max(dot(t, t), dot(s, s)), 1e-20));
  vec3 m = texture(normal_map, v_uv).xyz * 2.0 - 1.0;
  float handed = dot(cross(dp1, dp2), n) < 0.0 ? -1.0 : 1.0;
  return normalize(t * (size * handed * m.x * normal_scale) - s * (size * handed * m.y * normal_scale) + n * m.z);
}
#endif

#if SHADING == 3
// Metallic-roughness as glTF 2.0 defines it (appendix B): Trowbridge-Reitz, height-correlated Smith, Schlick.
vec3 reflected(vec3 n, vec3 v, vec3 l, vec3 diffuse, vec3 f0, float alpha) {
  vec3 h = normalize(v + l);
  float nl = max(dot(n, l), 0.0), nv = max(dot(n, v), 1e-4), nh = max(dot(n, h), 0.0), vh = max(dot(v, h), 0.0);
  float a2 = alpha * alpha, d = nh * nh * (a2 - 1.0) + 1.0;
  vec3 f = f0 + (1.0 - f0) * pow(1.0 - vh, 5.0);
  float visible = 0.5 / max(nl * sqrt(nv * nv * (1.0 - a2) + a2) + nv * sqrt(nl * nl * (1.0 - a2) + a2), 1e-6);
  return nl * ((1.0 - f) * diffuse + f * (visible * a2 / max(d * d, 1e-9)));
}
// The same integrated over an even environment (B. Karis' fit, 2014).
vec3 reflected_around(vec3 f0, float rough, float nv) {
  vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
  return f0 * (-1.04 * a + r.z) + (1.04 * a + r.w);
}
#endif

void main() {
  vec4 base = base_color;
#if COLORS || INSTANCE_COLORS
  base *= v_color;
#endif
#if MAP
  vec4 sampled = texture(map, v_uv);
#if MAP == 1
  sampled = vec4(sampled.rrr, 1.0);
#elif MAP == 3
  sampled.a = 1.0;
#endif
#if MAP_ENCODED
  sampled.rgb = srgb_decode(sampled.rgb);
#endif
  base *= sampled;
#endif
#if ALPHA == 2
  if (base.a < alpha_cutoff) discard;
#endif
#if ALPHA != 1
  base.a = 1.0;
#endif
  vec3 n = normalize(v_normal);
  vec3 v = normalize(eye - v_position);
#if TWO_SIDED
  if (!gl_FrontFacing) n = -n;
#endif
#if NORMAL_MAP
  n = bumped(n);
#endif
  vec3 color = base.rgb;
  float occlusion = 1.0;
#if OCCLUSION_MAP
  occlusion = texture(occlusion_map, v_uv).r;
#endif
#if SHADING == 1 || SHADING == 2
  vec3 diffuse = ambient * occlusion, shine = vec3(0.0);
#unroll i 0 LIGHTS
  {
    vec3 l;
    vec3 light = arriving$i(v_position, l);
    float facing = dot(n, l);
    diffuse += light * max(facing, 0.0);
#if SHADING == 2
    if (facing > 0.0) shine += light * pow(max(dot(n, normalize(l + v)), 0.0), shininess);
#endif
  }
#endunroll
#if ENVIRONMENT
  diffuse += irradiance_at(n) * occlusion;
#endif
  color *= diffuse;
#if SHADING == 2
  color += specular * shine;
#endif
#elif SHADING == 3
  float metal = metallic, rough = roughness;
#if ROUGHNESS_MAP
  vec4 sheet = texture(roughness_map, v_uv);
  rough *= sheet.g;
  metal *= sheet.b;
#endif
  rough = clamp(rough, 0.045, 1.0);
  vec3 f0 = mix(vec3(0.04), base.rgb, metal), flat_color = base.rgb * (1.0 - metal);
  float nv = max(dot(n, v), 1e-4);
  color = (flat_color * ambient + f0 * ambient) * occlusion;
#unroll i 0 LIGHTS
  {
    vec3 l;
    vec3 light = arriving$i(v_position, l);
    color += light * reflected(n, v, l, flat_color, f0, rough * rough);
  }
#endunroll
#if ENVIRONMENT
  color += occlusion * (irradiance_at(n) * flat_color * (1.0 - f0)
    + environment_at(reflect(-v, n), rough) * reflected_around(f0, rough, nv));
#endif
#elif SHADING == 4
  color = srgb_decode(n * 0.5 + 0.5);
#elif SHADING == 5
  color = srgb_decode(vec3(1.0 - clamp((dot(v_position - eye, forward) - depth_range.x) / (depth_range.y - depth_range.x), 0.0, 1.0)));
#endif
#if SHADING < 4
#if EMISSIVE_MAP
  color += emissive * texture(emissive_map, v_uv).rgb;
#elif EMISSIVE
  color += emissive;
#endif
#if FOG
  float distance_ = length(eye - v_position);
#if FOG == 1
  float clear = exp(-fog_color.a * fog_color.a * distance_ * distance_);
#else
  float clear = clamp((fog_range.y - distance_) / (fog_range.y - fog_range.x), 0.0, 1.0);
#endif
  color = mix(fog_color.rgb, color, clear);
#endif
  color = displayed(color);
#elif ENCODE
  color = srgb_encode(color);
#endif
  out_color = vec4(color, base.a);
#if IDS
  out_normal = vec4(n, 0.0);
  out_position = vec4(v_position, dot(v_position - eye, forward));
#ifdef GL_ES
  out_ids = ivec4(object_id, 0, v_instance, 0);  // ES 3.00 does not number primitives
#else
  out_ids = ivec4(object_id, gl_PrimitiveID, v_instance, 0);
#endif
#endif
}
