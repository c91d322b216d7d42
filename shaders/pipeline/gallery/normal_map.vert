#version 330 core
in vec3 position;
in vec3 normal;
in vec3 tangent;
in vec2 uv;

uniform mat4 model_view;
uniform mat4 projection;
uniform vec3 light_in_view;

out Surface {
    mat3 basis;
    vec2 uv;
    vec3 to_light;
} surface;

void main() {
    vec4 p = model_view * vec4(position, 1.0);
    vec3 n = normalize(mat3(model_view) * normal);
    vec3 t = normalize(mat3(model_view) * tangent);
    t = normalize(t - dot(t, n) * n);
    surface.basis = mat3(t, cross(n, t), n);
    surface.uv = uv * 4.0;
    surface.to_light = light_in_view - p.xyz;
    gl_Position = projection * p;
}
