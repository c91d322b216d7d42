// Primitive assembly with restarts: how many primitives end at each place of the vertex stream (OpenGL 4.6, section 10.1).
//
// Inputs, int32, one axis: stream, vertex numbers and RESTART; runs, how many restarts there are up to each place; marks,
// where they are. Output: o0 (places, 4), int32: primitives that end here, the first place of this run, whether the run
// ends here, 0. MODE: 0 points, 1 lines, 2 line strip, 3 line loop, 4 triangles, 5 triangle strip, 6 triangle fan.
#require MODE
#require RESTART
#include "lib/primitives.glsl"

uniform stream_SAMPLER stream;
uniform ivec4 stream_layout;
uniform runs_SAMPLER runs;
uniform ivec4 runs_layout;
uniform marks_SAMPLER marks;
uniform ivec4 marks_layout;

void point(ivec2 p) {
  int i = p.y * o_layout.x + p.x;
  o0 = ivec4(0);
  if (i >= stream_layout.w || element(stream, stream_layout, i) == RESTART) return;
  int run = element(runs, runs_layout, i);
  int first = run == 0 ? 0 : element(marks, marks_layout, run - 1) + 1;
  bool last = i + 1 == stream_layout.w || element(stream, stream_layout, i + 1) == RESTART;
  int k = i - first;
#if MODE == 0
  int count = 1;
#elif MODE == 1
  int count = k % 2 == 1 ? 1 : 0;
#elif MODE == 2
  int count = k >= 1 ? 1 : 0;
#elif MODE == 3
  int count = k < 1 ? 0 : last ? 2 : 1;
#elif MODE == 4
  int count = k % 3 == 2 ? 1 : 0;
#else
  int count = k >= 2 ? 1 : 0;
#endif
  o0 = ivec4(count, first, last ? 1 : 0, 0);
}
