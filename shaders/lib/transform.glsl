// Transforms of homogeneous points, p' = m p. Angles in radians, right-handed, y up; a camera looks along its -z axis.
// Quaternions are (x, y, z, w). Clip space is OpenGL's: -w <= x, y, z <= w.
#include "lib/atom.glsl"

vec4 transform(mat4 m, vec4 p) { return ATOM(m[0], m[1], m[2], m[3], p); }

mat4 product(mat4 a, mat4 b) {
  return mat4(transform(a, b[0]), transform(a, b[1]), transform(a, b[2]), transform(a, b[3]));
}

mat4 translate(vec3 t) {
  return mat4(vec4(1.0, 0.0, 0.0, 0.0), vec4(0.0, 1.0, 0.0, 0.0), vec4(0.0, 0.0, 1.0, 0.0), vec4(t, 1.0));
}

mat4 scale(vec3 s) {
  return mat4(vec4(s.x, 0.0, 0.0, 0.0), vec4(0.0, s.y, 0.0, 0.0), vec4(0.0, 0.0, s.z, 0.0), vec4(0.0, 0.0, 0.0, 1.0));
}

// About an axis of any length (Rodrigues' formula).
mat4 rotate(vec3 axis, float angle) {
  vec3 a = normalize(axis);
  float c = cos(angle), s = sin(angle);
  vec3 t = a * (1.0 - c);
  return mat4(vec4(t.x * a + vec3(c, s * a.z, -s * a.y), 0.0), vec4(t.y * a + vec3(-s * a.z, c, s * a.x), 0.0),
    vec4(t.z * a + vec3(s * a.y, -s * a.x, c), 0.0), vec4(0.0, 0.0, 0.0, 1.0));
}

// By a quaternion of any length.
mat4 rotate_quaternion(vec4 quaternion) {
  vec4 q = quaternion / length(quaternion);
  vec3 v = 2.0 * q.xyz;
  vec3 square = v * q.xyz, w = v * q.w;
  vec3 mixed = vec3(v.y * q.z, v.x * q.z, v.x * q.y);
  return mat4(vec4(1.0 - square.y - square.z, mixed.z + w.z, mixed.y - w.y, 0.0),
    vec4(mixed.z - w.z, 1.0 - square.x - square.z, mixed.x + w.x, 0.0),
    vec4(mixed.y + w.y, mixed.x - w.x, 1.0 - square.x - square.y, 0.0), vec4(0.0, 0.0, 0.0, 1.0));
}

// First scale, then rotate, then translate.
mat4 compose(vec3 translation, vec4 quaternion, vec3 factors) {
  mat4 r = rotate_quaternion(quaternion);
  return mat4(r[0] * factors.x, r[1] * factors.y, r[2] * factors.z, vec4(translation, 1.0));
}

// World to view of a camera at `eye` that looks at `target`.
mat4 look_at(vec3 eye, vec3 target, vec3 up) {
  vec3 z = normalize(eye - target);
  vec3 x = normalize(cross(up, z));
  vec3 y = cross(z, x);
  return mat4(vec4(x.x, y.x, z.x, 0.0), vec4(x.y, y.y, z.y, 0.0), vec4(x.z, y.z, z.z, 0.0),
    vec4(-dot(x, eye), -dot(y, eye), -dot(z, eye), 1.0));
}

// World to view, from a camera's place in the world; its scale is left out.
mat4 view_of(mat4 world) {
  vec3 x = normalize(world[0].xyz), y = normalize(world[1].xyz), z = normalize(world[2].xyz), eye = world[3].xyz;
  return mat4(vec4(x.x, y.x, z.x, 0.0), vec4(x.y, y.y, z.y, 0.0), vec4(x.z, y.z, z.z, 0.0),
    vec4(-dot(x, eye), -dot(y, eye), -dot(z, eye), 1.0));
}

mat4 perspective(float fov_y, float aspect, float near, float far) {
  float f = cos(0.5 * fov_y) / sin(0.5 * fov_y);
  return mat4(vec4(f / aspect, 0.0, 0.0, 0.0), vec4(0.0, f, 0.0, 0.0), vec4(0.0, 0.0, (far + near) / (near - far), -1.0),
    vec4(0.0, 0.0, 2.0 * far * near / (near - far), 0.0));
}

mat4 orthographic(float left, float right, float bottom, float top, float near, float far) {
  vec3 size = vec3(right - left, top - bottom, far - near);
  return mat4(vec4(2.0 / size.x, 0.0, 0.0, 0.0), vec4(0.0, 2.0 / size.y, 0.0, 0.0), vec4(0.0, 0.0, -2.0 / size.z, 0.0),
    vec4(-(right + left) / size.x, -(top + bottom) / size.y, -(far + near) / size.z, 1.0));
}

mat3 cofactors(mat4 m) {
  return mat3(cross(m[1].xyz, m[2].xyz), cross(m[2].xyz, m[0].xyz), cross(m[0].xyz, m[1].xyz));
}

// The inverse transpose of the upper left 3x3: normals stay perpendicular to what m transforms.
mat3 normal_matrix(mat4 m) {
  mat3 c = cofactors(m);
  return c * (1.0 / dot(m[0].xyz, c[0]));
}

vec3 homogeneous_divide(vec4 p) { return p.xyz / p.w; }
