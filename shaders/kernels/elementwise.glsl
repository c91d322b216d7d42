// One expression over broadcast operands, element by element (see lib/expression.glsl). Output: o0.
#include "lib/expression.glsl"

void point(ivec2 p) { o0 = expression(p, p.y * o_layout.x + p.x, o0_TEXEL(0)); }
