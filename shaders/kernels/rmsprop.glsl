// One step of RMSprop (T. Tieleman and G. Hinton, "Lecture 6.5", 2012; centred: A. Graves, arXiv:1308.0850).
//
// Inputs: parameter, gradient, square; with CENTERED 1 mean; with MOMENTUM 1 velocity.
// Outputs: o0 parameter, o1 square, then mean and velocity where there are any.
// Uniforms: lr, decay (of the weights), share (1 - alpha), eps, momentum; lib/update.glsl's.
// Options: CENTERED, MOMENTUM; lib/update.glsl's.
#include "lib/update.glsl"
#default CENTERED 0
#default MOMENTUM 0

uniform square_SAMPLER square;
#if CENTERED
uniform mean_SAMPLER mean;
#endif
#if MOMENTUM
uniform velocity_SAMPLER velocity;
uniform float momentum;
#endif
uniform float lr, decay, share, eps;

void point(ivec2 at) {
  int t = at.y * o_layout.x + at.x;
  vec4 p = READ(parameter, parameter_layout);
  vec4 g = direction * READ(gradient, gradient_layout) + decay * p;
  vec4 s = fetch(square, at);
  s = (1.0 - share) * s + share * (g * g);
  o1 = s;
#if CENTERED
  vec4 m = fetch(mean, at);
  m += share * (g - m);
  o2 = m;
  s -= m * m;
#endif
  vec4 change = g / (sqrt(s) + eps);
#if MOMENTUM
  change += momentum * fetch(velocity, at);
  o$(2+CENTERED) = change;
#endif
  o0 = UPDATED(p - lr * change);
}
