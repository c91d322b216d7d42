// Blending (OpenGL 4.6, section 17.3.6) and what a colour target can hold.
//
// Formats: 0 floats, 1 eight bits a channel, 2 eight bits in sRGB, blended in linear light. Values are always linear.
// FIXED_BLENDS: 1 where format 1 is blended in fixed point: source and constant become bytes first, and so does each product
// of a colour and its factor.
#default FIXED_BLENDS 0

vec3 srgb_encode(vec3 c) {
  vec3 low = c * 12.92, high = 1.055 * pow(max(c, vec3(0.0)), vec3(1.0 / 2.4)) - 0.055;
  return vec3(c.x <= 0.0031308 ? low.x : high.x, c.y <= 0.0031308 ? low.y : high.y, c.z <= 0.0031308 ? low.z : high.z);
}
vec3 srgb_decode(vec3 c) {
  vec3 low = c / 12.92, high = pow((max(c, vec3(0.0)) + 0.055) / 1.055, vec3(2.4));
  return vec3(c.x <= 0.04045 ? low.x : high.x, c.y <= 0.04045 ? low.y : high.y, c.z <= 0.04045 ? low.z : high.z);
}

// The nearest value that a target of that format holds; halfway the even byte, as devices convert.
vec4 stored(int format, vec4 c) {
  if (format == 0) return c;
  c = clamp(c, 0.0, 1.0);
  if (format == 1) return roundEven(c * 255.0) / 255.0;
  vec3 bytes = floor(srgb_encode(c.xyz) * 255.0 + 0.5) / 255.0;
  return vec4(srgb_decode(bytes), roundEven(c.w * 255.0) / 255.0);
}

vec4 factor(int which, vec4 s, vec4 d, vec4 k) {
  if (which == 0) return vec4(0.0);
  if (which == 1) return vec4(1.0);
  if (which == 2) return s;
  if (which == 3) return 1.0 - s;
  if (which == 4) return d;
  if (which == 5) return 1.0 - d;
  if (which == 6) return vec4(s.w);
  if (which == 7) return vec4(1.0 - s.w);
  if (which == 8) return vec4(d.w);
  if (which == 9) return vec4(1.0 - d.w);
  if (which == 10) return k;
  if (which == 11) return 1.0 - k;
  if (which == 12) return vec4(k.w);
  if (which == 13) return vec4(1.0 - k.w);
  return vec4(vec3(min(s.w, 1.0 - d.w)), 1.0);
}

vec4 product(int format, vec4 a, vec4 b) {
#if FIXED_BLENDS
  if (format == 1) {
    ivec4 t = ivec4(a * 255.0 + 0.5) * ivec4(b * 255.0 + 0.5);
    return vec4((t + (t >> 8) + 128) >> 8) / 255.0;
  }
#endif
  return a * b;
}

vec4 equation(int format, int which, vec4 s, vec4 d, vec4 fs, vec4 fd) {
  if (which == 3) return min(s, d);
  if (which == 4) return max(s, d);
  vec4 a = product(format, s, fs), b = product(format, d, fd);
  return which == 1 ? a - b : which == 2 ? b - a : a + b;
}

// Source s over destination d with the constant k. factors: source and destination for colour, then for alpha.
vec4 blended(int format, vec4 s, vec4 d, vec4 k, ivec4 factors, ivec2 equations) {
  if (format != 0) {
    s = clamp(s, 0.0, 1.0);
    k = clamp(k, 0.0, 1.0);
  }
#if FIXED_BLENDS
  if (format == 1) {
    s = stored(format, s);
    k = stored(format, k);
  }
#endif
  vec3 color = equation(format, equations.x, s, d, factor(factors.x, s, d, k), factor(factors.y, s, d, k)).xyz;
  float alpha = equation(format, equations.y, s, d, factor(factors.z, s, d, k), factor(factors.w, s, d, k)).w;
  return vec4(color, alpha);
}

// New values in the channels of the write mask.
vec4 chosen(vec4 a, vec4 b, vec4 mask) {
  return vec4(mask.x > 0.5 ? a.x : b.x, mask.y > 0.5 ? a.y : b.y, mask.z > 0.5 ? a.z : b.z, mask.w > 0.5 ? a.w : b.w);
}
