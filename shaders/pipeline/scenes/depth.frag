#version 330 core
in vec4 smooth_color;
out vec4 color;
void main() {
  color = smooth_color;
  gl_FragDepth = fract(smooth_color.r * 1.7 + gl_FragCoord.z);
}
