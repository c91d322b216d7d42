// How many elements of an ascending row come before each of other elements: a binary search in every lane.
//
// Inputs: x, one axis of `count` elements; v, the elements looked for. Output: o0, int32, of v's shape: how many elements
// of x are less than v, with RIGHT 1 not greater than v. What is not ascending gives a number from 0 to count.
// Uniforms: o_layout, x_layout, v_layout; count; largest, the largest power of two up to count.
#include "lib/order.glsl"
#require RIGHT

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform v_SAMPLER v;
uniform ivec4 v_layout;
uniform int count, largest;

int search(int wanted) {
  int found = 0;
  for (int step_ = largest; step_ > 0; step_ >>= 1) {
    int next = found + step_, i = min(next, count) - 1;
    int have = order(texel(x, x_layout, 0, i >> 2)[i & 3]);
#if RIGHT
    if (next <= count && have <= wanted) found = next;
#else
    if (next <= count && have < wanted) found = next;
#endif
  }
  return found;
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  v_TEXEL wanted = fetch(v, address(v_layout, t));
  ivec4 found;
#unroll lane 0 4
  found[$lane] = search(order(wanted[$lane]));
#endunroll
  o0 = keep(found, lanes(o_layout, modulo(t, o_layout.y)));
}
