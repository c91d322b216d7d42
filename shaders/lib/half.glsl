// Rounding to the nearest number of half precision, ties to even. A device may cut instead where it stores halves (Mesa's
// software renderer does), which drifts in a long training and keeps 65504 where infinity is due.
float to_half(float x) {
  uint bits = floatBitsToUint(x), magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) return x;  // infinity or NaN
  if (magnitude < 0x38800000u) return roundEven(x * 16777216.0) * 5.9604644775390625e-8;  // steps of 2^-24 below 2^-14
  if (magnitude >= 0x477ff000u) return uintBitsToFloat((bits & 0x80000000u) | 0x7f800000u);  // from 65520 on
  return uintBitsToFloat((bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u);
}

vec4 to_half(vec4 x) { return vec4(to_half(x.x), to_half(x.y), to_half(x.z), to_half(x.w)); }
