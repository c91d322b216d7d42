// What stands before a user's fragment shader when it runs over fragments packed as 2 x 2 quads.
//
// The built-in inputs and outputs become globals that the main function fills from textures. The four pixels of a
// quad are neighbours, so that dFdx, dFdy, fwidth and mipmapped texture() are the device's own and right.

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

highp vec4 em_FragCoord;
highp float em_FragDepth;
bool em_FrontFacing;
int em_PrimitiveID;
highp vec2 em_PointCoord;
