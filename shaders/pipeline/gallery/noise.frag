#version 330
uniform float time;
uniform int octaves;
in vec2 uv;
layout(location = 0) out vec4 fragColor;

uint scramble(uint v) {
    v = (v ^ 61u) ^ (v >> 16);
    v *= 9u;
    v ^= v >> 4;
    v *= 0x27d4eb2du;
    return v ^ (v >> 15);
}

float lattice(ivec2 p) {
    return float(scramble(uint(p.x) * 73856093u ^ uint(p.y) * 19349663u) & 0xffffu) / 65535.0;
}

float value_noise(vec2 p) {
    ivec2 i = ivec2(floor(p));
    vec2 f = fract(p);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(lattice(i), lattice(i + ivec2(1, 0)), f.x),
               mix(lattice(i + ivec2(0, 1)), lattice(i + ivec2(1, 1)), f.x), f.y);
}

void main() {
    vec2 p = uv * 6.0 + time;
    float sum = 0.0, weight = 0.5;
    for (int k = 0; k < octaves; k++) {
        sum += weight * value_noise(p);
        p = p * 2.03 + 17.0;
        weight *= 0.5;
    }
    vec3 sky = mix(vec3(0.2, 0.4, 0.8), vec3(1.0), smoothstep(0.35, 0.75, sum));
    fragColor = vec4(sky, 1.0);
}
