#version 330 core
#define LIGHTS 2

struct Material {
    vec3 ambient;
    vec3 diffuse;
    vec3 specular;
    float shininess;
};

struct Light {
    vec3 position;
    vec3 color;
};

uniform Material material;
uniform Light lights[LIGHTS];
uniform vec3 viewPos;

in vec3 FragPos;
in vec3 Normal;

out vec4 FragColor;

vec3 shade(Light light, vec3 n, vec3 toEye)
{
    vec3 toLight = normalize(light.position - FragPos);
    float facing = max(dot(n, toLight), 0.0);
    vec3 mirrored = reflect(-toLight, n);
    float gloss = facing > 0.0 ? pow(max(dot(toEye, mirrored), 0.0), material.shininess) : 0.0;
    return light.color * (facing * material.diffuse + gloss * material.specular);
}

void main()
{
    vec3 n = normalize(Normal);
    vec3 toEye = normalize(viewPos - FragPos);
    vec3 sum = material.ambient;
    for (int i = 0; i < LIGHTS; ++i)
        sum += shade(lights[i], n, toEye);
    FragColor = vec4(sum, 1.0);
}
