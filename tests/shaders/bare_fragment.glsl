// Blinn-Phong under one light of a colour.
in vec3 v_normal;
in vec3 v_position;
uniform vec3 eye, to_light, color, light, ambient, specular;
uniform float shininess;
out vec4 out_color;

void main() {
  vec3 n = normalize(v_normal), v = normalize(eye - v_position);
  float facing = dot(n, to_light);
  vec3 shine = vec3(0.0);
  if (facing > 0.0) shine = light * pow(max(dot(n, normalize(to_light + v)), 0.0), shininess);
  out_color = vec4(color * (ambient + light * max(facing, 0.0)) + specular * shine, 1.0);
}
