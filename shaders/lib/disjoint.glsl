// Windows of KY x KX pixels that neither overlap nor leave the image, in textures whose lines hold whole rows of images.
//
// With these, every address follows from the first by additions; the general kernels divide for each.
#require KY  rows of a window
#require KX  columns of a window

// The address one row of pixels below p, where a row has `row` texels.
ivec2 below(ivec2 p, ivec4 layout_, int row) {
  p.x += row;
  return p.x >= layout_.x ? ivec2(p.x - layout_.x, p.y + 1) : p;
}
