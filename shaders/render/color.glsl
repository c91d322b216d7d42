// From linear light to what a display takes.
//
// Options: TONE 0 none (clamped by the target), 1 Reinhard, 2 ACES (K. Narkowicz' fit); ENCODE 1: sRGB here, because the
// target does not encode; CLAMP 1: cut off above 1; EXPOSED 1: multiplied by exposure first. Uniforms: exposure.

#default TONE 0
#default ENCODE 0
#default CLAMP 0
#default EXPOSED 0

uniform float exposure;

vec3 tone_mapped(vec3 x) {
#if EXPOSED
  x *= exposure;
#endif
#if TONE == 1
  x = x / (1.0 + x);
#elif TONE == 2
  x = clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
#endif
#if CLAMP
  x = min(x, 1.0);
#endif
  return x;
}

// IEC 61966-2-1.
vec3 srgb_encode(vec3 x) {
  x = clamp(x, 0.0, 1.0);
  return mix(1.055 * pow(x, vec3(1.0 / 2.4)) - 0.055, 12.92 * x, vec3(lessThanEqual(x, vec3(0.0031308))));
}

vec3 srgb_decode(vec3 x) {
  return mix(pow((x + 0.055) / 1.055, vec3(2.4)), x / 12.92, vec3(lessThanEqual(x, vec3(0.04045))));
}

vec3 displayed(vec3 x) {
#if ENCODE
  return srgb_encode(tone_mapped(x));
#else
  return tone_mapped(x);
#endif
}
