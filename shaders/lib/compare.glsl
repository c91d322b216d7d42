// The eight comparisons of the depth and stencil tests, in the order of state.py.
bool compares(int how, float a, float b) {
  if (how == 0) return false;
  if (how == 1) return a < b;
  if (how == 2) return a == b;
  if (how == 3) return a <= b;
  if (how == 4) return a > b;
  if (how == 5) return a != b;
  if (how == 6) return a >= b;
  return true;
}
