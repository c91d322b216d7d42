// A small picture at a place of the target, over what is there.
//
// Uniforms: picture; place: left, top, width, height in pixels from the target's upper left; target_size.
uniform sampler2D picture;
uniform vec4 place;
uniform vec2 target_size;
out vec4 out_color;

void main() {
  vec2 at = (vec2(gl_FragCoord.x, target_size.y - gl_FragCoord.y) - place.xy) / place.zw;
  if (any(lessThan(at, vec2(0.0))) || any(greaterThan(at, vec2(1.0)))) discard;
  out_color = textureLod(picture, at, 0.0);
}
