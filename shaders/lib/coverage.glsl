// The coverage of pairs of tile and primitive, whatever the number of samples: (pairs, 4 * TEXELS), int32.
#require TEXELS
#include "lib/fragments.glsl"

uniform coverage_SAMPLER coverage;
uniform ivec4 coverage_layout;

// The words of a pair that have a bit for each pixel with a covered sample.
uvec2 any_sample(int pair) {
  uvec2 words = uvec2(0u);
#unroll i 0 TEXELS
  {
    uvec4 found = uvec4(texel(coverage, coverage_layout, pair, $i));
    words |= found.xy | found.zw;
  }
#endunroll
  return words;
}
