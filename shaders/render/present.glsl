// Shows a picture on a target of any size; of both the first line is the top, or with FLIP 1 the target's is its bottom.
//
// Options: CHANNELS 0: a texture with a sampler of its own; 1, 3, 4: a tensor (H, W, CHANNELS), whose texels are read by its
// layout. ENCODE 1: the target does not store sRGB by itself. TONE. Uniforms: picture, picture_layout, target_size.
#include "lib/tensor.glsl"
#include "render/color.glsl"
#default FLIP 0
#default CHANNELS 0

uniform sampler2D picture;
uniform ivec4 picture_layout;
uniform vec2 target_size;
out vec4 out_color;

void main() {
  vec2 at = gl_FragCoord.xy;
#if FLIP
  at.y = target_size.y - at.y;
#endif
#if CHANNELS
  vec4 found = texel(picture, picture_layout, int(at.y) * int(target_size.x) + int(at.x), 0);
#if CHANNELS == 1
  found = vec4(found.xxx, 1.0);
#elif CHANNELS == 3
  found.a = 1.0;
#endif
#else
  vec4 found = textureLod(picture, at / target_size, 0.0);
#endif
  out_color = vec4(displayed(found.rgb), found.a);
}
