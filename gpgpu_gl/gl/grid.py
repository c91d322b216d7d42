"""How many pixels a pass draws, and in which shape: a grid of cells, one for each tile."""

from __future__ import annotations

import functools
import math
import os
from typing import TYPE_CHECKING

from gpgpu_gl.layout import Layout

if TYPE_CHECKING:
    from gpgpu_gl.gl.passes import Pass

BIN = 64  # llvmpipe hands 64 x 64 pixels to a core at a time
LINE_COST = 2  # pixels' worth of work that llvmpipe adds to each line of a bin
WIDEST = 4 * BIN
MOST_SCRATCH = 1 << 20  # bytes that tiles are drawn into before they are gathered, on processors: what their caches hold
LAYERS = 8  # of the array texture that they are drawn into, at most


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.lru_cache(maxsize=1024)
def grid_width(total: int, column_blocks: int, max_side: int, threads: int) -> int:
    """Cells in one line of a grid of `total` cells.

    Whole blocks of column_blocks, so that neighbours share what they fetch, as long as the grid fits max_side; of these
    the width whose bins keep `threads` threads equally busy.
    """
    most = min(max(WIDEST, column_blocks), max_side)
    widths = [w for w in range(column_blocks, most + 1, column_blocks) if -(-total // w) <= max_side]
    if column_blocks > total or not widths:
        return min(total, max(BIN, math.isqrt(total - 1) + 1), max_side)
    return min(total, min(widths, key=lambda w: (_time(w, -(-total // w), threads), -w)))


def _time(width: int, height: int, threads: int) -> float:
    """What the busiest of the threads does, each of which takes the next bin when it has done one."""
    columns, rows = (_pieces(side) for side in (width, height))
    busy = [0.0] * threads
    for lines, count in rows:
        for pixels, across in columns:
            work = lines * (pixels + LINE_COST)
            number = count * across
            share, rest = divmod(number, threads)
            busy = [b + share * work for b in sorted(busy)]
            for i in range(rest):
                busy[i] += work
    return max(busy)


def _pieces(side: int) -> list[tuple[int, int]]:
    """(size, count) of the bins along a side."""
    whole, rest = divmod(side, BIN)
    return [piece for piece in ((BIN, whole), (rest, int(rest > 0))) if piece[1]]


def extent(lay: Layout) -> tuple[int, int]:
    """Width and height in texels of what a tensor takes of its texture (a planned texture may be larger and wider)."""
    return min(lay.width, lay.texels), -(-lay.texels // lay.width)


def cells(p: Pass) -> int:
    """Tiles of a tile pass."""
    groups, rows, columns = p.view or (0, 0, 0)
    return groups * -(-rows // p.tile[0]) * -(-columns // p.tile[1])


def scratch_size(texel_bytes: int, max_side: int) -> tuple[int, int]:
    """Width and height of the array texture that a processor's tiles are drawn into: one for all, so that they share it."""
    width = min(WIDEST, max_side)
    return width, min(max(MOST_SCRATCH // (width * LAYERS * texel_bytes), 1), max_side)


def tile_grid(p: Pass, texel_bytes: int, max_side: int, threads: int, software: bool) -> tuple[int, int, tuple[int, int]]:
    """Cells in a line of the grid of a tile pass, lines that are drawn at a time, and the size of what they are drawn into.

    Hardware draws all at once: a part would not fill its many threads.
    """
    total, columns = cells(p), p.view[2] if p.view else 1
    width = grid_width(total, -(-columns // p.tile[1]), max_side, threads)
    if not software:
        return width, -(-total // width), (width, -(-total // width))
    size = scratch_size(texel_bytes, max_side)
    width = -(-width // -(-width // size[0]))
    lines = -(-total // width)
    return width, -(-lines // -(-lines // size[1])), size


def cell_texels(p: Pass, first: int, last: int) -> tuple[int, int]:
    """The texels of the output, row-major, from the first one of cell `first` on to the last one before cell `last`."""
    _, rows, columns = p.view or (0, 0, 0)
    down, across = -(-rows // p.tile[0]), -(-columns // p.tile[1])
    (group, block), (end, end_block) = (divmod(cell // across, down) for cell in (first, last - 1))
    low = (group * rows + block * p.tile[0]) * columns
    return low, (end * rows + min((end_block + 1) * p.tile[0], rows)) * columns


def blocks(p: Pass) -> int:
    """Work groups of a tile pass that shares memory."""
    groups, rows, columns = p.view or (0, 0, 0)
    across, down = p.block or (1, 1)
    return groups * -(-rows // (p.tile[0] * down)) * -(-columns // (p.tile[1] * across))
