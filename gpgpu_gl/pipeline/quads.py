"""Quads: every 2 x 2 block of pixels in which a primitive covers a sample, helper pixels included."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpgpu_gl.dtypes import int32
from gpgpu_gl.ops.shape import getitem
from gpgpu_gl.ops.take import take
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.bins import TILE, Pairs
from gpgpu_gl.pipeline.expand import Expansion, expand
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.tensor import Tensor


@dataclass(frozen=True)
class Quads:
    """One row for each quad, by tile, primitive and place.

    table: (n, 4) int32, x and y of its lower left pixel, primitive, pair. facts: (pairs, 4) int32, the first quad of each
    pair, front facing, primitive, 0. coverage: the words of the pairs, of so many samples.
    The quads are packed: quad i lies at column i % columns of row i // columns.
    """

    table: Tensor
    facts: Tensor
    coverage: Tensor
    samples: int

    def __len__(self) -> int:
        return self.table.shape[0]

    @property
    def columns(self) -> int:
        """Quads in a row of the packed ones."""
        return max(math.ceil(math.sqrt(len(self))), 1)

    @property
    def rows(self) -> int:
        """Rows of packed quads."""
        return max(-(-len(self) // self.columns), 1)

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width) in packed fragments."""
        return 2 * self.rows, 2 * self.columns

    def taken(self, which: Expansion) -> Quads:
        """Some of the quads, packed anew."""
        return Quads(take(self.table, which.owner, axis=0), self.facts, self.coverage, self.samples)

    @cached_property
    def _rows(self) -> np.ndarray:
        return self.table.numpy()

    @property
    def x(self) -> np.ndarray:
        """(n,) the left pixel, on the host."""
        return self._rows[:, 0]

    @property
    def y(self) -> np.ndarray:
        """(n,) the lower pixel, on the host."""
        return self._rows[:, 1]

    @property
    def primitive(self) -> np.ndarray:
        """(n,) the primitive, on the host."""
        return self._rows[:, 2]

    @property
    def pair(self) -> np.ndarray:
        """(n,) the pair of tile and primitive, on the host."""
        return self._rows[:, 3]

    @cached_property
    def mask(self) -> np.ndarray:
        """(n, samples) four bits of covered pixels, row by row, on the host."""
        words = self.coverage.numpy()[self.pair, : 2 * self.samples].reshape(len(self), self.samples, 2)
        place = self.y % TILE // 2 * 4 + self.x % TILE // 2
        word = np.take_along_axis(words, (place // 8)[:, None, None], 2)[..., 0].view(np.uint32)
        return ((word >> (4 * (place % 8)).astype(np.uint32)[:, None]) & 15).astype(np.uint8)


def find_quads(coverage: Tensor, pairs: Pairs, primitives: Primitives, samples: int) -> Quads:
    """Quads of the (pairs, 4 or 8) words of coverage."""
    defines = {"TEXELS": -(-samples // 2)}
    counts = make("pipeline_quad_count", {"coverage": coverage}, (len(pairs), 4), int32, defines)
    found = expand(getitem(counts, (slice(None), 0)))
    inputs = {"coverage": coverage, "pairs": pairs.table, "owner": found.owner, "ends": found.ends}
    table = make("pipeline_quads", inputs, (len(found), 4), int32, defines)
    inputs = {"pairs": pairs.table, "primitives": primitives.table, "ends": found.ends}
    facts = make("pipeline_quad_facts", inputs, (len(pairs), 4), int32)
    return Quads(table, facts, coverage, samples)
