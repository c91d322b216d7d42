centroid in float w;
out vec4 color;
void main() { color = vec4(1.0, gl_FragCoord.z, gl_PointCoord.x, w); }
