// The step that everything here is made of: a 4x4 matrix, given by its columns w0 to w3, times a vector of four.
// A vertex's transform is one of these; a matrix product is a grid of them.
#define ATOM(w0, w1, w2, w3, v) ((v).x * (w0) + (v).y * (w1) + (v).z * (w2) + (v).w * (w3))
