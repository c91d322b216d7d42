#version 330 core
in Surface {
    mat3 basis;
    vec2 uv;
    vec3 to_light;
} surface;

uniform sampler2D bumps;
uniform sampler2D paint;

out vec4 color;

void main() {
    vec3 bump = texture(bumps, surface.uv).rgb * 2.0 - 1.0;
    vec3 n = normalize(surface.basis * bump);
    float lit = max(dot(n, normalize(surface.to_light)), 0.0);
    color = vec4(texture(paint, surface.uv).rgb * (0.15 + 0.85 * lit), 1.0);
}
