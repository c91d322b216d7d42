// A vector of the wrong size.

vec2 wrong(vec3 x) { return x; }
