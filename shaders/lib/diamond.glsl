// Lines of width 1 by the diamond-exit rule (OpenGL 4.6, section 14.5.1): a line draws the pixels whose diamond
// |x| + |y| < 1/2 around the centre it leaves. An end is moved to the side of its pixel where the figure of the line then
// holds, or does not hold, that pixel. Where an end lies in its pixel but outside the diamond, OpenGL allows a choice;
// this is the one measured on Mesa's software rasteriser.
//
// EXACT_ENDS: what the rasteriser takes for held where an end is just on a pixel's centre along the major axis: 1 what the
// tie rule (left, bottom) makes of the figure, 0 the pixels that older versions of Mesa, 22.3 among them, take for it.
#require EXACT_ENDS
#require LEFT
#require BOTTOM

struct Line {
  vec2 start, end;
  bool steep, forward;
};

// (u, v): along the major axis and across it. u is x, and for steep lines y turned round, so that a line drawn downwards
// goes forward.
vec2 along_major(vec2 p, bool steep) { return steep ? vec2(-p.y, p.x) : p; }

Line line_between(vec2 a, vec2 b) {
  vec2 step = a - b;
  bool steep = abs(step.y) > abs(step.x);
  vec2 d = along_major(step, steep);
  vec2 s = along_major(a - floor(a) - 0.5, steep), e = along_major(b - floor(b) - 0.5, steep);
  bool forward = d.x < 0.0;
  // An end on a pixel's lower border, when the line comes down to it, counts as on the upper border.
  float tie = e.y == -0.5 && d.y < 0.0 ? 0.5 : e.y;
  float slope = d.x != 0.0 ? d.y / d.x : 0.0;
  float turned = steep ? -1.0 : 1.0;  // u runs against y

  // Whether the figure between the bare ends holds the centre of the first and the last pixel.
#if EXACT_ENDS
  bool first_owned = steep ? BOTTOM == 0 : LEFT == 1;  // the side with the smaller u
  bool start_held = (forward ? s.x < 0.0 : s.x > 0.0) || (s.x == 0.0 && forward == first_owned);
  bool end_held = (forward ? e.x > 0.0 : e.x < 0.0) || (e.x == 0.0 && forward != first_owned);
#else
  bool start_held = forward ? s.x <= 0.0 : s.x > 0.0;
  bool end_held = forward ? e.x >= 0.0 : e.x <= 0.0;
#endif

  // Whether they are drawn.
  bool start_ahead = (s.x >= 0.0) != (-d.x >= 0.0), end_ahead = (e.x >= 0.0) != (-d.x >= 0.0);
  bool start_aside = (-s.y * turned >= 0.0) != (d.y * turned >= 0.0);
  bool end_aside = (-tie * turned >= 0.0) != (d.y * turned >= 0.0);
  bool start_meets = abs(s.y + s.x * slope) < 0.5, end_meets = abs(e.y + e.x * slope) < 0.5;
  bool start_drawn = abs(s.x) + abs(s.y) < 0.5 || (start_ahead && (start_aside || start_meets));
  bool on_border = steep && e.y + e.x * slope == -0.5;
  bool end_drawn = !(abs(e.x) + abs(tie) < 0.5) && !end_ahead && (!end_aside || end_meets || on_border);

  float to = forward ? 0.5 : -0.5;
  float start_move = start_held != start_drawn ? -s.x - to : 0.0;
  float end_move = end_held != end_drawn ? -e.x - to : 0.0;
  vec2 start = vec2(start_move, start_move * slope), end = vec2(end_move, end_move * slope);
  if (steep) {
    start = vec2(start.y, -start.x);
    end = vec2(end.y, -end.x);
  }
  return Line(a + start, b + end, steep, forward);
}
