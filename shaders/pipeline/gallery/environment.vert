#version 330 core
in vec3 position;
in vec3 normal;
uniform mat4 model, view, projection;
out vec3 world_position;
out vec3 world_normal;
void main() {
    vec4 p = model * vec4(position, 1.0);
    world_position = p.xyz;
    world_normal = mat3(model) * normal;
    gl_Position = projection * view * p;
}
