"""Rasterisation of binned primitives: exact coverage of every sample of every pair of tile and primitive."""

from __future__ import annotations

import numpy as np

from gpgpu_gl.dtypes import int32
from gpgpu_gl.pipeline.bins import Pairs
from gpgpu_gl.pipeline.edges import Edges
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.tensor import Tensor


def rasterise(pairs: Pairs, edges: Edges, profile: Profile, samples: int) -> Tensor:
    """(n, 4) int32 for one sample, (n, 8) for four: two words of coverage for each sample, 64 pixels of a tile.

    Bit 4 * quad + pixel: quads of 2 x 2 pixels row by row, eight to a word, and the pixels of a quad row by row.
    """
    texels = -(-samples // 2)
    offsets = profile.offsets(samples)
    padded = [*offsets, *[(0, 0)] * (4 - len(offsets))]
    defines = {"TEXELS": texels, "SAMPLES": samples}
    inputs = {"pairs": pairs.table, "c_low": edges.c_low, "dx": edges.dx, "dy": edges.dy}
    shape, bits = (len(pairs), 4 * texels), profile.subpixel_bits
    return make("pipeline_coverage", inputs, shape, int32, defines, offsets=padded, bits=bits)


def pictures(coverage: np.ndarray, pairs: Pairs, size: tuple[int, int], samples: int) -> np.ndarray:
    """(samples, H, W) how many primitives cover each sample: the coverage words unpacked, for tests and pictures."""
    words = coverage.view(np.uint32)[:, : 2 * samples].reshape(len(pairs), samples, 2)
    bits = (words[..., None] >> np.arange(32, dtype=np.uint32)) & 1  # pair, sample, half, bit
    # bit: quad row (1), quad column (2), pixel row (1), pixel column (1)
    parts = (
        bits.reshape(len(pairs), samples, 2, 2, 4, 2, 2)
        .transpose(0, 1, 2, 3, 5, 4, 6)
        .reshape(len(pairs), samples, 8, 8)
    )
    canvas = np.zeros((samples, pairs.up, pairs.across, 8, 8), np.int64)
    for s in range(samples):
        np.add.at(canvas[s], (pairs.y, pairs.x), parts[:, s].astype(np.int64))
    return canvas.transpose(0, 1, 3, 2, 4).reshape(samples, pairs.up * 8, pairs.across * 8)[:, : size[1], : size[0]]
