// Shows a picture whose row 0 is at the top.
uniform sampler2D picture;
uniform vec2 size; // of the window in pixels
out vec4 color;
void main() {
  vec2 at = gl_FragCoord.xy / size;
  color = vec4(texture(picture, vec2(at.x, 1.0 - at.y)).rgb, 1.0);
}
