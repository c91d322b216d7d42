"""Lists whose lengths the data decide: as many entries for each row as its count says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.dtypes import int32
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.ops.create import arange
from gpgpu_gl.ops.scan import cumulative_sum, searchsorted
from gpgpu_gl.ops.shape import getitem
from gpgpu_gl.tensor import Tensor, tensor


@dataclass(frozen=True)
class Expansion:
    """owner: (total,) int32, the row of each entry, in order. ends: (rows,) int32, the sums of counts up to each row."""

    owner: Tensor
    ends: Tensor

    def __len__(self) -> int:
        return self.owner.shape[0]


def expand(counts: Tensor) -> Expansion:
    """One entry for each of the (rows,) int32 counts. Counts of 0 and 1 pick rows. Waits for the device to tell the sum.

    Raises ShapeError where the sum does not fit in 31 bits.
    """
    if counts.size == 0:
        return Expansion(tensor(np.zeros(0, np.int32)), counts)
    ends = cumulative_sum(counts)
    total = _total(ends)
    if total < 0:
        raise ShapeError("a stage of the pipeline makes more than 2^31 entries; draw in parts")
    if total == 0:
        return Expansion(tensor(np.zeros(0, np.int32)), ends)
    return Expansion(searchsorted(ends, arange(total, dtype=int32), side="right"), ends)


def _total(ends: Tensor) -> int:
    return int(getitem(ends, -1))
