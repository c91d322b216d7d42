// A scene of distance functions, marched along each pixel's ray: a rounded box, a ring and a sphere that melt together, on
// a floor, with soft shadows (I. Quilez, "Raymarching distance fields", 2008).
// Uniforms: size, eye, target, time.

uniform vec2 size;
uniform vec3 eye, target;
uniform float time;

float blend(float a, float b, float k) {
  float h = max(k - abs(a - b), 0.0) / k;
  return min(a, b) - h * h * k * 0.25;
}

float shape(vec3 p) {
  vec3 q = p - vec3(0.0, 0.75, 0.0);
  float c = cos(0.6 * time), s = sin(0.6 * time);
  vec3 b = vec3(c * q.x + s * q.z, q.y, c * q.z - s * q.x);
  vec3 d = abs(b) - 0.42;
  float box = length(max(d, 0.0)) + min(max(d.x, max(d.y, d.z)), 0.0) - 0.1;
  vec2 t = vec2(length(q.xz) - 1.15, q.y + 0.25 * sin(3.0 * atan(q.z, q.x) + time));
  float ring = length(t) - 0.13;
  float ball = length(q - vec3(0.0, 0.75 + 0.35 * sin(1.3 * time), 0.0)) - 0.32;
  return blend(blend(box, ball, 0.35), ring, 0.25);
}

float distance_to(vec3 p) { return min(shape(p), p.y); }

vec3 normal_at(vec3 p) {
  vec2 e = vec2(1.0, -1.0) * 1e-3;
  return normalize(e.xyy * distance_to(p + e.xyy) + e.yyx * distance_to(p + e.yyx) + e.yxy * distance_to(p + e.yxy)
    + e.xxx * distance_to(p + e.xxx));
}

float lit(vec3 p, vec3 light) {
  float clear = 1.0, t = 0.03;
  for (int i = 0; i < 24; i++) {
    float d = distance_to(p + light * t);
    clear = min(clear, 9.0 * d / t);
    t += clamp(d, 0.03, 0.3);
    if (clear < 0.005 || t > 5.0) break;
  }
  return clamp(clear, 0.0, 1.0);
}

void point(ivec2 p) {
  vec2 at = (2.0 * (vec2(p) + 0.5) - size) * vec2(1.0, -1.0) / size.y;
  vec3 z = normalize(target - eye), x = normalize(cross(z, vec3(0.0, 1.0, 0.0))), y = cross(x, z);
  vec3 ray = normalize(at.x * x + at.y * y + 1.9 * z), light = normalize(vec3(0.6, 0.8, 0.4));
  vec3 sky = mix(vec3(0.45, 0.6, 0.8), vec3(0.1, 0.2, 0.45), clamp(ray.y * 1.5, 0.0, 1.0));
  float t = 0.1, d = 1.0;
  for (int i = 0; i < 80; i++) {
    d = distance_to(eye + t * ray);
    t += d;
    if (d < 1e-3 * t || t > 20.0) break;
  }
  vec3 color = sky;
  if (t < 20.0) {
    vec3 q = eye + t * ray, n = normal_at(q);
    float checker = mod(floor(q.x * 1.5) + floor(q.z * 1.5), 2.0);
    vec3 base = q.y < 0.01 ? vec3(0.12 + 0.25 * checker) : vec3(0.75, 0.3, 0.12);
    float sun = max(dot(n, light), 0.0) * lit(q + n * 2e-3, light);
    float shine = pow(max(dot(reflect(ray, n), light), 0.0), 40.0) * sun;
    color = base * (sun * vec3(1.1, 1.0, 0.85) + (0.25 + 0.15 * n.y) * vec3(0.5, 0.65, 0.9)) + 0.5 * shine;
    color = mix(color, sky, 1.0 - exp(-0.0025 * t * t));
  }
  o0 = vec4(color, 1.0);
}
