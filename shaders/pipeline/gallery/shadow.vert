#version 330 core
layout(location = 0) in vec3 aPos;
layout(location = 1) in vec3 aNormal;

layout(std140) uniform Camera {
    mat4 view;
    mat4 projection;
    vec4 sun;
};
uniform mat4 model;
uniform mat4 lightSpace;

out VS_OUT {
    vec3 Normal;
    vec4 InLight;
} vs_out;

void main()
{
    vs_out.Normal = mat3(model) * aNormal;
    vs_out.InLight = lightSpace * model * vec4(aPos, 1.0);
    gl_Position = projection * view * model * vec4(aPos, 1.0);
}
