// What an optimiser's kernel reads: a parameter, its gradient, and its state as it was, texel by texel.
//
// READ(name, name_layout) reads the texel that is computed, in a kernel with `ivec2 at` and `int t`, its address and number.
// UPDATED(value) is what is written: pad lanes stay zero, whatever a division by zero makes of them.
// Options: SAME    1 where parameter and gradient lie in textures of the output's size, 0 where one may not.
//          PADDED  1 where the last axis is no multiple of four.
// Uniforms: direction  -1 to go up instead of down.
#default SAME 1
#default PADDED 0

uniform parameter_SAMPLER parameter;
uniform ivec4 parameter_layout;
uniform gradient_SAMPLER gradient;
uniform ivec4 gradient_layout;
uniform float direction;

#if SAME
#define READ(name, layout_) vec4(fetch(name, at))
#else
#define READ(name, layout_) vec4(fetch(name, address(layout_, t)))
#endif

#if PADDED
#define UPDATED(value) o0_TEXEL(keep(value, lanes(o_layout, t % o_layout.y)))
#else
#define UPDATED(value) o0_TEXEL(value)
#endif
