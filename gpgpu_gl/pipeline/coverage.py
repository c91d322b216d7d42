"""Rasterisation of binned primitives: exact coverage of every sample of every pair of tile and primitive."""

from __future__ import annotations

import numpy as np

from gpgpu_gl.dtypes import int32
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.pipeline.bins import Pairs
from gpgpu_gl.pipeline.edges import Edges
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.tensor import Tensor, engine, new, tensor


def upload_pairs(pairs: Pairs) -> Tensor:
    """(n, 8) int32: the edge functions at the tile, the primitive, the tile's x and y."""
    rows = np.zeros((len(pairs), 8), np.int32)
    rows[:, :4] = pairs.edges
    rows[:, 4], rows[:, 5], rows[:, 6] = pairs.primitive, pairs.x, pairs.y
    return tensor(rows)


def upload_edges(edges: Edges, bits: int) -> Tensor:
    """(n, 12) int32: dx and dy of each edge in turn, then what is left of each edge's c below one pixel.

    The rest is the same at every tile, whose sides are whole pixels.
    """
    rows = np.zeros((len(edges), 12), np.int32)
    rows[:, 0:8:2], rows[:, 1:8:2] = edges.dx, edges.dy
    rows[:, 8:] = edges.c & ((1 << bits) - 1)
    return tensor(rows)


def rasterise(pairs: Tensor, edges: Tensor, profile: Profile, samples: int) -> Tensor:
    """(n, 4) int32 for one sample, (n, 8) for four: two words of coverage for each sample, 64 pixels of a tile.

    Bit 4 * quad + pixel: quads of 2 x 2 pixels row by row, eight to a word, and the pixels of a quad row by row.
    """
    texels = -(-samples // 2)
    out = new((pairs.shape[0], 4 * texels), int32)
    offsets = profile.offsets(samples)
    uniforms = {"offsets": [*offsets, *[(0, 0)] * (4 - len(offsets))], "bits": profile.subpixel_bits}
    defines = {"TEXELS": texels, "SAMPLES": samples}
    engine().run(
        Pass("pipeline_coverage", {"pairs": pairs.operand, "edges": edges.operand}, (out.operand,), defines, uniforms)
    )
    return out


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
