// Interpolation set-up: the window position and the barycentric weights of every packed fragment, helpers included.
//
// Inputs: quads (n, 4), int32: x and y of the quad in pixels, primitive, pair; planes (pairs, 4): weights and depth at
// the centre of the tile's first pixel, linear in the window; primitives (n, 12): how the three weights and the depth
// change per pixel in x and y, then 1/w at the corners.
// Outputs: o0 x, y, depth, 1/w; o1 the weights, perspective-correct (points: 1, then gl_PointCoord).
// Uniforms: count of quads, columns of quads.
#default POINTS 0

uniform quads_SAMPLER quads;
uniform ivec4 quads_layout;
uniform planes_SAMPLER planes;
uniform ivec4 planes_layout;
uniform primitives_SAMPLER primitives;
uniform ivec4 primitives_layout;
uniform int count, columns;

void point(ivec2 p) {
  int q = (p.y / 2) * columns + p.x / 2;
  o0 = vec4(0.0);
  o1 = vec4(0.0);
  if (q >= count) return;
  ivec4 quad = texel(quads, quads_layout, q, 0);
  ivec2 pixel = quad.xy + (p & 1);
  vec4 base = texel(planes, planes_layout, quad.w, 0);
  vec4 a = texel(primitives, primitives_layout, quad.z, 0);
  vec4 b = texel(primitives, primitives_layout, quad.z, 1);
  vec4 c = texel(primitives, primitives_layout, quad.z, 2);
  vec2 step = vec2(pixel & 7);
  vec4 v = base + vec4(a.xz, b.xz) * step.x + vec4(a.yw, b.yw) * step.y;
#if POINTS
  o0 = vec4(vec2(pixel) + 0.5, v.w, c.x);
  o1 = vec4(v.xyz, 0.0);
#else
  vec3 shares = v.xyz * c.xyz;
  float w = shares.x + shares.y + shares.z;
  o0 = vec4(vec2(pixel) + 0.5, v.w, w);
  o1 = vec4(shares / w, 0.0);
#endif
}
