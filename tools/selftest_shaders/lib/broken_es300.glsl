// An implicit conversion from int to float, which ES forbids.

float wrong(float x) { return x * 2; }
