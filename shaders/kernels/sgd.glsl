// One step of stochastic gradient descent.
//
// Inputs: parameter, gradient; with MOMENTUM 1 velocity. Outputs: o0 parameter; with MOMENTUM 1 o1 velocity.
// Uniforms: lr, decay (of the weights), momentum, fresh (share of the gradient that enters the velocity); lib/update.glsl's.
// Options: MOMENTUM, NESTEROV; lib/update.glsl's.
#include "lib/update.glsl"
#default MOMENTUM 0
#default NESTEROV 0

uniform float lr, decay;
#if MOMENTUM
uniform velocity_SAMPLER velocity;
uniform float momentum, fresh;
#endif

void point(ivec2 at) {
  int t = at.y * o_layout.x + at.x;
  vec4 p = READ(parameter, parameter_layout);
  vec4 g = direction * READ(gradient, gradient_layout) + decay * p;
#if MOMENTUM
  vec4 b = momentum * fetch(velocity, at) + fresh * g;
  o1 = b;
#if NESTEROV
  g += momentum * b;
#else
  g = b;
#endif
#endif
  o0 = UPDATED(p - lr * g);
}
