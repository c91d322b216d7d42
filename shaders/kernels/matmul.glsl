// Matrix product, out[g] = a[g] b[g], a tile of ROWS x (4 COLS) elements.
//
// Inputs: a (groups, M, K), or (groups, K, M) with TRANSPOSE_A; b (groups, K, N), or (groups, N, K) with TRANSPOSE_B.
// Output: (groups, M, N) seen as (groups, M, texels of N). ROWS is a multiple of 4 with TRANSPOSE_A.
// One step takes four k: a column of four elements of a for every row, and a mat4 of b for every column,
//   acc += mat4 b * vec4 a.
// Uniforms: k_size, n_size (K, N); a_rows, b_rows: rows of a and b in one group, 0 where one matrix serves all groups.
// Options: K_TAIL  K % 4: the last step masks what lies beyond K.
//          K_STEPS number of whole steps, 0 to read it from k_size.
//          SHARES  K is split between this many groups of the output, which a sum over the groups combines.
#include "lib/atom.glsl"

#default TRANSPOSE_A 0
#default TRANSPOSE_B 0
#default K_TAIL 0
#default K_STEPS 0
#default SHARES 1

uniform a_SAMPLER a;
uniform ivec4 a_layout;
uniform b_SAMPLER b;
uniform ivec4 b_layout;
uniform int k_size, n_size, a_rows, b_rows;

// X_START: where a row of X begins; X_AT: a texel of it.
#if a_LINES == 0
#define A_START(row) ivec2(row, 0)
#define A_AT(start, column) texel(a, a_layout, (start).x, column)
#else
#if a_LINES == 1
#define A_START(row) ivec2(0, row)
#else
#define A_START(row) row_address(a_layout, row)
#endif
#define A_AT(start, column) fetch(a, (start) + ivec2(column, 0))
#endif

#if b_LINES == 0
#define B_START(row) ivec2(row, 0)
#define B_AT(start, column) texel(b, b_layout, (start).x, column)
#else
#if b_LINES == 1
#define B_START(row) ivec2(0, row)
#else
#define B_START(row) row_address(b_layout, row)
#endif
#define B_AT(start, column) fetch(b, (start) + ivec2(column, 0))
#endif

void tile(int group, int row, int column, out vec4 acc[ROWS * COLS]) {
#if SHARES > 1
  int share = group % SHARES;
  int matrix = group / SHARES;
#else
  int matrix = group;
#endif
  int a_first = matrix * a_rows, b_first = matrix * b_rows;
  int steps = K_STEPS > 0 ? K_STEPS : k_size / 4;
#if SHARES > 1
  int per_share = ((k_size + 3) / 4 + SHARES - 1) / SHARES;
  int k_begin = share * per_share;
  int k_end = min(k_begin + per_share, steps);
#else
  const int k_begin = 0;
  int k_end = steps;
#endif

#unroll i 0 ROWS*COLS
  vec4 s$i = vec4(0.0);
#endunroll
#if !TRANSPOSE_A
#unroll i 0 ROWS
  ivec2 a$i = A_START(a_first + min(row + $i, view.y - 1));
#endunroll
#else
#unroll i 0 ROWS/4
  int row$i = min(row / 4 + $i, a_layout.y - 1);
#endunroll
#if a_LINES == 2
  ivec2 a_next = A_START(a_first + 4 * k_begin);
#endif
#endif
#if TRANSPOSE_B
#unroll j 0 COLS
#unroll q 0 4
  ivec2 b$(j*4+q) = B_START(b_first + min(4 * (column + $j) + $q, n_size - 1));
#endunroll
#endunroll
#else
#unroll j 0 COLS
  int column$j = min(column + $j, b_layout.y - 1);
#endunroll
#if b_LINES == 2
  ivec2 b_next = B_START(b_first + 4 * k_begin);
#endif
#endif

#unroll tail 0 1+(K_TAIL+3)/4
#if $tail == 0
  for (int k = k_begin; k < k_end; k++) {
#elif SHARES > 1
  if (steps >= k_begin && steps < k_begin + per_share) {
    int k = steps;
#else
  {
    int k = steps;
#endif
    // w(4 j + q): row 4 k + q of b, the columns of texel j. x: the same four k of a, for one row.
#if TRANSPOSE_B
#unroll j 0 COLS
#unroll q 0 4
    vec4 t$(j*4+q) = B_AT(b$(j*4+q), k);
#endunroll
#unroll q 0 4
    vec4 w$(j*4+q) = vec4(t$(j*4)[$q], t$(j*4+1)[$q], t$(j*4+2)[$q], t$(j*4+3)[$q]);
#endunroll
#endunroll
#else
#unroll q 0 4
#if $tail == 1 && $q >= K_TAIL
#unroll j 0 COLS
    vec4 w$(j*4+q) = vec4(0.0);
#endunroll
#else
#if b_LINES == 2
    ivec2 b$q = b_next;  // a step to the next row is far cheaper than one more division
    b_next = next_row(b_layout, b_next);
#else
    ivec2 b$q = B_START(b_first + 4 * k + $q);
#endif
#unroll j 0 COLS
    vec4 w$(j*4+q) = B_AT(b$q, column$j);
#endunroll
#endif
#endunroll
#endif
#if TRANSPOSE_A
#unroll q 0 4
#if $tail == 1 && $q >= K_TAIL
#unroll i 0 ROWS/4
    vec4 u$(i*4+q) = vec4(0.0);
#endunroll
#else
#if a_LINES == 2
    ivec2 a$q = a_next;  // a step to the next row is far cheaper than one more division
    a_next = next_row(a_layout, a_next);
#else
    ivec2 a$q = A_START(a_first + 4 * k + $q);
#endif
#unroll i 0 ROWS/4
    vec4 u$(i*4+q) = A_AT(a$q, row$i);
#endunroll
#endif
#endunroll
#endif
#unroll i 0 ROWS
    {
#if TRANSPOSE_A
      vec4 x = vec4(u$(i/4*4)[$(i%4)], u$(i/4*4+1)[$(i%4)], u$(i/4*4+2)[$(i%4)], u$(i/4*4+3)[$(i%4)]);
#else
      vec4 x = A_AT(a$i, k);
#endif
#unroll j 0 COLS
      s$(i*COLS+j) += ATOM(w$(j*4), w$(j*4+1), w$(j*4+2), w$(j*4+3), x);
#endunroll
    }
#endunroll
  }
#endunroll
// Pad lanes hold zero: rows of b beyond N repeat its last row with TRANSPOSE_B, and 0 times infinity is NaN without.
#unroll i 0 ROWS*COLS
  acc[$i] = keep(s$i, lessThan(ivec4(0, 1, 2, 3) + 4 * (column + $(i%COLS)), ivec4(n_size)));
#endunroll
}
