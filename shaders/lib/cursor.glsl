// Cursors: addresses of texels made cheap to move, for inner loops.
//
// A cursor is what the fetch itself takes: a texel's address, or with FETCH_LOD the normalised coordinates of its centre,
// so that the conversion is paid once and each further fetch costs one multiply-add. A step is so many texels along x or
// y. Reach every texel by a few moves from its cursor_at, not by thousands: each move rounds by up to 2^-24 of the
// texture's side, and the centre of a texel is half a texel from its edge.

#if FETCH_LOD
#define CURSOR vec2
#define STEP float
#define MOVED_X(cursor, n, step_) ((cursor) + vec2(float(n) * (step_), 0.0))
#define MOVED_Y(cursor, n, step_) ((cursor) + vec2(0.0, float(n) * (step_)))
vec2 cursor_at(sampler2D s, ivec2 p) { return (vec2(p) + 0.5) * (1.0 / vec2(textureSize(s, 0))); }
float step_x(sampler2D s, int texels) { return float(texels) * (1.0 / float(textureSize(s, 0).x)); }
float step_y(sampler2D s, int texels) { return float(texels) * (1.0 / float(textureSize(s, 0).y)); }
vec4 read(sampler2D s, vec2 cursor) { COUNT_FETCH return textureLod(s, cursor, 0.0); }
#else
#define CURSOR ivec2
#define STEP int
#define MOVED_X(cursor, n, step_) ((cursor) + ivec2((n) * (step_), 0))
#define MOVED_Y(cursor, n, step_) ((cursor) + ivec2(0, (n) * (step_)))
ivec2 cursor_at(sampler2D s, ivec2 p) { return p; }
int step_x(sampler2D s, int texels) { return texels; }
int step_y(sampler2D s, int texels) { return texels; }
vec4 read(sampler2D s, ivec2 cursor) { COUNT_FETCH return texelFetch(s, cursor, 0); }
#endif
