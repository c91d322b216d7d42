// What stands before a user's fragment shader when it runs over fragments packed as 2 x 2 quads.
//
// The built-in inputs and outputs become globals that the main function fills from textures. The four pixels of a
// quad are neighbours, so that dFdx, dFdy, fwidth and mipmapped texture() are the device's own and right.

#default EM_BRANCHES 0

uniform highp sampler2D em_coord;   // x, y, depth and 1/w of every packed fragment
uniform highp sampler2D em_weights; // its barycentric weights
uniform highp sampler2D em_float_slots;
uniform highp isampler2D em_int_slots;
uniform highp isampler2D em_quads;
uniform highp isampler2D em_primitives;
uniform highp ivec4 em_float_layout;
uniform highp ivec4 em_int_layout;
uniform highp ivec4 em_quad_layout;
uniform highp ivec4 em_primitive_layout;
uniform highp float em_flip; // height of the target where the shader asks for its origin at the upper left, else 0

#if EM_BRANCHES
// Bit k: some time the k-th if of the shader was taken, or was not.
highp int em_taken = 0;
highp int em_passed = 0;
bool em_branch(int k, bool condition) {
  if (condition) em_taken |= 1 << k;
  else em_passed |= 1 << k;
  return condition;
}
#endif

highp vec4 em_FragCoord;
highp float em_FragDepth;
bool em_FrontFacing;
int em_PrimitiveID;
mediump vec2 em_PointCoord;

#ifdef GL_ES
// What GLSL ES 3.00 gives a fragment shader that says nothing (section 4.5.4): the header above was for this file.
precision mediump int;
precision lowp sampler2D;
precision lowp samplerCube;
#endif
