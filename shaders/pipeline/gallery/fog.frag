#version 300 es
precision mediump float;
uniform sampler2D u_ground;
uniform vec4 u_fog;
in highp float v_distance;
in vec2 v_uv;
out vec4 o_color;
void main() {
  vec4 ground = texture(u_ground, v_uv);
  float clear = exp(-u_fog.a * v_distance * v_distance);
  o_color = vec4(mix(u_fog.rgb, ground.rgb, clamp(clear, 0.0, 1.0)), 1.0);
}
