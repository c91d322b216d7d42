"""Binning: which primitive meets which tile of 8 x 8 pixels, in drawing order within each tile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.pipeline.edges import Edges

TILE = 8


@dataclass
class Pairs:
    """One row for each (tile, primitive) that may meet, sorted by tile, then by primitive.

    primitive, x, y: (n,) the primitive and the tile's place. edges: (n, 4) each edge function at the tile's lower left
    corner, divided by the subpixels of a pixel and rounded down. starts: (tiles + 1,) the first pair of every tile,
    counted row by row. across, up: tiles in x and y.
    """

    primitive: np.ndarray
    x: np.ndarray
    y: np.ndarray
    edges: np.ndarray
    starts: np.ndarray
    across: int
    up: int

    def __len__(self) -> int:
        return len(self.primitive)


def bin_primitives(edges: Edges, size: tuple[int, int], bits: int) -> Pairs:
    """Pairs of primitives and tiles. A tile wholly beyond one edge of a primitive is left out."""
    across, up = -(-size[0] // TILE), -(-size[1] // TILE)
    side = TILE << bits
    last = np.array([across, up]) - 1
    low = np.clip(edges.low // side, 0, last + 1)
    high = np.clip(edges.high // side, -1, last)
    extent = np.maximum(high - low + 1, 0)
    counts = extent[:, 0] * extent[:, 1]
    primitive = np.repeat(np.arange(len(edges)), counts)
    within = np.arange(len(primitive)) - np.repeat(np.cumsum(counts) - counts, counts)
    wide = np.maximum(extent[primitive, 0], 1)
    x = low[primitive, 0] + within % wide
    y = low[primitive, 1] + within // wide
    dx, dy = edges.dx[primitive], edges.dy[primitive]
    value = edges.c[primitive] + dx * (y * side)[:, None] - dy * (x * side)[:, None]
    highest = value + np.maximum(dx, 0) * side + np.maximum(-dy, 0) * side
    meets = (highest >= 0).all(1)
    primitive, x, y, value = primitive[meets], x[meets], y[meets], value[meets]
    tile = y * across + x
    order = np.argsort(tile.astype(np.uint16) if across * up <= 1 << 16 else tile, kind="stable")
    starts = np.zeros(across * up + 1, np.int64)
    np.cumsum(np.bincount(tile, minlength=across * up), out=starts[1:])
    # Within a tile the other terms stay below 2**28, so that a value cut to 2**29 keeps its sign.
    cut = np.clip(value[order] >> bits, -(1 << 29), 1 << 29)
    return Pairs(primitive[order], x[order], y[order], cut.astype(np.int32), starts, across, up)
