// The main function behind a user's fragment shader, whose own main is called em_main.
// All names of its own begin with em_: the shader's variables and macros may have any other.
//
// FLOATS float and INTS integer slots: EM_Fn or EM_In is the variable (or column, or element) that slot n fills, and
// EM_FPn or EM_IPn the components; EM_ICn converts an integer slot to the variable's type.
// ALIVE is the location of the output that tells a fragment that was not discarded, and holds its depth.
#require EM_FLOATS  float slots of the shader's inputs
#require EM_INTS    integer slots
#require EM_ALIVE   location of the extra output
#default EM_PRIMITIVES 0
#default EM_POINTS 0
#default EM_BRANCHES 0

layout(location = EM_ALIVE) out highp vec4 em_alive;

highp vec4 em_float_slot(int em_at) {
  return texelFetch(em_float_slots, ivec2(em_at % em_float_layout.x, em_at / em_float_layout.x), 0);
}
highp ivec4 em_int_slot(int em_at) {
  return texelFetch(em_int_slots, ivec2(em_at % em_int_layout.x, em_at / em_int_layout.x), 0);
}

void main() {
  ivec2 em_pixel = ivec2(gl_FragCoord.xy);
  int em_fragment = em_pixel.y * textureSize(em_coord, 0).x + em_pixel.x;
  em_FragCoord = texelFetch(em_coord, em_pixel, 0);
  em_FragDepth = em_FragCoord.z;
  if (em_flip > 0.0) em_FragCoord.y = em_flip - em_FragCoord.y;
#if EM_PRIMITIVES
  int em_quad = (em_pixel.y / 2) * (textureSize(em_coord, 0).x / 2) + em_pixel.x / 2;
  int em_at = texelFetch(em_quads, ivec2(em_quad % em_quad_layout.x, em_quad / em_quad_layout.x), 0).z * em_primitive_layout.y + 1;
  ivec4 em_row = texelFetch(em_primitives, ivec2(em_at % em_primitive_layout.x, em_at / em_primitive_layout.x), 0);
  em_PrimitiveID = em_row.x;
  em_FrontFacing = em_row.y != 0;
#endif
#if EM_POINTS
  em_PointCoord = texelFetch(em_weights, em_pixel, 0).yz;
#endif
#unroll n 0 EM_FLOATS
  EM_F$n = em_float_slot(em_fragment * EM_FLOATS + $n).EM_FP$n;
#endunroll
#unroll n 0 EM_INTS
  EM_I$n = EM_IC$n(em_int_slot(em_fragment * EM_INTS + $n).EM_IP$n);
#endunroll
  em_main();
#if EM_BRANCHES
  em_alive = vec4(1.0, em_FragDepth, float(em_taken), float(em_passed));
#else
  em_alive = vec4(1.0, em_FragDepth, 0.0, 1.0);
#endif
}
