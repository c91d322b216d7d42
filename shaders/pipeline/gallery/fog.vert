#version 300 es
precision highp float;
layout(location = 0) in vec4 a_position;
layout(location = 1) in vec2 a_uv;
uniform mat4 u_mvp;
out highp float v_distance;
out mediump vec2 v_uv;
void main() {
  gl_Position = u_mvp * a_position;
  v_distance = gl_Position.w;
  v_uv = a_uv;
}
