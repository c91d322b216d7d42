// Fragment stage of points and lines: one colour, fog as for meshes.
//
// Options: ROUND 1: points are discs; IDS as in mesh_fragment.glsl.
#include "render/color.glsl"
#default ROUND 0
#default IDS 0
#default FOG 0

in vec4 v_color;
flat in int v_index;
in vec3 v_position;

layout(location = 0) out vec4 out_color;
#if IDS
layout(location = 1) out vec4 out_normal;
layout(location = 2) out vec4 out_position;
layout(location = 3) out ivec4 out_ids;
uniform int object_id;
#endif
uniform vec4 base_color;
uniform vec3 eye, forward;
#if FOG
uniform vec4 fog_color;
uniform vec2 fog_range;
#endif

void main() {
#if ROUND
  vec2 d = gl_PointCoord * 2.0 - 1.0;
  if (dot(d, d) > 1.0) discard;
#endif
  vec4 color = base_color * v_color;
#if FOG
  float distance_ = length(eye - v_position);
#if FOG == 1
  float clear = exp(-fog_color.a * fog_color.a * distance_ * distance_);
#else
  float clear = clamp((fog_range.y - distance_) / (fog_range.y - fog_range.x), 0.0, 1.0);
#endif
  color.rgb = mix(fog_color.rgb, color.rgb, clear);
#endif
  out_color = vec4(displayed(color.rgb), color.a);
#if IDS
  out_normal = vec4(forward * -1.0, 0.0);
  out_position = vec4(v_position, dot(v_position - eye, forward));
  out_ids = ivec4(object_id, v_index, 0, 0);
#endif
}
