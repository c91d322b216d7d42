// The sky behind everything: the environment along each pixel's ray.
//
// Uniforms: view: slot of the camera; viewport.
#include "render/matrices.glsl"
#include "render/color.glsl"
#include "render/environment.glsl"

out vec4 out_color;
uniform int view;
uniform vec2 viewport;
uniform float sky_blur;

void main() {
  mat4 back = inverse(view_projection(view));
  vec2 at = gl_FragCoord.xy / viewport * 2.0 - 1.0;
  vec4 near = back * vec4(at, -1.0, 1.0), far = back * vec4(at, 1.0, 1.0);
  vec3 ray = far.xyz / far.w - near.xyz / near.w;
  out_color = vec4(displayed(environment_at(ray, sky_blur)), 1.0);
}
