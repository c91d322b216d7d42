// Vertex stage of meshes: to the world, by instances and joints where there are some, then to clip space.
//
// Options: UV, COLORS (vertex colours), INSTANCED, INSTANCE_COLORS, SKIN; SHADOWS: shadow maps that receive a coordinate;
// DEPTH_ONLY: nothing but the position; OUTLINE: pushes the surface outwards by `outline` pixels.
// Uniforms: node, view: slots of `matrices`; viewport: the picture's size in pixels.
#include "render/matrices.glsl"

#default UV 0
#default COLORS 0
#default INSTANCED 0
#default INSTANCE_COLORS 0
#default SKIN 0
#default SHADOWS 0
#default DEPTH_ONLY 0
#default OUTLINE 0
#default IDS 0

in vec3 in_position;
#if !DEPTH_ONLY
in vec3 in_normal;
out vec3 v_position;
out vec3 v_normal;
#if IDS
flat out int v_instance;
#endif
#endif
#if UV
in vec2 in_uv;
out vec2 v_uv;
#endif
#if COLORS
in vec4 in_color;
#endif
#if COLORS || INSTANCE_COLORS
out vec4 v_color;
#endif
#if INSTANCED
uniform sampler2D instances;
uniform ivec4 instances_layout;
#if INSTANCE_COLORS
uniform sampler2D instance_colors;
uniform ivec4 instance_colors_layout;
#endif
#endif
#if SKIN
in vec4 in_joints;
in vec4 in_weights;
uniform sampler2D joints;
uniform ivec4 joints_layout;
#endif
#if SHADOWS
uniform float shadow_offset[SHADOWS];
uniform int shadow_view[SHADOWS];
#unroll i 0 SHADOWS
out vec4 v_shadow$i;
#endunroll
#endif
#if OUTLINE
uniform float outline;
#endif

uniform int node, view;
uniform vec2 viewport;

void main() {
#if SKIN
  mat4 world = in_weights.x * matrix_of(joints, joints_layout, 4 * int(in_joints.x))
    + in_weights.y * matrix_of(joints, joints_layout, 4 * int(in_joints.y))
    + in_weights.z * matrix_of(joints, joints_layout, 4 * int(in_joints.z))
    + in_weights.w * matrix_of(joints, joints_layout, 4 * int(in_joints.w));
#else
  mat4 world = world_matrix(node);
#endif
#if INSTANCED
  world = product(world, matrix_of(instances, instances_layout, 4 * gl_InstanceID));
#endif
  mat4 clip = view_projection(view);
  vec4 position = transform(world, vec4(in_position, 1.0));
  gl_Position = transform(clip, position);
#if !DEPTH_ONLY
#if SKIN || INSTANCED
  mat3 turn = cofactors(world);
  float side = dot(world[0].xyz, turn[0]) < 0.0 ? -1.0 : 1.0;  // a mirror turns normals inside out
  v_normal = normalize(side * (turn * in_normal));
#elif SHADOWS || OUTLINE
  v_normal = normalize(node_normal_matrix(node) * in_normal);
#else
  v_normal = node_normal_matrix(node) * in_normal;  // of any length: the fragment stage makes it one
#endif
  v_position = position.xyz;
#if IDS
  v_instance = gl_InstanceID;
#endif
#if OUTLINE
  vec2 outwards = transform(clip, vec4(v_normal, 0.0)).xy * viewport;
  gl_Position.xy += normalize(outwards + vec2(1e-9)) * outline * 2.0 / viewport * gl_Position.w;
#endif
#unroll i 0 SHADOWS
  v_shadow$i = transform(view_projection(shadow_view[$i]), vec4(position.xyz + v_normal * shadow_offset[$i], 1.0));
#endunroll
#endif
#if UV
  v_uv = in_uv;
#endif
#if COLORS
  v_color = in_color;
#elif INSTANCE_COLORS
  v_color = vec4(1.0);
#endif
#if INSTANCE_COLORS
  v_color *= texel(instance_colors, instance_colors_layout, gl_InstanceID, 0);
#endif
}
