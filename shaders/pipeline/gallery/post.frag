#version 330
// Blur in a small cross, a vignette, and a sepia tone.
uniform sampler2D screen;
uniform float kernel[5];
in vec2 uv;
out vec4 fragColor;
void main() {
    vec2 pixel = 1.0 / vec2(textureSize(screen, 0));
    vec3 sum = vec3(0.0);
    for (int i = -2; i <= 2; i++) {
        sum += kernel[i + 2] * texture(screen, uv + vec2(float(i), 0.0) * pixel).rgb;
        sum += kernel[i + 2] * texture(screen, uv + vec2(0.0, float(i)) * pixel).rgb;
    }
    sum *= 0.5;
    const mat3 sepia = mat3(0.393, 0.349, 0.272, 0.769, 0.686, 0.534, 0.189, 0.168, 0.131);
    float vignette = 1.0 - 0.6 * dot(uv - 0.5, uv - 0.5) * 2.0;
    fragColor = vec4(sepia * sum * vignette, 1.0);
}
