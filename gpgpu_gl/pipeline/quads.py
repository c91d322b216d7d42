"""Quads: every 2 x 2 block of pixels in which a primitive covers a sample, helper pixels included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.pipeline.bins import TILE, Pairs


@dataclass
class Quads:
    """One row for each quad, by tile, primitive and place.

    x, y: (n,) its lower left pixel. primitive, pair: (n,). mask: (n, samples) four bits of covered pixels, row by row.
    first: (pairs,) the first quad of each pair.
    columns, rows: how the quads are packed: quad i lies at column i % columns of row i // columns.
    """

    x: np.ndarray
    y: np.ndarray
    primitive: np.ndarray
    pair: np.ndarray
    mask: np.ndarray
    first: np.ndarray
    columns: int
    rows: int

    def __len__(self) -> int:
        return len(self.x)

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width) in packed fragments."""
        return 2 * self.rows, 2 * self.columns

    def table(self) -> np.ndarray:
        """(n, 4) int32 for the kernels: x, y, primitive, pair."""
        return np.stack([self.x, self.y, self.primitive, self.pair], -1).astype(np.int32)


def find_quads(coverage: np.ndarray, pairs: Pairs, samples: int) -> Quads:
    """Quads of the (pairs, 4 or 8) words of coverage."""
    words = np.ascontiguousarray(coverage[:, : 2 * samples]).view(np.uint8)  # little-endian: two quads to a byte
    bytes_ = words.reshape(len(pairs), samples, 8)
    nibbles = np.stack([bytes_ & 15, bytes_ >> 4], -1).reshape(len(pairs), samples, 16)
    found = np.bitwise_or.reduce(nibbles, axis=1)
    pair, place = np.nonzero(found)
    counts = np.count_nonzero(found, axis=1)
    columns = max(int(np.ceil(np.sqrt(len(pair)))), 1)
    return Quads(
        pairs.x[pair] * TILE + place % 4 * 2,
        pairs.y[pair] * TILE + place // 4 * 2,
        pairs.primitive[pair],
        pair,
        nibbles[pair, :, place],
        np.cumsum(counts) - counts,
        columns,
        max(-(-len(pair) // columns), 1),
    )
