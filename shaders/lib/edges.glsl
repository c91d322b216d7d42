// The edges of primitives, as pipeline_edges.glsl makes them: tables (n, 4), int32, an edge to a lane.
#include "lib/wide.glsl"

uniform c_low_SAMPLER c_low;
uniform c_high_SAMPLER c_high;
uniform dx_SAMPLER dx;
uniform dy_SAMPLER dy;
uniform ivec4 c_low_layout;  // of all four

struct Edges {
  ivec4 low, high, x, y;
};

Edges edges_of(int primitive) {
  ivec2 p = address(c_low_layout, primitive);
  return Edges(fetch(c_low, p), fetch(c_high, p), fetch(dx, p), fetch(dy, p));
}
