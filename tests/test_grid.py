"""The shape of the grid that tiles are drawn in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpgpu_gl.gl.grid import _time, cell_texels, cells, cores, extent, grid_width
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.layout import with_width


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.integers(1, 1 << 22), st.integers(1, 900), st.sampled_from([2048, 16384]), st.integers(1, 17))
def test_a_grid_holds_its_cells_within_the_largest_side(total, blocks, most, threads):
    if total > most * most:
        return
    width = grid_width(total, blocks, most, threads)
    assert 1 <= width <= min(total, most)
    assert -(-total // width) <= most


@pytest.mark.parametrize(("total", "blocks"), [(6400, 8), (28672, 8), (14336, 4), (6272, 4), (50176, 4), (7680, 4)])
@pytest.mark.parametrize("threads", [2, 4])
def test_large_grids_are_whole_blocks_and_keep_all_threads_busy(total, blocks, threads):
    width = grid_width(total, blocks, 16384, threads)
    assert width % blocks == 0
    assert _time(width, -(-total // width), threads) < 1.1 * total / threads  # of it, two pixels a line: 3%


@settings(deadline=None, derandomize=True, max_examples=200)
@given(*[st.integers(1, 9)] * 5, st.data())
def test_the_texels_of_some_cells_are_those_that_their_tiles_hold(groups, rows, columns, down, across, data):
    p = Pass("matmul", {}, (), view=(groups, rows, columns), tile=(down, across))
    first = data.draw(st.integers(0, cells(p) - 1))
    last = data.draw(st.integers(first + 1, cells(p)))
    row_blocks, column_blocks = -(-rows // down), -(-columns // across)
    held = []
    for cell in range(first, last):
        group, rest = divmod(cell, row_blocks * column_blocks)
        y, x = rest // column_blocks * down, rest % column_blocks * across
        lines = [(group * rows + r) * columns for r in range(y, min(y + down, rows))]
        held += [line + c for line in lines for c in range(x, min(x + across, columns))]
    low, high = cell_texels(p, first, last)
    assert low <= min(held)
    assert max(held) < high <= groups * rows * columns


def test_cores_are_counted():
    assert cores() >= 1


def test_no_more_is_drawn_of_a_wide_texture_than_a_tensor_takes():
    assert extent(with_width((1, 317, 16), 3136, 128)) == (317 * 4, 1)
    assert extent(with_width((2, 300, 24), 3136, 128)) == (3136, 2)
    assert extent(with_width((5, 20), 5, 5)) == (5, 5)
