#version 330 core
in vec4 smooth_color;
out vec4 color;
void main() {
  if (length(mod(gl_FragCoord.xy, 9.0) - 4.5) > 3.2) discard;
  color = smooth_color;
}
