// ROW_OF(row): row_of(row), or with ROWS_KNOWN 1 the same read from peaks and sums, (N, 1) each.
#if ROWS_KNOWN
uniform peaks_SAMPLER peaks;
uniform ivec4 peaks_layout;
uniform sums_SAMPLER sums;
uniform ivec4 sums_layout;

Row known_row(int row) {
  float peak = fetch(peaks, address(peaks_layout, row)).x;
  return Row(peak, is_inf(peak) ? 0.0 : peak, fetch(sums, address(sums_layout, row)).x);
}
#define ROW_OF(row) known_row(row)
#else
#define ROW_OF(row) row_of(row)
#endif
