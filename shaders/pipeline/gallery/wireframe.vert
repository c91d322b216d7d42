#version 330 core
in vec3 position;
in vec3 corner;
uniform mat4 mvp;
out vec3 bary;
flat out int which;
void main() {
    gl_Position = mvp * vec4(position, 1.0);
    bary = corner;
    which = gl_VertexID / 3;
}
