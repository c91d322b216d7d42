// One layer of a prefiltered environment: what a surface of that roughness reflects when seen head-on.
//
// Samples of Trowbridge-Reitz on a Hammersley set (B. Karis, "Real shading in Unreal Engine 4", 2013).
// Uniforms: source: equirectangular, linear, with mipmaps; size of the target; rough.
uniform sampler2D source;
uniform vec2 size;
uniform float rough;
out vec4 out_color;

const int SAMPLES = 64;

vec2 hammersley(int i) {
  int bits = i, reversed = 0;
  for (int k = 0; k < 6; k++) {
    reversed = reversed * 2 + (bits & 1);
    bits >>= 1;
  }
  return vec2((float(i) + 0.5) / float(SAMPLES), (float(reversed) + 0.5) / float(SAMPLES));
}

vec2 equirectangular(vec3 d) {
  return vec2(0.5 + atan(d.x, -d.z) * 0.15915494, acos(clamp(d.y, -1.0, 1.0)) * 0.31830989);
}

void main() {
  vec2 at = gl_FragCoord.xy / size;
  float phi = (at.x - 0.5) * 6.2831853, theta = at.y * 3.14159265;
  vec3 n = vec3(sin(theta) * sin(phi), cos(theta), -sin(theta) * cos(phi));
  if (rough < 0.01) {
    out_color = vec4(textureLod(source, at, 0.0).rgb, 1.0);
    return;
  }
  vec3 x = normalize(cross(abs(n.y) < 0.99 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0), n)), y = cross(n, x);
  float a = rough * rough;
  // Each sample stands for a part of the sphere: read the mipmap whose texels are as large.
  float level = max(0.0, 0.5 * log2(float(textureSize(source, 0).x * textureSize(source, 0).y) * a / float(SAMPLES)));
  vec3 sum = vec3(0.0);
  float weight = 0.0;
  for (int i = 0; i < SAMPLES; i++) {
    vec2 u = hammersley(i);
    float cosine = sqrt((1.0 - u.y) / (1.0 + (a * a - 1.0) * u.y)), sine = sqrt(max(0.0, 1.0 - cosine * cosine));
    vec3 h = sine * cos(6.2831853 * u.x) * x + sine * sin(6.2831853 * u.x) * y + cosine * n;
    vec3 l = 2.0 * dot(n, h) * h - n;
    float nl = dot(n, l);
    if (nl > 0.0) {
      sum += nl * textureLod(source, equirectangular(l), level).rgb;
      weight += nl;
    }
  }
  out_color = vec4(sum / max(weight, 1e-6), 1.0);
}
