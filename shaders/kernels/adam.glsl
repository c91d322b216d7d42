// One step of Adam (D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015), of AdamW
// (I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", ICLR 2019), or of AMSGrad.
//
// Inputs: parameter, gradient, mean, square; with AMSGRAD 1 peak. Outputs: o0 parameter, o1 mean, o2 square, o3 peak.
// Uniforms: decay (added to the gradient, in units of the parameter), shrink (the parameter is multiplied by it first);
// mean_share, square_share (1 - beta); rate (lr / (1 - beta1^t)), root (sqrt(1 - beta2^t)), eps; lib/update.glsl's.
// Options: AMSGRAD; lib/update.glsl's.
#include "lib/update.glsl"
#include "lib/numeric.glsl"
#default AMSGRAD 0

uniform mean_SAMPLER mean;
uniform square_SAMPLER square;
#if AMSGRAD
uniform peak_SAMPLER peak;
#endif
uniform float decay, shrink, mean_share, square_share, rate, root, eps;

void point(ivec2 at) {
  int t = at.y * o_layout.x + at.x;
  vec4 p = READ(parameter, parameter_layout);
  vec4 g = direction * READ(gradient, gradient_layout) + decay * p;
  vec4 m = fetch(mean, at), s = fetch(square, at);
  m += mean_share * (g - m);
  s = (1.0 - square_share) * s + square_share * (g * g);
  o1 = m;
  o2 = s;
#if AMSGRAD
  vec4 most = fetch(peak, at);
#unroll lane 0 4
  s[$lane] = maximum(most[$lane], s[$lane]);
#endunroll
  o3 = s;
#endif
  o0 = UPDATED(shrink * p - rate * (m / (sqrt(s) / root + eps)));
}
