#version 330 core
uniform samplerCube sky;
uniform vec3 eye;
in vec3 world_position;
in vec3 world_normal;
out vec4 color;
void main() {
    vec3 incoming = normalize(world_position - eye);
    vec3 n = normalize(world_normal);
    vec3 mirror = texture(sky, reflect(incoming, n)).rgb;
    vec3 glass = texture(sky, refract(incoming, n, 1.0 / 1.33)).rgb;
    float fresnel = 0.05 + 0.95 * pow(1.0 - max(dot(-incoming, n), 0.0), 5.0);
    color = vec4(mix(glass, mirror, fresnel), 1.0);
}
