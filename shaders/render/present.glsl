// Shows a picture whose first line is its top in a target whose first line is its bottom (FLIP 1) or top.
//
// Options: ENCODE 1: the picture is linear light, and the target does not encode; TONE. Uniforms: picture, target_size.
#include "render/color.glsl"
#default FLIP 0

uniform sampler2D picture;
uniform vec2 target_size;
out vec4 out_color;

void main() {
  vec2 at = gl_FragCoord.xy / target_size;
#if FLIP
  at.y = 1.0 - at.y;
#endif
  vec4 found = textureLod(picture, at, 0.0);
  out_color = vec4(displayed(found.rgb), found.a);
}
