// Sums of neighbouring elements along one axis: element i sums those from ends[i - 1] (0 for the first) up to ends[i].
//
// Inputs: x seen as (outer, total, inner) with `inner` whole rows, or with LAST 1 as (outer, total), floats; ends, one axis
// of `count` ascending int32; with BLOCKS 1 also sums, (outer, blocks, inner) or for each row `blocks` texels whose lanes
// are to be added: the sums of every `block` elements, which long segments take whole. Output: o0, (outer, count, inner)
// or (outer, count). Uniforms: o_layout, x_layout, ends_layout, sums_layout, total, count, inner, block, blocks.
#require LAST
#default BLOCKS 0
#define CHUNK 64

uniform x_SAMPLER x;
uniform ivec4 x_layout;
uniform ends_SAMPLER ends;
uniform ivec4 ends_layout;
uniform int total, count, inner;
#if BLOCKS
uniform sums_SAMPLER sums;
uniform ivec4 sums_layout;
uniform int block, blocks;
#endif

// What one invocation sums lies in group `outer`, row `b` of `inner`, texel `column`.
int outer, b, column;

int end_of(int i) { return i < 0 ? 0 : clamp(texel(ends, ends_layout, 0, i >> 2)[i & 3], 0, total); }

#if LAST
#define SUM float
float item(int k) { return texel(x, x_layout, outer, k >> 2)[k & 3]; }
#else
#define SUM vec4
vec4 item(int k) { return texel(x, x_layout, (outer * total + k) * inner + b, column); }
#endif

#if BLOCKS
#if LAST
vec4 block_sum(int k) { return fetch(sums, address(sums_layout, outer * blocks + k)); }
#else
vec4 block_sum(int k) { return texel(sums, sums_layout, (outer * blocks + k) * inner + b, column); }
#endif
#endif

SUM span(int first, int last) {
  SUM sum = SUM(0.0);
  for (int k = first; k < last; k++) sum += item(k);
  return sum;
}

SUM segment(int i) {
  int first = end_of(i - 1), last = end_of(i);
#if BLOCKS
  int low = quotient(first + block - 1, block), high = quotient(last, block);
  if (low >= high) return span(first, last);
  vec4 whole = vec4(0.0);
  for (int k = low; k < high;) {  // in chunks, so that roundings do not add up
    vec4 part = vec4(0.0);
    for (int stop = min(k + CHUNK, high); k < stop; k++) part += block_sum(k);
    whole += part;
  }
#if LAST
  float middle = (whole.x + whole.y) + (whole.z + whole.w);
#else
  vec4 middle = whole;
#endif
  return middle + span(first, low * block) + span(high * block, last);
#else
  return span(first, last);
#endif
}

void point(ivec2 p) {
  int t = p.y * o_layout.x + p.x;
  int row = quotient(t, o_layout.y);
  column = t - row * o_layout.y;
#if LAST
  outer = row;
  bvec4 kept = lanes(o_layout, column);
  o0 = vec4(0.0);
#unroll lane 0 4
  if (kept[$lane]) o0[$lane] = segment(4 * column + $lane);
#endunroll
#else
  int line = quotient(row, inner);
  outer = quotient(line, count);
  b = row - line * inner;
  o0 = segment(line - outer * count);
#endif
}
