#version 330 core
uniform vec3 viewPos;
uniform vec3 sun;
uniform float bands[3];
in vec3 FragPos, Normal;
out vec4 FragColor;

const vec3 base = vec3(0.95, 0.55, 0.2);

float step_down(float x)
{
    if (x > bands[0]) return 1.0;
    else if (x > bands[1]) return 0.7;
    else if (x > bands[2]) return 0.4;
    return 0.2;
}

void main()
{
    vec3 n = normalize(Normal);
    float light = step_down(dot(n, normalize(sun)));
    float edge = dot(n, normalize(viewPos - FragPos));
    FragColor = edge < 0.25 ? vec4(0.05, 0.02, 0.1, 1.0) : vec4(base * light, 1.0);
}
