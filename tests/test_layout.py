"""Where elements lie in textures: properties of layouts, and that uploads and kernels keep to them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from harness import largest_side, strided
from hypothesis import given, settings
from hypothesis import strategies as st

import gpgpu_gl as gg
from gpgpu_gl.layout import LANES, layout, with_width
from gpgpu_gl.tensor import engine

pytestmark = pytest.mark.gl33

shapes = st.one_of(st.lists(st.integers(0, 7), max_size=4), st.lists(st.integers(0, 70), max_size=2)).map(tuple)


def places(shape: tuple[int, ...], width: int) -> np.ndarray:
    """(line, column, lane) of every element, by the definition: texels row-major, the last axis four to a texel."""
    last = shape[-1] if shape else 1
    columns = -(-last // LANES)
    rows, elements = math.prod(shape[:-1]), np.arange(last)
    texel = np.arange(rows)[:, None] * columns + elements // LANES
    return np.stack([texel // width, texel % width, np.broadcast_to(elements % LANES, texel.shape)], -1)


@given(shapes, st.sampled_from([4, 16, 64, 16384]))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_a_layout_holds_every_element_once_within_the_largest_side(shape: tuple[int, ...], side: int) -> None:
    columns = -(-(shape[-1] if shape else 1) // LANES)
    texels = math.prod(shape[:-1]) * columns
    if texels > side * side:
        with pytest.raises(gg.OutOfTextureMemory, match=f"{side} x {side}"):
            layout(shape, side)
        return
    lay = layout(shape, side)
    assert 1 <= lay.width <= side
    assert 1 <= lay.height <= side
    assert lay.texels == texels
    assert lay.columns == columns
    assert lay.width * lay.height >= texels
    where = places(shape, lay.width).reshape(-1, 3)
    assert len({tuple(place) for place in where.tolist()}) == math.prod(shape)
    assert (where < (lay.height, lay.width, LANES)).all()
    if texels:  # no line of the texture is wasted
        assert lay.width * (lay.height - 1) < texels


@given(shapes)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_lines_say_how_rows_lie(shape: tuple[int, ...]) -> None:
    lay = layout(shape, 64) if math.prod(shape[:-1]) * -(-(shape[-1] if shape else 1) // 4) <= 64 * 64 else None
    if lay is None or not lay.texels:
        return
    if lay.lines:
        assert lay.lines * lay.columns == lay.width
    else:
        assert lay.width % lay.columns
    assert lay.plain == (lay.lines == 1)
    assert lay.uniform == (lay.width, lay.columns, lay.lines, lay.last)


def test_an_image_is_a_tensor() -> None:
    lay = layout((30, 20, 4), 16384)
    assert (lay.width, lay.height) == (20, 30)
    assert np.array_equal(
        places((30, 20, 4), 20).reshape(30, 20, 4, 3)[..., :2],
        np.broadcast_to(np.stack(np.mgrid[:30, :20], -1)[:, :, None], (30, 20, 4, 2)),
    )


@pytest.mark.parametrize("size", [(1, 1), (1, 90), (90, 1), (3, 90), (90, 3), (1, 16384)])
def test_an_image_of_any_sides_lies_upright(size: tuple[int, int]) -> None:
    found = layout((*size, 4), 16384)
    assert (found.height, found.width) == size


def test_the_most_nearly_square_split_is_taken() -> None:
    sizes = {(): (1, 1), (5,): (2, 1), (3, 5): (2, 3), (8, 8, 8): (16, 8), (2, 3, 5, 6): (10, 6), (16, 16): (4, 16)}
    for shape, size in sizes.items():
        lay = layout(shape, 16384)
        assert (lay.width, lay.height) == size, shape
    assert layout((3, 0), 16384).texels == 0


@pytest.mark.parametrize(
    ("shape", "side"), [((65537, 1), 1024), ((1, 65535), 128), ((5, 1023), 64), ((1000, 9), 64), ((3, 5), 4), ((100, 1), 10)]
)
def test_what_no_split_fits_is_folded(shape: tuple[int, ...], side: int) -> None:
    lay = layout(shape, side)
    assert max(lay.width, lay.height) <= side
    assert lay.width * lay.height >= lay.texels


def test_whole_rows_stay_in_a_line_where_they_fit() -> None:
    assert layout((1000, 9), 64).lines > 1
    assert layout((5, 1023), 64).lines == 0
    assert layout((25, 16), 10).lines == 0  # 4 columns would leave 2 of 10 texels unused, and there are 100 of 100


def test_too_large_names_the_limit() -> None:
    with pytest.raises(gg.OutOfTextureMemory, match=r"shape \(9, 36\) needs 81 texels, .* holds 8 x 8"):
        layout((9, 36), 8)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "bool"])
def test_uploads_keep_to_the_layout(dtype: str, path: str) -> None:
    for shape in ((), (5,), (3, 5), (2, 3, 4), (7, 1), (2, 3, 5, 6), (4, 2, 8)):
        values = (np.arange(1, 1 + math.prod(shape)).reshape(shape) % 120).astype(dtype)
        t = gg.tensor(strided(values))
        channel = np.uint8 if dtype == "bool" else dtype
        texels = np.frombuffer(engine().read(t.storage), channel).reshape(t.layout.height, t.layout.width, LANES)
        line, column, lane = np.moveaxis(places(shape, t.layout.width), -1, 0)
        found = texels[line, column, lane].reshape(shape)
        np.testing.assert_array_equal(found != 0 if dtype == "bool" else found, values)
        assert np.count_nonzero(texels) == np.count_nonzero(values)  # pad lanes are zero


def test_kernels_keep_to_the_layout(path: str) -> None:
    """A tensor that a pass writes lies as one that is uploaded, in wide, square and folded textures."""
    for shape, side in (((3, 5), 16384), ((2, 3, 4), 16384), ((300, 7), 64), ((3, 61), 8), ((7, 1), 3)):
        values = np.arange(1, 1 + math.prod(shape), dtype=np.float32).reshape(shape)
        with largest_side(side):
            t = gg.tensor(values - 1) + 1
            texels = np.frombuffer(engine().read(t.storage), np.float32).reshape(t.layout.height, t.layout.width, LANES)
            line, column, lane = np.moveaxis(places(shape, t.layout.width), -1, 0)
            np.testing.assert_array_equal(texels[line, column, lane].reshape(shape), values)
            np.testing.assert_array_equal(t.numpy(), values)


def test_a_view_keeps_its_texture(path: str) -> None:
    values = np.arange(96, dtype=np.float32)
    t = gg.tensor(values.reshape(2, 3, 16))
    for shape in ((6, 16), (3, 2, 16), (2, 48), (1, 96), (12, 8)):
        view = gg.reshape(t, shape)
        assert view.storage is t.storage
        assert view.layout == with_width(shape, t.layout.width, t.layout.height)
        np.testing.assert_array_equal(view.numpy(), values.reshape(shape))
        np.testing.assert_array_equal((view + 1).numpy(), values.reshape(shape) + 1)
