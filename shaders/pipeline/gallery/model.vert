#version 330 core
// A model from a file: all its meshes in one draw, in world space, with the colour of their materials.
in vec3 position;
in vec3 normal;
in vec2 uv;
in vec4 tint;
in int layer;

uniform mat4 view;
uniform mat4 projection;

out vec3 world;
out vec3 outward;
out vec2 coordinate;
out vec3 color;
flat out int picture;

void main() {
  world = position;
  outward = normal;
  coordinate = uv;
  color = tint.rgb;
  picture = layer;
  gl_Position = projection * view * vec4(position, 1.0);
}
