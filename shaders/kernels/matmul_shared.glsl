// Matrix product through memory that a work group shares (compute only): out[g] = a[g] b[g]. For hardware; a processor
// that runs shaders in software has no such memory, and pays for the barriers.
//
// A work group computes a block of LOCAL_Y * ROWS rows x LOCAL_X * COLS texels, a tile of ROWS x COLS an invocation. In a
// step it copies DEPTH columns of its rows of a and DEPTH rows of its columns of b, each texel fetched once for the whole
// group, and every invocation adds DEPTH products of a column and a row of its tile.
//
// Inputs: a (groups, M, K), or (groups, K, M) with TRANSPOSE_A; b (groups, K, N), or (groups, N, K) with TRANSPOSE_B.
// Output: (groups, M, N) seen as (groups, M, texels of N).
// Uniforms: k_size, n_size (K, N); a_rows, b_rows: rows of a and b in one group, 0 where one matrix serves all groups.
// Options: TRANSPOSE_A, TRANSPOSE_B; BLOCKED 1, by which the main hands out blocks.

#require TRANSPOSE_A
#require TRANSPOSE_B
#require BLOCKED  whether the main hands out blocks of LOCAL_Y x LOCAL_X tiles

#define DEPTH 16
#define M_SIDE (LOCAL_Y * ROWS)
#define N_SIDE (LOCAL_X * COLS)
#define INVOCATIONS (LOCAL_X * LOCAL_Y)

uniform a_SAMPLER a;
uniform ivec4 a_layout;
uniform b_SAMPLER b;
uniform ivec4 b_layout;
uniform int k_size, n_size, a_rows, b_rows;

shared float a_block[DEPTH * (M_SIDE + 1)];  // by k, then row; a line longer by one keeps its columns in different banks
shared float b_block[DEPTH * 4 * N_SIDE];    // by k, then column

// The four elements of a from (row, k) on along k, zero beyond K: pad lanes are. Rows beyond the last repeat it.
vec4 a_texel(int first, int row, int k) {
  return k < k_size ? texel(a, a_layout, first + min(row, view.y - 1), k / 4) : vec4(0.0);
}

void copy_a(int first, int row, int k) {
  int self = int(gl_LocalInvocationIndex);
#if TRANSPOSE_A
  for (int n = self; n < DEPTH * M_SIDE / 4; n += INVOCATIONS) {
    int depth = n / (M_SIDE / 4), texel_ = n % (M_SIDE / 4);
    vec4 v = k + depth < k_size ? texel(a, a_layout, first + k + depth, min(row / 4 + texel_, a_layout.y - 1)) : vec4(0.0);
#unroll q 0 4
    a_block[depth * (M_SIDE + 1) + 4 * texel_ + $q] = v[$q];
#endunroll
  }
#else
  for (int n = self; n < DEPTH / 4 * M_SIDE; n += INVOCATIONS) {
    int depth = n % (DEPTH / 4), line = n / (DEPTH / 4);
    vec4 v = a_texel(first, row + line, k + 4 * depth);
#unroll q 0 4
    a_block[(4 * depth + $q) * (M_SIDE + 1) + line] = v[$q];
#endunroll
  }
#endif
}

void copy_b(int first, int column, int k) {
  int self = int(gl_LocalInvocationIndex);
#if TRANSPOSE_B
  for (int n = self; n < DEPTH / 4 * 4 * N_SIDE; n += INVOCATIONS) {
    int depth = n % (DEPTH / 4), line = n / (DEPTH / 4);
    int at = min(4 * column + line, n_size - 1);
    vec4 v = k + 4 * depth < k_size ? texel(b, b_layout, first + at, k / 4 + depth) : vec4(0.0);
#unroll q 0 4
    b_block[(4 * depth + $q) * (4 * N_SIDE) + line] = v[$q];
#endunroll
  }
#else
  for (int n = self; n < DEPTH * N_SIDE; n += INVOCATIONS) {
    int depth = n / N_SIDE, texel_ = n % N_SIDE;
    vec4 v = k + depth < k_size ? texel(b, b_layout, first + k + depth, min(column + texel_, b_layout.y - 1)) : vec4(0.0);
#unroll q 0 4
    b_block[depth * (4 * N_SIDE) + 4 * texel_ + $q] = v[$q];
#endunroll
  }
#endif
}

void tile(int group, int row, int column, out vec4 acc[ROWS * COLS]) {
  int own_row = int(gl_LocalInvocationID.y) * ROWS, own_column = int(gl_LocalInvocationID.x);
  int a_first = group * a_rows, b_first = group * b_rows;
#unroll i 0 ROWS*COLS
  vec4 s$i = vec4(0.0);
#endunroll
  for (int k = 0; k < k_size; k += DEPTH) {
    copy_a(a_first, row - own_row, k);
    copy_b(b_first, column - own_column, k);
    barrier();
    for (int d = 0; d < DEPTH; d++) {
#unroll j 0 COLS
      int b$j = d * (4 * N_SIDE) + 4 * (own_column + $j * LOCAL_X);
      vec4 w$j = vec4(b_block[b$j], b_block[b$j + 1], b_block[b$j + 2], b_block[b$j + 3]);
#endunroll
#unroll i 0 ROWS
      float x$i = a_block[d * (M_SIDE + 1) + own_row + $i];
#unroll j 0 COLS
      s$(i*COLS+j) += x$i * w$j;
#endunroll
#endunroll
    }
    barrier();
  }
// Pad lanes hold zero: columns beyond N repeat earlier ones.
#unroll i 0 ROWS*COLS
  acc[$i] = keep(s$i, lessThan(ivec4(0, 1, 2, 3) + 4 * (column + $(i%COLS) * LOCAL_X), ivec4(n_size)));
#endunroll
}
