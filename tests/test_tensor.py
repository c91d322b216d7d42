"""Tensors: made from anything, read back bit for bit, seen as textures, and as Python objects."""

from __future__ import annotations

import numpy as np
import pytest
from harness import assert_same_bits, rng_of, strided

import gpgpu_gl as gg
from gpgpu_gl.tensor import Tensor, engine

pytestmark = pytest.mark.gl33

# --- made from ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1.5, "float32"), (3, "int32"), (True, "bool"), ([1.0, 2.0], "float32"), ([[1, 2], [3, 4]], "int32"),
        ([True, False], "bool"), (np.float64(2.5), "float32"), (np.arange(3, dtype=np.int64), "int32"),
        (np.arange(3, dtype=np.uint8), "int32"), (np.ones(3, np.float16), "float16"), (np.ones((2, 0)), "float32"), ([], "float32"),
        (range(4), "int32"), ((1, 2.5), "float32"),
    ],
)  # fmt: skip
def test_dtypes_follow_the_data(data: object, dtype: str, path: str) -> None:
    t = gg.tensor(data)
    assert t.dtype == dtype
    assert t.shape == np.shape(data)
    np.testing.assert_array_equal(t.numpy(), np.asarray(data).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "bool"])
def test_any_strides(dtype: str, path: str) -> None:
    a = (rng_of("strides").standard_normal((4, 3, 6)) * 9).astype(dtype)
    views = (
        a, a.T, a[::2], a[:, ::-1], a[..., 1::2], strided(a), a.transpose(1, 0, 2), np.broadcast_to(a[0], (5, 3, 6)),
        a[1:3, 1, :], np.asfortranarray(a), a.astype(a.dtype.newbyteorder()), np.broadcast_to(a[0, 0, 0], (2, 3)),
        a[..., :4], a[:, :0],
    )  # fmt: skip
    for view in views:
        np.testing.assert_array_equal(gg.tensor(view).numpy(), view)


def test_a_copy_is_taken(path: str) -> None:
    a = np.ones((3, 4), np.float32)
    t = gg.tensor(a)
    a[:] = 2
    assert t.numpy().max() == 1
    found = t.numpy()
    found[:] = 3
    assert t.numpy().max() == 1


def test_a_tensor_of_a_tensor_is_a_copy(path: str) -> None:
    t = gg.tensor([1.0, 2.0], requires_grad=True)
    made = gg.tensor(t)
    assert made.storage is not t.storage
    assert not made.tracked
    assert made.tolist() == [1, 2]
    assert gg.tensor(t, dtype="int32").dtype == np.int32


@pytest.mark.parametrize(
    ("data", "dtype", "words"),
    [
        (np.array([1j]), None, "complex128"), (["a"], None, "<U1"), (np.array([None]), None, "object"),
        ([1.0], "float64", "float64 is not supported; use one of float32, float16, int32, bool"), ([1], "int8", "int8"),
        ([2**31], None, "2147483648 to 2147483648 do not fit int32"), ([-(2**31) - 1], "int32", "not fit int32"),
        ([np.nan], "int32", "nan"), ([3e9], "int32", "3000000000.0"), ([np.inf], "int32", "inf"),
        (np.array([2**40]), None, "fit int32"),
    ],
)  # fmt: skip
def test_what_no_tensor_can_hold(data: object, dtype: str | None, words: str, path: str) -> None:
    with pytest.raises(gg.DTypeError) as caught:
        gg.tensor(data, dtype)
    assert words in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_ragged_lists_are_refused(path: str) -> None:
    with pytest.raises(gg.ShapeError, match="sides"):
        gg.tensor([[1, 2], [3]])


# --- to the host ----------------------------------------------------------------------------------


def test_bits_survive_the_round_trip(path: str) -> None:
    """Denormals, infinities, NaN with payloads, and numbers far outside [0, 1]."""
    words = np.array(
        [0x00000001, 0x007FFFFF, 0x80000001, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC12345, 0xFFC54321,
         0x7F7FFFFF, 0xFF7FFFFF],
        np.uint32,
    )  # fmt: skip
    floats = np.concatenate([words.view(np.float32), np.float32([1e30, -1e30, 2.5, -1, 255, 256])])
    assert_same_bits(gg.tensor(floats).numpy(), floats, "float32")
    every_half = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(256, 256)
    quiet = ~np.isnan(every_half)
    halves = gg.tensor(every_half).numpy()
    assert_same_bits(halves[quiet], every_half[quiet], "float16")
    assert np.isnan(halves[~quiet]).all()
    whole = rng_of("whole").integers(-(2**31), 2**31, (31, 7)).astype(np.int32)
    assert_same_bits(gg.tensor(whole).numpy(), whole, "int32")


def test_results_are_not_clamped(path: str) -> None:
    a = np.float32([1e30, -1e30, -0.5, 1.5, 65504, 1e-30])
    np.testing.assert_array_equal((gg.tensor(a) * 1.0).numpy(), a)
    np.testing.assert_array_equal((gg.tensor(a[2:5].astype(np.float16)) * 1.0).numpy(), a[2:5].astype(np.float16))


def test_numpy_sees_a_tensor_as_an_array(path: str) -> None:
    t = gg.tensor([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(np.asarray(t), t.numpy())
    assert np.asarray(t, dtype=np.float64).dtype == np.float64
    assert np.mean(np.asarray(t)) == 2.5
    np.testing.assert_array_equal((np.ones(2, np.float32) + t).numpy(), [[2, 3], [4, 5]])  # ours, not an object array
    with pytest.raises(ValueError, match="without a copy"):
        t.__array__(copy=False)


def test_numbers(path: str) -> None:
    assert gg.tensor(2.5).item() == 2.5
    assert float(gg.tensor([[2.5]])) == 2.5
    assert int(gg.tensor([7])) == 7
    assert bool(gg.tensor(True))
    assert not bool(gg.tensor([0.0]))
    assert [10, 20, 30][gg.tensor(1)] == 20
    with pytest.raises(gg.ShapeError, match=r"one element; this one has shape \(2,\)"):
        bool(gg.tensor([1, 2]))
    with pytest.raises(gg.DTypeError, match="float32"):
        [1, 2][gg.tensor(1.0)]


def test_fetch_starts_now_and_reads_later(path: str) -> None:
    t = gg.tensor(np.arange(10, dtype=np.float32))
    found = (t + 1).fetch()
    t = t * 0  # the texture of t + 1 may be written again meanwhile
    np.testing.assert_array_equal(found(), np.arange(10) + 1)
    assert gg.zeros((0, 3)).fetch()().shape == (0, 3)


def test_facts(path: str) -> None:
    t = gg.zeros((2, 3, 4))
    assert (t.ndim, t.size, len(t), t.T.shape, t.mT.shape) == (3, 24, 2, (2, 4, 3), (2, 4, 3))
    assert gg.tensor(1.0).size == 1
    with pytest.raises(gg.ShapeError, match="scalar"):
        len(gg.tensor(1.0))
    with pytest.raises(gg.ShapeError, match=r"\(3,\)"):
        gg.zeros(3).T  # noqa: B018


def test_repr(path: str) -> None:
    assert repr(gg.tensor([1.5, 2.0])) == "tensor([1.5, 2. ], dtype=float32)"
    assert repr(gg.tensor([1.5], requires_grad=True)).endswith("dtype=float32, requires_grad=True)")
    assert "..." in repr(gg.zeros((50, 50)))
    assert repr(gg.zeros((0, 2))).startswith("tensor([]")


def test_iteration_and_hash(path: str) -> None:
    t = gg.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in t] == [[1, 2], [3, 4]]
    assert len({t, t, gg.tensor([1])}) == 2


# --- conversion -----------------------------------------------------------------------------------


def test_astype(path: str) -> None:
    a = np.float32([0, -0.0, 0.4, -0.6, 1.5, -2.5, 300.7, -70000.2])
    t = gg.tensor(a)
    assert t.astype("float32") is t
    np.testing.assert_array_equal(t.astype("int32").numpy(), a.astype(np.int32))  # towards zero
    np.testing.assert_array_equal(t.astype("bool").numpy(), a.astype(bool))
    np.testing.assert_array_equal(t[:7].astype("float16").numpy(), a[:7].astype(np.float16))
    whole = np.array([0, 1, -1, 16777217, 2**31 - 1, -(2**31)], np.int32)
    np.testing.assert_array_equal(gg.tensor(whole).astype("float32").numpy(), whole.astype(np.float32))
    np.testing.assert_array_equal(gg.tensor(whole).astype("bool").numpy(), whole.astype(bool))
    flags = np.array([True, False, True])
    for dtype in ("float32", "float16", "int32"):
        np.testing.assert_array_equal(gg.tensor(flags).astype(dtype).numpy(), flags.astype(dtype))
    assert gg.tensor([np.nan]).astype("bool").tolist() == [True]
    with pytest.raises(gg.DTypeError, match="int64 is not supported"):
        t.astype("int64")


def test_halves_overflow_to_infinity(path: str) -> None:
    assert gg.tensor([1e5, -1e5, 65504.0]).astype("float16").tolist() == [np.inf, -np.inf, 65504]
    assert gg.tensor(np.float32([7e4]), dtype="float16").tolist() == [np.inf]


# --- textures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f2", "i4"])
def test_a_texture_is_a_tensor_without_a_copy(dtype: str, device: gg.Device, path: str) -> None:
    values = np.arange(5 * 7 * 4).reshape(5, 7, 4).astype(dtype)
    texture = device.ctx.texture((7, 5), 4, values.tobytes(), dtype=dtype)
    t = gg.from_texture(texture)
    assert t.texture is texture
    assert t.shape == (5, 7, 4)
    assert t.dtype == values.dtype
    np.testing.assert_array_equal(t.numpy(), values)
    np.testing.assert_array_equal((t + t).numpy(), values + values)
    texture.write((values + 1).astype(dtype).tobytes())  # the tensor sees what the caller writes
    np.testing.assert_array_equal(t.numpy(), values + 1)
    np.testing.assert_array_equal(t.sum().numpy(), (values + 1).sum(dtype=t.sum().dtype))
    assert gg.reshape(t, (35, 4)).texture is texture
    texture.release()


def test_bytes_can_be_masks(device: gg.Device, path: str) -> None:
    flags = np.array([[[0, 255, 255, 0]]], np.uint8)
    texture = device.ctx.texture((1, 1), 4, flags.tobytes())
    np.testing.assert_array_equal(gg.from_texture(texture, dtype="bool").numpy(), flags != 0)
    with pytest.raises(gg.DTypeError, match="bool only"):
        gg.from_texture(texture)
    texture.release()


def test_what_is_no_tensor_of_four_lanes(device: gg.Device, path: str) -> None:
    for components, dtype in ((1, "f4"), (3, "f4"), (4, "u4"), (2, "i4")):
        texture = device.ctx.texture((2, 2), components, dtype=dtype)
        with pytest.raises(gg.DTypeError, match=f"{components} channels of '{dtype}'.*4 channels"):
            gg.from_texture(texture)
        texture.release()


def test_a_linear_filter_does_not_blend_texels(device: gg.Device, path: str) -> None:
    values = np.arange(16, dtype=np.float32).reshape(2, 2, 4)
    texture = device.ctx.texture((2, 2), 4, values.tobytes(), dtype="f4")
    texture.filter = (device.ctx.LINEAR, device.ctx.LINEAR)
    texture.repeat_x = texture.repeat_y = True
    np.testing.assert_array_equal((gg.from_texture(texture) + 0).numpy(), values)
    texture.release()


def test_an_image_tensor_is_a_texture_without_a_copy(path: str) -> None:
    values = rng_of("image").random((6, 9, 4)).astype(np.float32)
    texture = gg.tensor(values).texture
    assert texture.size == (9, 6)
    t = gg.tensor(values) * 2
    assert t.texture.size == (9, 6)
    np.testing.assert_array_equal(np.frombuffer(engine().read(t.storage), np.float32).reshape(6, 9, 4), values * 2)


def test_a_tensor_goes_on_from_a_view(path: str) -> None:
    """Views share the texture, and either may go first."""
    t = gg.tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
    view = gg.reshape(t, (1, 2, 4))
    storage = t.storage
    del t
    assert view.storage is storage
    np.testing.assert_array_equal(view.numpy(), np.arange(8).reshape(1, 2, 4))


def test_replace(path: str) -> None:
    t = gg.zeros((2, 3))
    t.replace(gg.ones((2, 3)))
    assert t.numpy().sum() == 6
    with pytest.raises(gg.ShapeError, match=r"\(2, 3\), float32 cannot be replaced by one of shape \(3, 2\)"):
        t.replace(gg.ones((3, 2)))


def test_operators_are_methods() -> None:
    """What bind.py binds is reachable as a method, with the operator's own documentation."""
    for name in ("sum", "mean", "max", "min", "argmax", "exp", "tanh", "reshape", "astype", "backward", "copy", "clip"):
        assert callable(getattr(Tensor, name)), name
    assert Tensor.sum.__doc__ == gg.sum.__doc__
