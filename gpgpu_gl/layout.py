"""Where a tensor's elements lie in its texture: row-major, the last axis packed four to a texel.

Texel t (counted row-major over all axes but the last, then over the last axis' texels) lies at
(t % width, t // width). The last texel of each row is padded with zero lanes: every kernel writes
pad lanes as zero, so that products and sums need no mask; what zero would spoil (a maximum, a mean
of exponentials) masks them when it reads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from gpgpu_gl.errors import OutOfTextureMemory

LANES = 4


@dataclass(frozen=True, slots=True)
class Layout:
    """A shape laid out in a texture of width x height texels.

    columns: texels of one row (the last axis). rows: product of the other axes. lines: rows that one
    line of the texture holds, 0 where a row does not fit a line and is folded over several.
    """

    shape: tuple[int, ...]
    columns: int
    rows: int
    width: int
    height: int
    lines: int

    @property
    def last(self) -> int:
        """Length of the last axis (1 for a scalar)."""
        return self.shape[-1] if self.shape else 1

    @property
    def texels(self) -> int:
        """Texels that hold elements (the texture may have a few more at its end)."""
        return self.rows * self.columns

    @property
    def plain(self) -> bool:
        """One row to a line: texel (column, row) is the texture's own address."""
        return self.lines == 1

    @property
    def uniform(self) -> tuple[int, int, int, int]:
        """What kernels get as NAME_layout: width, columns, rows to a line, last axis' length."""
        return (self.width, self.columns, self.lines, self.last)


def with_width(shape: tuple[int, ...], width: int, height: int) -> Layout:
    """The layout of `shape` in a texture that exists already (a reshaped view keeps its texture)."""
    last = shape[-1] if shape else 1
    columns = -(-last // LANES)
    rows = math.prod(shape[:-1])
    lines = width // columns if columns and width % columns == 0 else 0
    return Layout(shape, columns, rows, width, height, lines)


@lru_cache(maxsize=4096)
def layout(shape: tuple[int, ...], max_side: int) -> Layout:
    """The layout of a new tensor: the most nearly square split of the axes that fits `max_side`.

    A column (n, 1) lies in one line, since work groups run along lines; (H, W, 4) becomes a W x H image, (1, W, 4) too.
    Where no split of the axes fits, the linear texel index is folded over a width that does. Raises OutOfTextureMemory
    where the device's largest texture is too small.
    """
    last = shape[-1] if shape else 1
    columns = -(-last // LANES)
    rows = math.prod(shape[:-1])
    texels = rows * columns
    if texels == 0:
        return Layout(shape, columns, rows, 1, 1, 1)
    best = None
    width = columns
    for axis in range(len(shape) - 1, -1, -1):
        if axis < len(shape) - 1:
            width *= shape[axis]
        height = texels // width
        if width <= max_side and height <= max_side:
            skew = max(width, height) / min(width, height)
            wider = len(shape) == 2 or (len(shape) == 3 and axis == 1)  # where both splits are as nearly square
            if best is None or skew < best[0] or (skew == best[0] and wider):
                best = (skew, width, height)
    if not shape:
        best = (1.0, 1, 1)
    if best is not None:
        return with_width(shape, best[1], best[2])
    if columns <= max_side:
        per_line = min(max_side // columns, max(1, round(math.sqrt(texels) / columns)))
        width = columns * per_line
    else:
        width = min(max_side, math.isqrt(texels - 1) + 1)
    height = -(-texels // width)
    if height > max_side and columns <= max_side:
        width = columns * (max_side // columns)
        height = -(-texels // width)
    if height > max_side:  # rows go over the ends of lines, so that every texel counts
        width = max_side
        height = -(-texels // width)
    if height > max_side:
        raise OutOfTextureMemory(
            f"a tensor of shape {shape} needs {texels} texels, but this device's largest texture holds "
            f"{max_side} x {max_side}; split the tensor"
        )
    return with_width(shape, width, height)
