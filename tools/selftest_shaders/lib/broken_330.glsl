// An undeclared name.

float wrong(float x) { return x * missing; }
