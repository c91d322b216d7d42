// Random numbers, evenly spread over [low, high). Output: o0.
// Uniforms: o_layout; key, counter (see lib/philox.glsl); low, width = high - low, top: the largest float below high.
#include "lib/philox.glsl"

uniform float low, width, top;

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  vec4 v = min(unit(philox(t)) * width + low, top);  // the sum may round up to high
  o0 = o0_TEXEL(keep(v, lanes(o_layout, modulo(t, o_layout.y))));
}
