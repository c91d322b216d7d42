#version 330
uniform vec2 resolution;
uniform float time;
in vec2 uv;
out vec4 fragColor;

float scene(vec3 p) {
    float ball = length(p - vec3(0.4 * sin(time), 0.1, 0.0)) - 0.6;
    vec3 q = abs(p - vec3(-0.7, -0.1, 0.5)) - vec3(0.35);
    float box = length(max(q, 0.0)) + min(max(q.x, max(q.y, q.z)), 0.0);
    return min(min(ball, box), p.y + 0.55);
}

vec3 normal_at(vec3 p) {
    vec2 e = vec2(0.004, 0.0);
    return normalize(vec3(scene(p + e.xyy) - scene(p - e.xyy),
                          scene(p + e.yxy) - scene(p - e.yxy),
                          scene(p + e.yyx) - scene(p - e.yyx)));
}

void main() {
    vec2 at = (gl_FragCoord.xy * 2.0 - resolution) / resolution.y;
    vec3 origin = vec3(0.0, 0.3, -2.6), direction = normalize(vec3(at, 1.6));
    float travelled = 0.0;
    for (int i = 0; i < 64; i++) {
        float d = scene(origin + direction * travelled);
        if (d < 0.002 || travelled > 9.0) break;
        travelled += d;
    }
    vec3 color = mix(vec3(0.9, 0.95, 1.0), vec3(0.4, 0.6, 0.9), uv.y);
    if (travelled < 9.0) {
        vec3 p = origin + direction * travelled, n = normal_at(p);
        float light = 0.2 + 0.8 * max(dot(n, normalize(vec3(0.6, 0.9, -0.5))), 0.0);
        color = mix(vec3(light) * vec3(0.8, 0.6, 0.5), color, smoothstep(4.0, 9.0, travelled));
    }
    fragColor = vec4(color, 1.0);
}
