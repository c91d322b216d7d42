// Random numbers, normally distributed. Output: o0.
//
// G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", 1958: from u and v, evenly spread,
// r cos(2 pi v) and r sin(2 pi v), r = sqrt(-2 log(u)). Words 0 and 1 give the lanes 0 and 1, words 2 and 3 the others.
// The logarithm, the sine and the cosine are our own, since drivers' are rough where u is near 1.
// Uniforms: o_layout; key, counter (see lib/philox.glsl); mean, deviation.
#include "lib/philox.glsl"
#include "lib/numeric.glsl"

uniform float mean, deviation;

// A word as a number in [2^-33, 1 - 2^-24]: never 0, and fine-grained near 0, where the far tail comes from. At most
// 24 bits, so that no device rounds.
float positive(uint word) {
  float whole = word >= 0x01000000u ? float(word >> 8) * 256.0 : max(float(word), 0.5);
  return whole * 2.3283064365386963e-10;
}

vec2 pair(uint first, uint second) {
  float r = sqrt(-2.0 * log_(positive(first)));
  // The turn 2 pi v: its quarter, exactly, and what is left of it, within an eighth of a turn.
  int turn = int(second >> 8);
  int quarter = (turn + 0x200000) >> 22;
  float angle = float(turn - (quarter << 22)) * 3.74507028292e-7;  // pi / 2 / 2^22
  vec2 q = vec2(short_cos(angle), short_sin(angle));
  if ((quarter & 1) != 0) q = vec2(-q.y, q.x);
  if ((quarter & 2) != 0) q = -q;
  return r * q;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  uvec4 words = philox(t);
  vec4 v = vec4(pair(words.x, words.y), pair(words.z, words.w)) * deviation + mean;
  o0 = o0_TEXEL(keep(v, lanes(o_layout, modulo(t, o_layout.y))));
}
