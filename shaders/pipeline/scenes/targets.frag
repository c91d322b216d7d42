#version 330 core
in vec4 smooth_color;
layout(location = 0) out vec4 albedo;
layout(location = 1) out vec4 place;
layout(location = 2) out ivec4 numbers;
void main() {
  albedo = smooth_color;
  place = vec4(gl_FragCoord.xyz, 1.0 / gl_FragCoord.w);
  numbers = ivec4(gl_PrimitiveID, ivec2(gl_FragCoord.xy), -7);
}
