// Windows that slide over images: convolution and pooling. Images are (N, H, W, C); a row of a tensor is a pixel.
//
// Uniforms: image  rows and columns of pixels of the larger side (a convolution's input)
//           result rows and columns of windows (its output)
//           window rows and columns of a window; stride, dilation; border: padding above and to the left.

uniform ivec2 image, result, window, stride, dilation, border;

// (batch item, y, x) of pixel number `at` of images of that size.
ivec3 pixel_of(int at, ivec2 size) {
  int line = at / size.y;
  return ivec3(line / size.x, line % size.x, at % size.y);
}

int pixel_at(int item, ivec2 size, ivec2 at) { return (item * size.x + at.x) * size.y + at.y; }

bool inside(ivec2 at, ivec2 size) { return at.x >= 0 && at.y >= 0 && at.x < size.x && at.y < size.y; }

// The window whose tap `tap` reads pixel `at`; (-1, -1) where there is none.
ivec2 window_of(ivec2 at, ivec2 tap) {
  ivec2 from = at + border - tap * dilation;
  ivec2 o = from / stride;
  return from.x >= 0 && from.y >= 0 && o * stride == from && inside(o, result) ? o : ivec2(-1);
}
