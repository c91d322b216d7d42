"""Binning: which primitive meets which tile of 8 x 8 pixels, in drawing order within each tile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpgpu_gl.dtypes import int32
from gpgpu_gl.ops.create import arange
from gpgpu_gl.ops.scan import searchsorted
from gpgpu_gl.ops.shape import getitem
from gpgpu_gl.ops.sort import argsort
from gpgpu_gl.ops.take import take
from gpgpu_gl.pipeline.edges import Edges
from gpgpu_gl.pipeline.expand import expand
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.tensor import Tensor

TILE = 8


@dataclass(frozen=True)
class Pairs:
    """One row for each (tile, primitive) that may meet, sorted by tile, then by primitive.

    table: (n, 8) int32, each edge function at the tile's lower left corner, divided by the subpixels of a pixel and rounded
    down; the primitive, the tile's x and y, 1. starts: (tiles + 1,) int32, the first pair of every tile, counted row by row.
    across, up: tiles in x and y. The other fields are columns of the table on the host.
    """

    table: Tensor
    starts: Tensor
    across: int
    up: int

    def __len__(self) -> int:
        return self.table.shape[0]

    @cached_property
    def most(self) -> int:
        """The largest number of pairs of one tile."""
        return int(np.diff(self.starts.numpy()).max(initial=0))

    @cached_property
    def _rows(self) -> np.ndarray:
        return self.table.numpy()

    @property
    def primitive(self) -> np.ndarray:
        """(n,) primitives."""
        return self._rows[:, 4]

    @property
    def x(self) -> np.ndarray:
        """(n,) places of tiles in x, in tiles."""
        return self._rows[:, 5]

    @property
    def y(self) -> np.ndarray:
        """(n,) places of tiles in y, in tiles."""
        return self._rows[:, 6]


def bin_primitives(edges: Edges, size: tuple[int, int], bits: int) -> Pairs:
    """Pairs of primitives and tiles. A tile wholly beyond one edge of a primitive is left out."""
    across, up = -(-size[0] // TILE), -(-size[1] // TILE)
    spans = make("pipeline_bin_count", {"boxes": edges.boxes}, (len(edges), 4), int32, bits=bits, tiles=(across, up))
    every = {"c_low": edges.c_low, "c_high": edges.c_high, "dx": edges.dx, "dy": edges.dy}
    lines = _each("pipeline_bin_lines", "spans", spans, every, 4, bits)
    table = _each("pipeline_bin", "lines", lines, every, 8, bits)
    meeting = take(table, expand(getitem(table, (slice(None), 7))).owner, axis=0)
    tile = getitem(meeting, (slice(None), 6)) * across + getitem(meeting, (slice(None), 5))
    order = argsort(tile)
    starts = searchsorted(take(tile, order, axis=0), arange(across * up + 1))
    return Pairs(take(meeting, order, axis=0), starts, across, up)


def _each(kernel: str, name: str, rows: Tensor, edges: dict[str, Tensor], columns: int, bits: int) -> Tensor:
    """A table with as many rows for each of (n, 4) rows as its last element says."""
    found = expand(getitem(rows, (slice(None), 3)))
    inputs = {name: rows, **edges, "owner": found.owner, "ends": found.ends}
    return make(kernel, inputs, (len(found), columns), int32, bits=bits)
