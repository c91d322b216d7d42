"""Bad input: every error says which shapes (or dtypes, indices) and which rule; and NumPy fails just where we do.

The fuzz draws small shapes at random, most of which do not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import rng_of
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import gpgpu_gl as gg
from gpgpu_gl.tensor import Tensor

pytestmark = pytest.mark.gl33

quick = settings(
    deadline=None, derandomize=True, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def zeros(*shape: int, dtype: str = "float32") -> Tensor:
    return gg.zeros(shape, dtype)


# --- messages ---------------------------------------------------------------------------------------

# a call, its error, and what the message holds: all shapes (or dtypes, indices) and the rule
CALLS: list[tuple[str, Callable[[], Any], type[Exception], tuple[str, ...]]] = [
    ("add", lambda: zeros(2, 3) + zeros(4), gg.ShapeError, ("(2, 3)", "(4,)", "equal or 1")),
    ("where", lambda: gg.where(zeros(2) > 0, zeros(3), zeros(1)), gg.ShapeError, ("(2,)", "(3,)", "equal or 1")),
    ("compare", lambda: zeros(2, 3) == zeros(3, 2), gg.ShapeError, ("(2, 3)", "(3, 2)", "equal or 1")),
    ("clip", lambda: gg.clip(zeros(3), min=zeros(2)), gg.ShapeError, ("(3,)", "(2,)", "equal or 1")),
    ("number", lambda: zeros(3, dtype="int32") + 2**31, gg.DTypeError, ("2147483648", "int32")),
    ("huge number", lambda: zeros(3) * 10**5000, gg.DTypeError, ("16610 bits", "float32")),
    ("text", lambda: zeros(3) + "a", gg.DTypeError, ("<U1",)),
    ("complex", lambda: zeros(3) + 1j, gg.DTypeError, ("complex128",)),
    ("none", lambda: zeros(3) + None, gg.DTypeError, ("object",)),
    ("matmul", lambda: zeros(2, 3) @ zeros(4, 5), gg.ShapeError, ("(2, 3)", "(4, 5)", "(3)", "(4)", "must equal")),
    ("matmul transposed", lambda: zeros(2, 3).T @ zeros(5, 4).T, gg.ShapeError, ("(3, 2)", "(4, 5)", "must equal")),
    ("matmul vector", lambda: zeros(2, 3) @ zeros(4), gg.ShapeError, ("(2, 3)", "(4)", "must equal")),
    ("matmul batch", lambda: zeros(2, 3, 4) @ zeros(3, 4, 5), gg.ShapeError, ("(2,)", "(3,)", "equal or 1")),
    ("matmul scalar", lambda: zeros() @ zeros(3), gg.ShapeError, ("()", "(3,)", "scalar")),
    ("matmul int", lambda: zeros(2, 2, dtype="int32") @ zeros(2, 2), gg.DTypeError, ("int32", "float")),
    ("sum axis", lambda: zeros(2, 3).sum(axis=2), gg.ShapeError, ("axis 2", "2 axes", "-2 to 1")),
    ("sum twice", lambda: zeros(2, 3).sum(axis=(0, -2)), gg.ShapeError, ("(0, -2)", "twice")),
    ("sum fraction", lambda: zeros(2, 3).sum(axis=0.5), gg.ShapeError, ("0.5", "whole")),
    ("sum text", lambda: zeros(2, 3).sum(axis="x"), gg.ShapeError, ("'x'", "whole")),
    ("max empty", lambda: zeros(2, 0).max(axis=1), gg.ShapeError, ("(2, 0)", "no max")),
    ("argmin empty", lambda: gg.argmin(zeros(0)), gg.ShapeError, ("(0,)", "no min")),
    ("reshape", lambda: zeros(2, 3).reshape(4, 2), gg.ShapeError, ("(2, 3)", "6 elements", "(4, 2)", "8 elements")),
    ("reshape -1", lambda: zeros(2, 3).reshape(4, -1), gg.ShapeError, ("(2, 3)", "(4, -1)", "-1")),
    ("reshape -1 -1", lambda: zeros(2, 3).reshape(-1, -1), gg.ShapeError, ("(-1, -1)", "one side")),
    ("reshape -2", lambda: zeros(2, 3).reshape(-2, -3), gg.ShapeError, ("(2, 3)", "(-2, -3)")),
    ("reshape text", lambda: zeros(2, 3).reshape("ab"), gg.ShapeError, ("whole",)),
    ("permute", lambda: zeros(2, 3).permute_dims(0, 0), gg.ShapeError, ("(2, 3)", "(0, 0)", "once")),
    ("permute rank", lambda: zeros(2, 3).permute_dims(0, 1, 2), gg.ShapeError, ("(2, 3)", "(0, 1, 2)", "once")),
    ("squeeze", lambda: gg.squeeze(zeros(2, 1), 0), gg.ShapeError, ("(2, 1)", "length 1")),
    ("expand_dims", lambda: gg.expand_dims(zeros(2), 3), gg.ShapeError, ("axis 3", "2 axes")),
    ("argmax axes", lambda: gg.argmax(zeros(2, 3), (0, 1)), gg.ShapeError, ("(0, 1)", "one whole number")),
    ("index tensor", lambda: zeros(3)[gg.tensor(0.5)], gg.DTypeError, ("float32", "int32")),
    ("broadcast_to", lambda: gg.broadcast_to(zeros(2, 3), (2, 4)), gg.ShapeError, ("(2, 3)", "(2, 4)")),
    ("broadcast_to fewer", lambda: gg.broadcast_to(zeros(2, 3), (3,)), gg.ShapeError, ("(2, 3)", "(3,)")),
    ("concat", lambda: gg.concat([zeros(2, 3), zeros(3, 2)]), gg.ShapeError, ("(2, 3)", "(3, 2)", "equal")),
    ("concat rank", lambda: gg.concat([zeros(2), zeros(2, 1)]), gg.ShapeError, ("(2,)", "(2, 1)", "equal")),
    ("concat none", lambda: gg.concat([]), gg.ShapeError, ("at least one",)),
    ("concat scalars", lambda: gg.concat([zeros(), zeros()]), gg.ShapeError, ("axis 0", "0 axes")),
    ("stack", lambda: gg.stack([zeros(2), zeros(3)]), gg.ShapeError, ("(2,)", "(3,)", "equal")),
    ("stack none", lambda: gg.stack([]), gg.ShapeError, ("at least one",)),
    ("pad pairs", lambda: gg.pad(zeros(2, 3), ((1, 1),) * 3), gg.ShapeError, ("((1, 1), (1, 1), (1, 1))", "(2, 3)", "pair")),
    ("pad negative", lambda: gg.pad(zeros(3), -1), gg.ShapeError, ("-1", "negative")),
    ("pad fraction", lambda: gg.pad(zeros(3), 0.5), gg.ShapeError, ("0.5", "whole")),
    ("index", lambda: zeros(2, 3)[2], gg.ShapeError, ("index 2", "length 2", "(2, 3)")),
    ("index count", lambda: zeros(2, 3)[0, 0, 0], gg.ShapeError, ("3 indices", "2 axes", "(2, 3)")),
    ("index twice ...", lambda: zeros(2, 3)[..., ...], gg.ShapeError, ("one ellipsis",)),
    ("index text", lambda: zeros(2, 3)["a"], gg.DTypeError, ("str",)),
    ("index fraction", lambda: zeros(2, 3)[0.5], gg.DTypeError, ("float",)),
    ("index mask", lambda: zeros(3)[zeros(3) > 0], gg.DTypeError, ("bool", "int32")),
    ("index bool", lambda: zeros(3)[True], gg.DTypeError, ("bool",)),
    ("index step", lambda: zeros(3)[::0], gg.ShapeError, ("step", "0")),
    ("index list", lambda: zeros(3)[[0, 3]], gg.ShapeError, ("0 to 3", "length 3", "(3,)")),
    ("take", lambda: gg.take(zeros(2, 3), [3], axis=1), gg.ShapeError, ("3 to 3", "axis 1", "length 3", "(2, 3)")),
    ("take floats", lambda: gg.take(zeros(3), [0.5]), gg.DTypeError, ("float64", "integers")),
    ("take float tensor", lambda: gg.take(zeros(3), zeros(2)), gg.DTypeError, ("float32", "int32")),
    ("take axis", lambda: gg.take(zeros(3), [0], axis=1), gg.ShapeError, ("axis 1", "1 axes")),
    ("one_hot", lambda: gg.one_hot(zeros(3), 2), gg.DTypeError, ("float32", "int32")),
    ("one_hot negative", lambda: gg.one_hot(zeros(3, dtype="int32"), -1), gg.ShapeError, ("-1",)),
    ("cumulative_sum", lambda: gg.cumulative_sum(zeros(2, 3)), gg.ShapeError, ("2 axes", "(2, 3)", "needs the axis")),
    ("cumulative_sum axis", lambda: gg.cumulative_sum(zeros(3), axis=1), gg.ShapeError, ("axis 1", "1 axes")),
    ("cumulative_sum scalar", lambda: gg.cumulative_sum(zeros()), gg.ShapeError, ("0 axes", "()")),
    ("cumulative_sum bool", lambda: gg.cumulative_sum(zeros(3), dtype="bool"), gg.DTypeError, ("int32", "not bool")),
    ("searchsorted axes", lambda: gg.searchsorted(zeros(2, 3), zeros(4)), gg.ShapeError, ("(2, 3)", "one axis")),
    (
        "searchsorted kinds", lambda: gg.searchsorted(zeros(3, dtype="int32"), zeros(2)), gg.DTypeError,
        ("float32", "int32", "astype"),
    ),
    ("searchsorted side", lambda: gg.searchsorted(zeros(3), zeros(2), side="both"), gg.DTypeError, ("'both'", '"left"')),
    ("searchsorted sorter", lambda: gg.searchsorted(zeros(3), zeros(2), sorter=[3]), gg.ShapeError, ("3 to 3", "length 3")),
    ("argsort axis", lambda: gg.argsort(zeros(2, 3), axis=2), gg.ShapeError, ("axis 2", "2 axes")),
    ("sort scalar", lambda: gg.sort(zeros()), gg.ShapeError, ("axis -1", "a scalar has none")),
    ("nonzero scalar", lambda: gg.nonzero(zeros()), gg.ShapeError, ("scalar", "(1,)")),
    ("repeat negative", lambda: gg.repeat(zeros(3), -1), gg.ShapeError, ("at least 0", "-1")),
    ("repeat fraction", lambda: gg.repeat(zeros(3), 1.5), gg.DTypeError, ("integers", "float64")),
    ("repeat count", lambda: gg.repeat(zeros(3, 2), [1, 2], axis=0), gg.ShapeError, ("(2,)", "axis 0", "(3, 2)", "3 of them")),
    ("repeat axis", lambda: gg.repeat(zeros(3), 2, axis=1), gg.ShapeError, ("axis 1", "1 axes")),
    ("repeat floats", lambda: gg.repeat(zeros(3), zeros(3)), gg.DTypeError, ("int32", "float32")),
    ("repeat tensor count", lambda: gg.repeat(zeros(3), gg.arange(2)), gg.ShapeError, ("(2,)", "(3,)", "3 of them")),
    ("repeat tensor negative", lambda: gg.repeat(zeros(3), gg.tensor([1, -2, 3])), gg.ShapeError, ("at least 0", "-2")),
    ("repeat too often", lambda: gg.repeat(zeros(3), gg.full(3, 2**30)), gg.ShapeError, ("2**31",)),
    ("repeat huge", lambda: gg.repeat(zeros(3), 2**31), gg.GpgpuError, ()),
    ("zeros", lambda: gg.zeros((2, -1)), gg.ShapeError, ("(2, -1)", "at least 0")),
    ("zeros fraction", lambda: gg.zeros((2, 1.5)), gg.ShapeError, ("(2, 1.5)", "whole")),
    ("zeros text", lambda: gg.zeros("ab"), gg.ShapeError, ("ab", "whole")),
    ("zeros none", lambda: gg.zeros(None), gg.ShapeError, ("None", "whole")),
    ("full", lambda: gg.full(3, 2**31, "int32"), gg.DTypeError, ("2147483648", "int32")),
    ("full nan", lambda: gg.full(3, np.nan, "int32"), gg.DTypeError, ("nan", "int32")),
    ("full text", lambda: gg.full(3, "a"), gg.DTypeError, ("'a'", "number")),
    ("arange step", lambda: gg.arange(0, 5, 0), gg.ShapeError, ("step", "0")),
    ("dtype", lambda: zeros(3).astype("float64"), gg.DTypeError, ("float64", "float32, float16, int32, bool")),
    ("dtype text", lambda: zeros(3).astype("nonsense"), gg.DTypeError, ("nonsense", "float32, float16, int32, bool")),
    ("gelu", lambda: gg.gelu(zeros(3), "fast"), gg.DTypeError, ("'fast'", '"none"')),
    (
        "conv2d", lambda: gg.conv2d(zeros(1, 4, 4, 3), zeros(3, 3, 2, 5)), gg.ShapeError,
        ("(1, 4, 4, 3)", "(3, 3, 2, 5)", "third axis (2)"),
    ),
    (
        "conv2d small", lambda: gg.conv2d(zeros(1, 2, 2, 3), zeros(3, 3, 3, 5)), gg.ShapeError,
        ("(1, 2, 2, 3)", "(3, 3, 3, 5)", "2 rows", "needs 3"),
    ),
    ("max_pool2d", lambda: gg.max_pool2d(zeros(4, 4, 3), 2), gg.ShapeError, ("(4, 4, 3)", "(N, H, W, C)")),
    ("softmax", lambda: gg.softmax(zeros(2, 3), 2), gg.ShapeError, ("axis 2", "2 axes")),
    ("cross_entropy", lambda: gg.cross_entropy(zeros(2, 3), zeros(3, dtype="int32")), gg.ShapeError, ("(3,)", "(2, 3)", "(2,)")),
    ("mse_loss", lambda: gg.mse_loss(zeros(2, 1), zeros(2)), gg.ShapeError, ("(2, 1)", "(2,)", "equal")),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "parts"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_messages(call: Callable[[], Any], error: type[Exception], parts: tuple[str, ...], path: str) -> None:
    with pytest.raises(error) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), str(caught.value)


def test_our_errors_are_also_what_python_raises() -> None:
    assert issubclass(gg.ShapeError, ValueError)
    assert issubclass(gg.DTypeError, TypeError)
    assert issubclass(gg.OutOfTextureMemory, MemoryError)
    for error in (gg.ShapeError, gg.DTypeError, gg.DeviceError, gg.OutOfTextureMemory, gg.ShaderError, gg.FileError):
        assert issubclass(error, gg.GpgpuError)


def test_nothing_is_lost_by_an_error(path: str) -> None:
    """After every kind of error the device goes on, and no tensor has changed."""
    x = gg.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    for _, call, error, _ in CALLS:
        with pytest.raises(error):
            call()
    gg.device().check()
    np.testing.assert_array_equal((x + 1).numpy(), np.arange(6).reshape(2, 3) + 1)


# --- NumPy fails where we fail ----------------------------------------------------------------------

sides = st.sampled_from([0, 1, 2, 3, 5])
shapes = st.lists(sides, max_size=3).map(tuple)
# NumPy takes axis 0 and -1 of a scalar; we do as the array API standard does. It is left out below.
axes = st.one_of(st.none(), st.integers(-4, 3), st.lists(st.integers(-3, 2), max_size=3).map(tuple))


def scalar_axis(shape: tuple[int, ...], axis: Any) -> bool:
    """What NumPy allows and we refuse."""
    return shape == () and axis not in (None, ())


def draw_array(shape: tuple[int, ...], seed: object = 0) -> np.ndarray:
    return rng_of("fuzz", shape, seed).integers(-9, 10, shape).astype(np.float32)


def same(ours: Callable[..., Any], theirs: Callable[..., Any], *arrays: np.ndarray) -> None:
    """Both give the same (small whole numbers, so exactly), or both fail, ours with an error of its own."""
    tensors = [gg.tensor(a) for a in arrays]
    try:
        expected = np.asarray(theirs(*arrays))
    except (ValueError, TypeError, IndexError, ZeroDivisionError):
        with pytest.raises(gg.GpgpuError):
            ours(*tensors)
        return
    found = ours(*tensors).numpy()
    np.testing.assert_array_equal(found, expected)
    assert found.shape == expected.shape


@quick
@given(shapes, shapes)
def test_fuzz_broadcasting(path: str, one: tuple[int, ...], other: tuple[int, ...]) -> None:
    same(lambda x, y: x - y, np.subtract, draw_array(one, 1), draw_array(other, 2))


@quick
@given(shapes, shapes)
def test_fuzz_matmul(path: str, one: tuple[int, ...], other: tuple[int, ...]) -> None:
    same(gg.matmul, np.matmul, draw_array(one, 1), draw_array(other, 2))


@quick
@given(shapes, axes, st.booleans(), st.sampled_from(["sum", "max", "min", "prod", "any", "all"]))
def test_fuzz_reductions(path: str, shape: tuple[int, ...], axis: Any, keepdims: bool, name: str) -> None:
    assume(not scalar_axis(shape, axis))
    same(
        lambda x: getattr(gg, name)(x, axis=axis, keepdims=keepdims),
        lambda a: getattr(np, name)(a, axis=axis, keepdims=keepdims),
        np.sign(draw_array(shape)),
    )


@quick
@given(shapes, st.one_of(st.none(), st.integers(-4, 3)), st.booleans(), st.sampled_from(["argmax", "argmin"]))
def test_fuzz_arg_reductions(path: str, shape: tuple[int, ...], axis: int | None, keepdims: bool, name: str) -> None:
    assume(not scalar_axis(shape, axis))
    same(
        lambda x: getattr(gg, name)(x, axis=axis, keepdims=keepdims),
        lambda a: getattr(np, name)(a, axis=axis, keepdims=keepdims),
        draw_array(shape),
    )


@quick
@given(shapes, st.lists(st.sampled_from([-1, 0, 1, 2, 3, 5, 6, 10]), max_size=4).map(tuple))
def test_fuzz_reshape(path: str, shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    same(lambda x: gg.reshape(x, target), lambda a: np.reshape(a, target), draw_array(shape))


@quick
@given(shapes, st.lists(st.integers(-4, 3), max_size=4).map(tuple))
def test_fuzz_permute(path: str, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    same(lambda x: gg.permute_dims(x, order), lambda a: np.transpose(a, order), draw_array(shape))


keys = st.one_of(
    st.integers(-6, 5),
    st.just(None),
    st.just(...),
    st.builds(slice, *(st.one_of(st.none(), st.integers(-7, 7)),) * 2, st.one_of(st.none(), st.integers(-3, 3))),
)


@quick
@given(shapes, st.lists(keys, max_size=4).map(tuple))
def test_fuzz_index(path: str, shape: tuple[int, ...], key: tuple[Any, ...]) -> None:
    same(lambda x: x[key], lambda a: a[key], draw_array(shape))


@quick
@given(shapes, st.lists(st.integers(-6, 5), max_size=4), st.one_of(st.none(), st.integers(-4, 3)))
def test_fuzz_take(path: str, shape: tuple[int, ...], index: list[int], axis: int | None) -> None:
    assume(not scalar_axis(shape, axis))
    assume(0 not in shape or not index)  # NumPy lets any index of an empty axis pass where the result is empty
    picked = np.array(index, np.int64)
    same(lambda x: gg.take(x, picked, axis), lambda a: np.take(a, picked, axis), draw_array(shape))


@quick
@given(shapes, st.integers(-4, 3), st.sampled_from(["sort", "argsort", "cumulative_sum"]))
def test_fuzz_sorting(path: str, shape: tuple[int, ...], axis: int, name: str) -> None:
    assume(shape)
    options = {} if name == "cumulative_sum" else {"stable": True}
    theirs = np.cumsum if name == "cumulative_sum" else getattr(np, name)
    same(lambda x: getattr(gg, name)(x, axis=axis), lambda a: theirs(a, axis=axis, **options), draw_array(shape))


@quick
@given(shapes, st.one_of(st.integers(-1, 4), st.lists(st.integers(0, 3), max_size=4)), st.one_of(st.none(), st.integers(-4, 3)))
def test_fuzz_repeat(path: str, shape: tuple[int, ...], repeats: Any, axis: int | None) -> None:
    assume(not scalar_axis(shape, axis))
    counts = np.array(repeats, np.int32)
    assume(0 not in shape or counts.min(initial=0) >= 0)  # NumPy lets any number pass where there is nothing to repeat
    a = draw_array(shape)
    same(lambda x: gg.repeat(x, counts, axis=axis), lambda a: np.repeat(a, counts, axis=axis), a)
    same(lambda x, n: gg.repeat(x, n, axis=axis), lambda a, n: np.repeat(a, n, axis=axis), a, counts)


@quick
@given(shapes, shapes, st.sampled_from(["left", "right"]))
def test_fuzz_searchsorted_and_nonzero(path: str, shape: tuple[int, ...], other: tuple[int, ...], side: str) -> None:
    row, a = np.sort(draw_array(shape).ravel()), draw_array(other)
    same(lambda x, v: gg.searchsorted(x, v, side=side), lambda x, v: np.searchsorted(x, v, side), row, a)
    assume(other)
    same(lambda x: gg.stack(gg.nonzero(x)), lambda a: np.stack(np.nonzero(a)), np.sign(a))


@quick
@given(st.lists(shapes, min_size=1, max_size=3), st.integers(-4, 3), st.booleans())
def test_fuzz_joining(path: str, parts: list[tuple[int, ...]], axis: int, stacked: bool) -> None:
    arrays = [draw_array(s, i) for i, s in enumerate(parts)]
    ours, theirs = (gg.stack, np.stack) if stacked else (gg.concat, np.concatenate)
    same(lambda *xs: ours(xs, axis), lambda *xs: theirs(xs, axis), *arrays)


@quick
@given(shapes, shapes)
def test_fuzz_broadcast_to(path: str, shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    same(lambda x: gg.broadcast_to(x, target), lambda a: np.broadcast_to(a, target), draw_array(shape))


@quick
@given(shapes, axes)
def test_fuzz_squeeze_and_flip(path: str, shape: tuple[int, ...], axis: Any) -> None:
    assume(not scalar_axis(shape, axis))
    a = draw_array(shape)
    same(lambda x: gg.squeeze(x, axis), lambda a: np.squeeze(a, axis), a)
    same(lambda x: gg.flip(x, axis), lambda a: np.flip(a, axis), a)


widths = st.one_of(st.integers(-1, 3), st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), max_size=3))


@quick
@given(shapes, widths)
def test_fuzz_pad(path: str, shape: tuple[int, ...], width: Any) -> None:
    same(lambda x: gg.pad(x, width, 7), lambda a: np.pad(a, width, constant_values=7), draw_array(shape))


@quick
@given(st.integers(-5, 9), st.one_of(st.none(), st.integers(-5, 9)), st.integers(-3, 3))
def test_fuzz_arange(path: str, start: int, stop: int | None, step: int) -> None:
    args = (start,) if stop is None else (start, stop, step)
    same(lambda: gg.arange(*args), lambda: np.arange(*args))
