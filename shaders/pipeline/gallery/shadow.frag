#version 330 core
layout(std140) uniform Camera {
    mat4 view;
    mat4 projection;
    vec4 sun;
};
uniform sampler2DShadow shadowMap;
uniform float bias;

in VS_OUT {
    vec3 Normal;
    vec4 InLight;
} fs_in;

out vec4 FragColor;

float visible()
{
    vec3 p = fs_in.InLight.xyz / fs_in.InLight.w * 0.5 + 0.5;
    vec2 texel = 1.0 / vec2(textureSize(shadowMap, 0));
    float sum = 0.0;
    for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
            sum += texture(shadowMap, vec3(p.xy + vec2(x, y) * texel, p.z - bias));
    return sum / 9.0;
}

void main()
{
    float lit = max(dot(normalize(fs_in.Normal), normalize(sun.xyz)), 0.0) * visible();
    FragColor = vec4(vec3(0.1, 0.12, 0.15) + lit * vec3(0.9, 0.8, 0.7), 1.0);
}
