"""Operators that move elements: reshape, permute, slice, pad, join."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import result_type
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op, op_with
from gpgpu_gl.ops.arguments import as_shape, normalise_axes, one_axis, whole_numbers
from gpgpu_gl.ops.pointwise import broadcast_shapes, constant, is_integer, scalar_of
from gpgpu_gl.tensor import Tensor, engine, new

MOST_JOINED = 8  # tensors that one concat pass reads


# --- reshape ------------------------------------------------------------------------------------


@op("reshape", lambda g, out, x, shape: reshape(g, x.shape))
def _reshape(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    last_x, last = x.shape[-1] if x.shape else 1, shape[-1] if shape else 1
    if x.size == 0:
        return new(shape, x.dtype)
    if last_x == last or last_x % 4 == last % 4 == 0:
        return x.viewed(shape)
    out = new(shape, x.dtype)
    engine().run(Pass("reshape", {"x": x.operand}, (out.operand,)))
    return out


def reshape(x: Tensor, shape: int | Sequence[int]) -> Tensor:
    """The same elements in row-major order under another shape; one side may be -1.

    No copy where rows of texels stay whole (the last axis unchanged, or both a multiple of four).
    Raises ShapeError where the sizes differ.
    """
    sides = list(whole_numbers(shape, "a shape"))
    if sides.count(-1) > 1:
        raise ShapeError(f"reshape to {tuple(sides)}: only one side can be -1")
    if -1 in sides:
        rest = math.prod(s for s in sides if s != -1)
        if rest == 0 or x.size % rest:
            raise ShapeError(f"reshape of {x.shape} ({x.size} elements) to {tuple(sides)}: no side fits for -1")
        sides[sides.index(-1)] = x.size // rest
    found = tuple(sides)
    if any(s < 0 for s in found) or math.prod(found) != x.size:
        raise ShapeError(f"reshape of {x.shape} ({x.size} elements) to {found} ({math.prod(found)} elements)")
    return x if found == x.shape else _reshape(x, shape=found)


def expand_dims(x: Tensor, axis: int) -> Tensor:
    """A new axis of length 1 at `axis` of the result."""
    at = one_axis(axis, x.ndim + 1)
    return reshape(x, (*x.shape[:at], 1, *x.shape[at:]))


def squeeze(x: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """Without the axes of length 1 (all of them by default). Raises ShapeError for a longer axis."""
    axes = tuple(a for a, s in enumerate(x.shape) if s == 1) if axis is None else normalise_axes(axis, x.ndim)
    if any(x.shape[a] != 1 for a in axes):
        raise ShapeError(f"squeeze of axes {axes} of shape {x.shape}: each must have length 1")
    return reshape(x, tuple(s for a, s in enumerate(x.shape) if a not in axes))


# --- strided reads ------------------------------------------------------------------------------


def _strided(x: Tensor, shape: tuple[int, ...], axes: Sequence[int | None], starts: Sequence[int], steps: Sequence[int]) -> Tensor:
    """Output axis i walks x's axis axes[i] (None: broadcast) by steps[i]; starts holds x's first index of each axis."""
    out = new(shape, x.dtype)
    rank = x.ndim
    rows = [math.prod(x.shape[a + 1 : rank - 1]) for a in range(rank - 1)]
    row_steps, column_steps = [], []
    for i, axis in enumerate(axes):
        last = axis is not None and axis == rank - 1
        row_steps.append(0 if axis is None or last else rows[axis] * steps[i])
        column_steps.append(steps[i] if last else 0)
    column_start = starts[rank - 1] if rank else 0
    whole = bool(shape) and bool(rank) and column_steps[-1] == 1 and column_start % 4 == 0 and not any(column_steps[:-1])
    uniforms = {
        "o_shape": list(shape) or [1],
        "row_steps": row_steps or [0],
        "column_steps": column_steps or [0],
        "row_start": sum(starts[a] * rows[a] for a in range(rank - 1)),
        "column_start": column_start,
    }
    defines = {"RANK": max(len(shape), 1), "WHOLE": int(whole)}
    engine().run(Pass("strided", {"x": x.operand}, (out.operand,), defines, uniforms))
    return out


def _permute(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    shape = tuple(x.shape[a] for a in axes)
    return _strided(x, shape, axes, [0] * x.ndim, [1] * x.ndim)


@op("permute_dims", lambda g, out, x, axes: permute_dims(g, tuple(int(a) for a in np.argsort(axes))))
def _permute_dims(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    if x.ndim < 2 or axes != (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2):
        return _permute(x, axes)
    # The swap of the last two axes waits until someone reads it: matmul does not need to.
    shape = tuple(x.shape[a] for a in axes)
    source = x.detach()
    made = Tensor(None, engine().layout(shape), x.dtype, pending=lambda: _permute(source, axes))
    made.transpose_of = x
    return made


def permute_dims(x: Tensor, axes: Sequence[int]) -> Tensor:
    """The axes in another order: axis i of the result is axis axes[i] of x.

    A swap of the last two axes is computed only when something other than matmul reads it.
    Raises ShapeError where `axes` is no permutation.
    """
    given = whole_numbers(axes, "an axis")
    found = tuple(a % x.ndim if x.ndim and -x.ndim <= a < x.ndim else -1 for a in given)
    if sorted(found) != list(range(x.ndim)):
        raise ShapeError(f"permute_dims of shape {x.shape} by {given}: give each axis 0 to {x.ndim - 1} once")
    return x if found == tuple(range(x.ndim)) else _permute_dims(x, axes=found)


def transposed(x: Tensor) -> Tensor:
    """The last two axes swapped (`.T`, `.mT`). Raises ShapeError below two axes."""
    if x.ndim < 2:
        raise ShapeError(f"a transpose needs two axes; this tensor has shape {x.shape}")
    return permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _unbroadcast(g: Tensor, x: Tensor) -> Tensor:
    from gpgpu_gl.ops.reduce import unbroadcast

    return unbroadcast(g, x.shape)


@op("broadcast_to", lambda g, out, x, shape: _unbroadcast(g, x))
def _broadcast_to(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    lead = len(shape) - x.ndim
    axes = [None if i < lead or x.shape[i - lead] == 1 else i - lead for i in range(len(shape))]
    return _strided(x, shape, axes, [0] * x.ndim, [1] * len(shape))


def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """x repeated along axes of length 1 and new leading axes. Raises ShapeError where the shapes do not fit."""
    target = as_shape(shape)
    if x.shape == target:
        return x
    if broadcast_shapes(x.shape, target) != target:
        raise ShapeError(f"shape {x.shape} does not broadcast to {target}")
    return _broadcast_to(x, shape=target)


@op("slice", lambda g, out, x, starts, sides, steps: _unslice(g, x.shape, starts, steps))
def _slice(x: Tensor, starts: tuple[int, ...], sides: tuple[int, ...], steps: tuple[int, ...]) -> Tensor:
    return _strided(x, sides, range(x.ndim), starts, steps)


def _unslice(g: Tensor, shape: tuple[int, ...], starts: tuple[int, ...], steps: tuple[int, ...]) -> Tensor:
    """Zeros of `shape` with g at the places that the slice read."""
    backwards = [a for a, step in enumerate(steps) if step < 0]
    if backwards:
        g = flip(g, backwards)
        starts = tuple(s + (n - 1) * step if step < 0 else s for s, n, step in zip(starts, g.shape, steps, strict=True))
    return _pad(g, low=starts, sides=shape, steps=tuple(map(abs, steps)), value=0)


def flip(x: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """Reversed along axes (all by default)."""
    axes = normalise_axes(axis, x.ndim)
    starts = tuple(max(s - 1, 0) if a in axes else 0 for a, s in enumerate(x.shape))
    return _slice(x, starts=starts, sides=x.shape, steps=tuple(-1 if a in axes else 1 for a in range(x.ndim)))


def getitem(x: Tensor, key: Any) -> Tensor:
    """x[key] with integers, slices of any step, None, ... and one tensor or array of indices.

    Raises ShapeError for an index out of range or too many indices; DTypeError for other kinds of key.
    """
    keys = key if isinstance(key, tuple) else (key,)
    used = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if used > x.ndim:
        raise ShapeError(f"{used} indices for a tensor of {x.ndim} axes (shape {x.shape})")
    if sum(1 for k in keys if k is Ellipsis) > 1:
        raise ShapeError("an index can have only one ellipsis (...)")
    full = (slice(None),) * (x.ndim - used)
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), None)
    keys = (*keys, *full) if at is None else (*keys[:at], *full, *keys[at + 1 :])
    starts, sides, steps, shape, picks = [], [], [], [], []
    axis = 0
    for k in keys:
        if k is None:
            shape.append(1)
            continue
        side = x.shape[axis]
        axis += 1
        if isinstance(k, slice):
            if k.step == 0:
                raise ShapeError("a slice needs a step other than 0")
            start, stop, step = k.indices(side)
            count = len(range(start, stop, step))
            starts.append(start if count else 0)
            sides.append(count)
            steps.append(step)
            shape.append(count)
        elif is_integer(k) or isinstance(k, Tensor) and k.ndim == 0:
            i = operator.index(k)
            if not -side <= i < side:
                raise ShapeError(f"index {i} is out of range for axis {axis - 1} of length {side} (shape {x.shape})")
            starts.append(i % side)
            sides.append(1)
            steps.append(1)
        elif isinstance(k, Tensor | np.ndarray | list):
            picks.append((len(starts), len(shape), k))
            starts.append(0)
            sides.append(side)
            steps.append(1)
            shape.append(side)
        else:
            raise DTypeError(f"a tensor is indexed by integers, slices, None, ... or int32 tensors, not {type(k).__name__}")
    if len(picks) > 1:
        raise DTypeError("indexing by more than one tensor is not supported; use take() along one axis at a time")
    whole = tuple(sides) == x.shape and not any(starts) and all(s == 1 for s in steps)
    out = x if whole else _slice(x, starts=tuple(starts), sides=tuple(sides), steps=tuple(steps))
    out = reshape(out, tuple(shape))
    if not picks:
        return out
    from gpgpu_gl.ops.take import take

    return take(out, picks[0][2], axis=picks[0][1])


# --- pad and join ----------------------------------------------------------------------------


@op("pad", lambda g, out, x, low, sides, steps, value: _unpad(g, x.shape, low, steps))
def _pad(x: Tensor, low: tuple[int, ...], sides: tuple[int, ...], steps: tuple[int, ...], value: float) -> Tensor:
    if x.size == 0:
        from gpgpu_gl.ops.create import full

        return full(sides, value, x.dtype)
    out = new(sides, x.dtype)
    uniforms = {
        "o_shape": list(sides) or [1],
        "x_shape": list(x.shape) or [1],
        "low": list(low) or [0],
        "step_": list(steps) or [1],
        "fill": constant(value, scalar_of(x.dtype)),
    }
    engine().run(Pass("pad", {"x": x.operand}, (out.operand,), {"RANK": max(x.ndim, 1)}, uniforms))
    return out


def _unpad(g: Tensor, shape: tuple[int, ...], low: tuple[int, ...], steps: tuple[int, ...]) -> Tensor:
    if any(b < 0 or b + (n - 1) * s >= side for b, n, s, side in zip(low, shape, steps, g.shape, strict=True) if n):
        # The pad cut elements away: their gradient is zero, so that g is first grown to cover them.
        before = tuple(max(0, -b) for b in low)
        after = tuple(max(0, b + (n - 1) * s + 1 - side) for b, n, s, side in zip(low, shape, steps, g.shape, strict=True))
        grown = tuple(b + side + a for b, side, a in zip(before, g.shape, after, strict=True))
        g = _pad(g, low=before, sides=grown, steps=(1,) * g.ndim, value=0)
        low = tuple(b + c for b, c in zip(low, before, strict=True))
    return _slice(g, starts=low, sides=shape, steps=steps)


def pad(x: Tensor, pad_width: int | Sequence[Any], value: float = 0) -> Tensor:
    """x with `value` around it: pad_width as NumPy's, a number, (before, after), or a pair for each axis.

    Raises ShapeError for negative widths or a wrong number of pairs.
    """
    try:
        widths = np.asarray(pad_width)
        pairs = np.broadcast_to(widths, (x.ndim, 2))
    except ValueError:
        raise ShapeError(f"pad_width {pad_width} does not fit shape {x.shape}: give a pair for each axis") from None
    if widths.size and widths.dtype.kind not in "iu":
        raise ShapeError(f"pad_width {pad_width!r} must be whole numbers")
    if (widths < 0).any():
        raise ShapeError(f"pad_width {pad_width} is negative; slice to cut")
    low = tuple(int(b) for b, _ in pairs)
    sides = tuple(int(b + s + a) for s, (b, a) in zip(x.shape, pairs, strict=True))
    return _pad(x, low=low, sides=sides, steps=(1,) * x.ndim, value=value)


def _concat_vjp(i: int, g: Tensor, out: Tensor, *xs: Tensor, axis: int) -> Tensor:
    start = sum(x.shape[axis] for x in xs[:i])
    starts = tuple(start if a == axis else 0 for a in range(g.ndim))
    return _slice(g, starts=starts, sides=xs[i].shape, steps=(1,) * g.ndim)


@op_with("concat", _concat_vjp)
def _concat(*xs: Tensor, axis: int) -> Tensor:
    sides = [x.shape[axis] for x in xs]
    shape = (*xs[0].shape[:axis], sum(sides), *xs[0].shape[axis + 1 :])
    out = new(shape, result_type(*[x.dtype for x in xs]))
    parts = [x for x in xs if x.size]
    uniforms: dict[str, Any] = {"inner": math.prod(shape[axis + 1 : -1]), "o_side": shape[axis]}
    inputs, start = {}, 0
    for n, x in enumerate(parts):
        inputs[f"x{n}"] = x.operand
        uniforms[f"x{n}_start"], uniforms[f"x{n}_side"] = start, x.shape[axis]
        start += x.shape[axis]
    defines = {"OPERANDS": len(parts), "LAST": int(axis == len(shape) - 1)}
    engine().run(Pass("concat", inputs, (out.operand,), defines, uniforms))
    return out


def concat(xs: Sequence[Tensor], axis: int | None = 0) -> Tensor:
    """Tensors joined along an axis (flattened first where it is None). Raises ShapeError where other sides differ."""
    parts = list(xs)
    if not parts:
        raise ShapeError("concat needs at least one tensor")
    if axis is None:
        parts, axis = [reshape(x, (x.size,)) for x in parts], 0
    at = one_axis(axis, parts[0].ndim)
    first = parts[0].shape
    for x in parts[1:]:
        if x.ndim != len(first) or any(a != at and x.shape[a] != first[a] for a in range(x.ndim)):
            raise ShapeError(f"concat along axis {at} of shapes {first} and {x.shape}: all other sides must be equal")
    while len(parts) > 1:
        parts = [
            _concat(*parts[i : i + MOST_JOINED], axis=at) if len(parts[i : i + MOST_JOINED]) > 1 else parts[i]
            for i in range(0, len(parts), MOST_JOINED)
        ]
    return parts[0]


def stack(xs: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis. Raises ShapeError where shapes differ."""
    parts = list(xs)
    for x in parts[1:]:
        if x.shape != parts[0].shape:
            raise ShapeError(f"stack of shapes {parts[0].shape} and {x.shape}: they must be equal")
    return concat([expand_dims(x, axis) for x in parts], axis)
