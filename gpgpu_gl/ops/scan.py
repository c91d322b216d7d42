"""Prefix sums and binary search, and what is made of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gpgpu_gl.dtypes import as_dtype, bool_, float32, int32
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.arguments import one_axis
from gpgpu_gl.ops.create import arange, zeros
from gpgpu_gl.ops.elementwise import as_tensor
from gpgpu_gl.ops.pointwise import scalar_of
from gpgpu_gl.ops.reduce import arithmetic, sum
from gpgpu_gl.ops.shape import broadcast_to, flip, reshape, stack
from gpgpu_gl.ops.take import take
from gpgpu_gl.tensor import Tensor, engine, new, tensor

# Steps of the axis that one invocation adds up where sums of blocks come before it: few where there are many elements,
# then many, so that there are few passes.
BLOCK, BLOCK_OF_SUMS = 8, 32
LONGEST_SCAN = 64  # steps that are summed without blocks
# Some drivers end loops after 65,535 steps: segments of axes longer than this are summed in blocks, at most so many.
LONGEST_SEGMENTS, MOST_BLOCKS = 4096, 32768

View = tuple[int, int, int, int]

# --- prefix sums ----------------------------------------------------------------------------------


def _view(x: Tensor, axis: int) -> View:
    """x as (groups, length, inner, columns): steps along the axis, which are texels of a row for the last axis."""
    columns = x.layout.columns
    groups = math.prod(x.shape[:axis])
    last = axis == x.ndim - 1
    return (groups, columns, 1, 1) if last else (groups, x.shape[axis], math.prod(x.shape[axis + 1 : -1]), columns)


def _block_sums(x: Tensor, view: View, block: int, dtype: np.dtype) -> Tensor:
    """The sums of every `block` steps: (groups, blocks, inner, columns)."""
    groups, length, inner, columns = view
    blocks = -(-length // block)
    wide = float32 if dtype.kind == "f" else int32
    sums = new((groups, blocks * inner, 4 * columns), wide)
    uniforms = {"length_": length, "inner": inner, "columns": columns, "chunk": block, "chunks": blocks}
    defines = arithmetic("sum", scalar_of(dtype))
    engine().run(Pass("reduce_rows", {"x": x.operand}, (sums.operand,), defines, uniforms, flop=float(x.size)))
    return sums


def _scan(x: Tensor, out: Tensor, view: View, last: bool, exclusive: bool, block: int) -> Tensor:
    """Writes x's prefix sums to out. Long axes first sum their blocks, and these sums' prefixes come before each block."""
    groups, length, inner, columns = view
    inputs = {"x": x.operand}
    long = length > LONGEST_SCAN
    if long:
        sums = _block_sums(x, view, block, out.dtype)
        blocks_view = (groups, -(-length // block), inner, columns)
        before = _scan(sums, new(sums.shape, sums.dtype), blocks_view, False, False, BLOCK_OF_SUMS)
        inputs["before"] = before.operand
    scalar = scalar_of(out.dtype)
    defines: dict[str, str | int] = {"ACC": scalar, "ACC4": "vec4" if scalar == "float" else "ivec4"}
    defines |= {"LAST": int(last), "EXCLUSIVE": int(exclusive), "BEFORE": int(long)}
    uniforms = {"length_": length, "inner": inner, "columns": columns, "block": block if long else length + 1}
    engine().run(Pass("cumulative_sum", inputs, (out.operand,), defines, uniforms, flop=float(x.size)))
    return out


def _cumulative_sum_vjp(g: Tensor, axis: int, include_initial: bool) -> Tensor:
    if include_initial:
        g = g[(slice(None),) * axis + (slice(1, None),)]
    return flip(_cumulative_sum(flip(g, axis), axis=axis, dtype=g.dtype, include_initial=False), axis)


@op("cumulative_sum", lambda g, out, x, axis, dtype, include_initial: _cumulative_sum_vjp(g, axis, include_initial))
def _cumulative_sum(x: Tensor, axis: int, dtype: np.dtype, include_initial: bool) -> Tensor:
    side = x.shape[axis]
    shape = (*x.shape[:axis], side + include_initial, *x.shape[axis + 1 :])
    if x.size == 0:
        return zeros(shape, dtype)
    return _scan(x, new(shape, dtype), _view(x, axis), axis == x.ndim - 1, include_initial, BLOCK)


def cumulative_sum(
    x: Tensor, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Tensor:
    """The sums of the elements along an axis up to each one; with include_initial a 0 comes first (one element more).

    axis: needed where x has more than one. dtype: of the result; by default that of x, int32 for bool, which is exact
    (modulo 2**32); float16 is summed in float32. Raises ShapeError without an axis to sum along, DTypeError for bool.
    """
    if axis is None and x.ndim != 1:
        raise ShapeError(f"cumulative_sum of a tensor of {x.ndim} axes (shape {x.shape}) needs the axis to sum along")
    at = one_axis(0 if axis is None else axis, x.ndim)
    found = as_dtype(dtype) if dtype is not None else int32 if x.dtype == bool_ else x.dtype
    if found == bool_:
        raise DTypeError("sums are numbers: give cumulative_sum a dtype of float32, float16 or int32, not bool")
    if x.dtype.kind == "f" and x.dtype != found:
        x = x.astype(found)
    return _cumulative_sum(x, axis=at, dtype=found, include_initial=bool(include_initial))


# --- binary search --------------------------------------------------------------------------------


@op("searchsorted")
def _searchsorted(x: Tensor, v: Tensor, right: bool) -> Tensor:
    if x.size == 0 or v.size == 0:
        return zeros(v.shape, int32)
    out = new(v.shape, int32)
    uniforms = {"count": x.size, "largest": 1 << (x.size.bit_length() - 1)}
    inputs = {"x": x.operand, "v": v.operand}
    flop = float(v.size * x.size.bit_length())
    engine().run(Pass("searchsorted", inputs, (out.operand,), {"RIGHT": int(right)}, uniforms, flop=flop))
    return out


def searchsorted(x1: Tensor, x2: Any, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Where elements of x2 (any shape) go in x1 so that it stays sorted: int32 of x2's shape, from 0 to x1's length.

    x1: one axis, ascending, or in the order that the indices `sorter` give it. side: "left" before equal elements,
    "right" behind them. NaN counts as the largest number, -0 equals 0. Integers are compared exactly, and so are floats;
    DTypeError for one kind with the other, ShapeError unless x1 has one axis. No gradient.
    """
    v = as_tensor(x2)
    if x1.ndim != 1:
        raise ShapeError(f"searchsorted looks in a tensor of one axis, not of shape {x1.shape}")
    if (x1.dtype.kind == "f") != (v.dtype.kind == "f"):
        raise DTypeError(f"searchsorted of {v.dtype} in {x1.dtype}: both must be integers or both floats; use astype()")
    if side not in ("left", "right"):
        raise DTypeError(f'searchsorted knows side="left" and "right", not {side!r}')
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    x1, v = (t.astype(int32) if t.dtype == bool_ else t for t in (x1, v))
    return _searchsorted(x1, v, right=side == "right")


# --- what is made of them: results whose shapes depend on values -------------------------------------


def _refuse_recording(what: str) -> None:
    recorder = engine().recorder
    if recorder is not None:
        recorder.refuse(f"{what} (it reads how long its result is)")


def nonzero(x: Tensor) -> tuple[Tensor, ...]:
    """The indices of the elements that are not zero (NaN is not), in row-major order: an int32 tensor for each axis.

    Waits for the device, as their number is read. Raises ShapeError for a scalar.
    """
    if x.ndim == 0:
        raise ShapeError("nonzero of a scalar: it has no axis to give indices of; reshape it to (1,)")
    _refuse_recording("nonzero()")
    if x.size == 0:
        return tuple(zeros((0,), int32) for _ in x.shape)
    found = cumulative_sum(reshape(x, (x.size,)) != 0)
    at = searchsorted(found, arange(1, int(found[-1]) + 1))
    indices = []
    for side in reversed(x.shape[1:]):
        indices.append(at % side)
        at = at // side
    return (at, *reversed(indices))


def _repeat_vjp(g: Tensor, x: Tensor, count: int, axis: int) -> Tensor:
    return sum(reshape(g, (*x.shape[: axis + 1], count, *x.shape[axis + 1 :])), axis=axis + 1)


@op("repeat", lambda g, out, x, count, axis: _repeat_vjp(g, x, count, axis))
def _repeat(x: Tensor, count: int, axis: int) -> Tensor:
    """Each element along the axis `count` times."""
    return take(x, arange(x.shape[axis] * count) // max(count, 1), axis=axis)


@op("repeat_each", lambda g, out, x, ends, total, axis: _segment_sum(g, ends, axis=axis), None)
def _repeat_each(x: Tensor, ends: Tensor, total: int, axis: int) -> Tensor:
    """Element i along the axis at the places from ends[i - 1] up to ends[i] of `total`."""
    return take(x, searchsorted(ends, arange(total), side="right"), axis=axis)


@op("segment_sum", lambda g, out, x, ends, axis: _repeat_each(g, ends, total=x.shape[axis], axis=axis), None)
def _segment_sum(x: Tensor, ends: Tensor, axis: int) -> Tensor:
    """The sums of x along the axis from ends[i - 1] up to ends[i]."""
    shape = (*x.shape[:axis], ends.size, *x.shape[axis + 1 :])
    if x.size == 0:
        return zeros(shape, x.dtype)
    out = new(shape, x.dtype)
    total, last = x.shape[axis], axis == x.ndim - 1
    inputs = {"x": x.operand, "ends": ends.operand}
    uniforms = {"total": total, "count": ends.size, "inner": math.prod(shape[axis + 1 : -1])}
    long = total > LONGEST_SEGMENTS
    if long:
        block = max(256, 4 * -(-total // (4 * MOST_BLOCKS)))
        inputs["sums"] = _block_sums(x, _view(x, axis), block // 4 if last else block, x.dtype).operand
        uniforms |= {"block": block, "blocks": -(-total // block)}
    defines = {"LAST": int(last), "BLOCKS": int(long)}
    engine().run(Pass("segment_sum", inputs, (out.operand,), defines, uniforms, flop=float(x.size)))
    return out


def repeat(x: Tensor, repeats: Any, *, axis: int | None = None) -> Tensor:
    """Each element of x along an axis (of the flattened tensor by default) several times.

    repeats: a number for all, or one for each element, as integers or an int32 tensor of one axis. A tensor's sum is read
    from the device, which waits for it. Raises DTypeError unless they are integers, ShapeError where one is negative, where
    there are too few or too many, or where no tensor can hold the result.
    """
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    at = one_axis(axis, x.ndim)
    side = x.shape[at]
    if not isinstance(repeats, Tensor):
        host = np.asarray(repeats)
        if host.size and host.dtype.kind not in "iu":
            raise DTypeError(f"repeats are integers, not {host.dtype}")
        if host.size and host.min() < 0:
            raise ShapeError(f"repeats are at least 0, not {host.min()}")
        if host.ndim <= 1 and host.size == 1:
            return _repeat(x, count=int(host.reshape(())), axis=at)
        _check_repeats(host.shape, side, at, x.shape)
        reached = np.cumsum(host, dtype=np.int64)
        return _repeat_each(x, tensor(reached, dtype=int32), total=int(host.sum()), axis=at)
    if repeats.dtype != int32:
        raise DTypeError(f"repeats are integers: int32, not {repeats.dtype}")
    if repeats.shape in ((), (1,)):
        repeats = broadcast_to(repeats, (side,))
    _check_repeats(repeats.shape, side, at, x.shape)
    _refuse_recording("repeat() by a tensor")
    if side == 0:
        return x
    ends = cumulative_sum(repeats)
    total, fewest, lowest = stack([ends[-1], repeats.min(), ends.min()]).tolist()
    if fewest < 0:
        raise ShapeError(f"repeats are at least 0, not {fewest}")
    if lowest < 0:
        raise ShapeError("repeats add up to 2**31 or more, which no tensor can hold")
    return _repeat_each(x, ends, total=total, axis=at)


def _check_repeats(found: tuple[int, ...], side: int, axis: int, shape: tuple[int, ...]) -> None:
    if found != (side,):
        raise ShapeError(
            f"repeats of shape {found} for axis {axis} of shape {shape}: give one number or {side} of them"
        )
