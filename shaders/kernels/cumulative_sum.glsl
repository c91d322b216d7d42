// Inclusive prefix sums along one axis of a tensor seen as (groups, length, inner, columns), texels in blocks of the axis.
//
// Inputs: x; with BEFORE 1 also before, seen as (groups, blocks, inner, columns): the sum of all blocks up to each.
// Output: o0, seen as (groups, length, inner, columns), or with EXCLUSIVE 1 as (groups, length + 1, inner, columns): the sums
// of what comes before each element, the sum of all at the end.
// LAST 1: the axis is the last one, `length` texels of a row; inner and columns are 1, and lanes are added up too.
// ACC, ACC4: scalar and texel type of the arithmetic.
// Uniforms: o_layout, x_layout, before_layout; length_, inner, columns, block (steps of the axis that are summed here).
#require ACC
#require ACC4
#require LAST
#default EXCLUSIVE 0
#default BEFORE 0

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform int length_, inner, columns, block;
#if BEFORE
uniform before_SAMPLER before;
uniform ivec4 before_layout;
#endif

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
#if LAST
  int group = quotient(t, o_layout.y), s = t - group * o_layout.y, last = s;
  int step_ = 1, at = group * length_;
#else
  int row = quotient(t, columns), column = t - row * columns;
  int line = quotient(row, inner), b = row - line * inner;
  int group = quotient(line, length_ + EXCLUSIVE), s = line - group * (length_ + EXCLUSIVE), last = s + 1 - EXCLUSIVE;
  int step_ = inner * columns, at = (group * length_ * inner + b) * columns + column;
#endif
  int own = quotient(s, block), first = own * block;
  ivec2 q = address(x_layout, at + first * step_), stride = address(x_layout, step_);
  ACC4 acc = ACC4(0);
  for (int r = first; r < last; r++) {
    acc += ACC4(fetch(x, q));
    q += stride;
    if (q.x >= x_layout.x) q += ivec2(-x_layout.x, 1);
  }
#if BEFORE
  if (own > 0) {
#if LAST
    int blocks = quotient(length_ + block - 1, block);
    acc += fetch(before, address(before_layout, group * blocks + own - 1));
#else
    int blocks = quotient(length_ + block - 1, block);
    acc += fetch(before, address(before_layout, ((group * blocks + own - 1) * inner + b) * columns + column));
#endif
  }
#endif
#if LAST
  ACC sum = (acc.x + acc.y) + (acc.z + acc.w);
  ACC4 v = s < length_ ? ACC4(fetch(x, q)) : ACC4(0);
#if EXCLUSIVE
  v = ACC4(ACC(0), v.xyz);
#endif
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  o0 = keep(o0_TEXEL(ACC4(sum) + v), lanes(o_layout, s));
#else
  o0 = o0_TEXEL(acc);
#endif
}
