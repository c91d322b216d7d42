#version 330 core
in vec3 bary;
flat in int which;
uniform float thickness = 1.2;
out vec4 color;
void main() {
    vec3 width = fwidth(bary) * thickness;
    vec3 inside = smoothstep(vec3(0.0), width, bary);
    float line = 1.0 - min(min(inside.x, inside.y), inside.z);
    vec3 face = vec3(which % 3 == 0, which % 3 == 1, which % 3 == 2) * 0.2 + 0.1;
    color = vec4(mix(gl_FrontFacing ? face : face * 0.3, vec3(0.3, 1.0, 0.6), line), 1.0);
}
