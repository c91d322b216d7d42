"""The shape of the grid that tiles are drawn in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpgpu_gl.gl.grid import _time, cores, grid_width


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


def test_cores_are_counted():
    assert cores() >= 1
