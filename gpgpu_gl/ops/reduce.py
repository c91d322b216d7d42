"""Reductions over any axes, as trees: long sums are taken in chunks, so that errors stay small and passes short."""

from __future__ import annotations

import builtins
import math

import numpy as np

from gpgpu_gl.dtypes import FORMATS, bool_, float32, int32
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.arguments import Axes, normalise_axes, one_axis
from gpgpu_gl.tensor import Tensor, engine, new

LONGEST_CHUNK = 256  # steps that one invocation takes before a sum is split

# name: (combine two scalars, identity of floats, identity of ints)
KINDS = {
    "sum": ("((p) + (q))", "0.0", "0"),
    "prod": ("((p) * (q))", "1.0", "1"),
    "max": ("maximum(p, q)", "uintBitsToFloat(0xff800000u)", "(-2147483647-1)"),
    "min": ("minimum(p, q)", "uintBitsToFloat(0x7f800000u)", "2147483647"),
}


def arithmetic(kind: str, scalar: str, masked: bool = False) -> dict[str, str | int]:
    """How the kernels that reduce combine elements, as defines."""
    combine, float_identity, int_identity = KINDS[kind]
    return {
        "COMBINE(p, q)": combine,
        "ACC": scalar,
        "ACC4": "vec4" if scalar == "float" else "ivec4",
        "MASKED": int(masked),
        "IDENTITY": float_identity if scalar == "float" else int_identity,
    }


def _rows(
    x: Tensor, kind: str, groups: int, length: int, inner: int, columns: int, last: int, dtype: np.dtype, masked: bool
) -> Tensor:
    """(groups, length, inner, columns) to (groups, inner, columns), in as many passes as the length needs."""
    scalar = FORMATS[dtype].scalar
    while True:
        chunk = length if length <= LONGEST_CHUNK else builtins.max(LONGEST_CHUNK // 4, math.isqrt(length - 1) + 1)
        chunk = builtins.min(chunk, LONGEST_CHUNK * 4)
        chunks = -(-length // chunk)
        # A partial sum is kept in full precision; the last pass writes the dtype asked for.
        wide = float32 if dtype.kind == "f" else dtype
        out = new((groups, chunks * inner, last), dtype if chunks == 1 else wide)
        uniforms = {"length_": length, "inner": inner, "columns": columns, "chunk": chunk, "chunks": chunks}
        defines, flop = arithmetic(kind, scalar, masked), float(x.size)
        engine().run(Pass("reduce_rows", {"x": x.operand}, (out.operand,), defines, uniforms, flop=flop))
        if chunks == 1:
            return out
        x, length, masked = out, chunks, False


def reduce(x: Tensor, kind: str, axis: Axes, keepdims: bool, dtype: np.dtype) -> Tensor:
    """Combines x over the axes. dtype: of the result (and, for int32, of the arithmetic)."""
    axes = normalise_axes(axis, x.ndim)
    kept = tuple(side for a, side in enumerate(x.shape) if a not in axes)
    shape = tuple(1 if a in axes else side for a, side in enumerate(x.shape)) if keepdims else kept
    count = math.prod(x.shape[a] for a in axes)
    if count == 0:
        from gpgpu_gl.ops.create import full

        if kind in ("max", "min"):
            raise ShapeError(f"{kind} over no elements: axes {axes} of shape {x.shape} are empty and have no {kind}")
        return full(shape, 0 if kind == "sum" else 1, dtype)
    if x.size == 0:
        return new(shape, dtype)
    from gpgpu_gl.ops.shape import reshape

    if not axes or count == 1:
        return reshape(x.astype(dtype) if x.dtype != dtype else x, shape)
    dims = list(x.shape)
    todo = set(axes)
    last_axis = x.ndim - 1
    if last_axis in todo:
        start = last_axis
        while start - 1 in todo:
            start -= 1
        outer = dims[:start]
        final = not builtins.any(a in todo for a in range(start))
        x = _last(x, kind, tuple(outer), math.prod(dims[start:-1]), dtype, keepdims and final, final)
        todo -= set(range(start, last_axis + 1))
        if final:
            return x.viewed(shape)
        dims = outer
    while todo:
        end = builtins.max(todo)
        start = end
        while start - 1 in todo:
            start -= 1
        groups, length = math.prod(dims[:start]), math.prod(dims[start : end + 1])
        inner, columns = math.prod(dims[end + 1 : -1]), x.layout.columns
        todo -= set(range(start, end + 1))
        dims = dims[:start] + dims[end + 1 :]
        x = _rows(x, kind, groups, length, inner, columns, dims[-1], dtype if not todo else _wide(dtype), False)
    return reshape(x.viewed(kept), shape)


def _wide(dtype: np.dtype) -> np.dtype:
    return float32 if dtype.kind == "f" else dtype


def _last(x: Tensor, kind: str, outer: tuple[int, ...], rows: int, dtype: np.dtype, keep: bool, final: bool) -> Tensor:
    """Reduces the last axis and `rows` rows before it. keep: the result has an axis of length 1 at its end."""
    columns = x.layout.columns
    run = rows * columns
    groups = math.prod(outer)
    masked = kind != "sum" and x.layout.last % 4 != 0
    scalar = FORMATS[dtype].scalar
    if run > LONGEST_CHUNK:
        x = _rows(x, kind, groups, run, 1, 1, 4, _wide(dtype), masked)
        run, masked = 1, False
    shape = (*outer, 1) if keep else outer
    out = new(shape, dtype if final else _wide(dtype))
    defines = arithmetic(kind, scalar, masked) | {"PACKED": int(not keep and bool(outer))}
    engine().run(Pass("reduce_last", {"x": x.operand}, (out.operand,), defines, {"run": run}, flop=float(x.size)))
    return out


def _spread(g: Tensor, x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """A reduced tensor over the axes that the reduction took away."""
    from gpgpu_gl.ops.shape import broadcast_to, reshape

    axes = normalise_axes(axis, x.ndim)
    if not keepdims:
        g = reshape(g, tuple(1 if a in axes else side for a, side in enumerate(x.shape)))
    return broadcast_to(g, x.shape)


def unbroadcast(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sums g back to the shape that was broadcast to g's."""
    if g.shape == shape:
        return g
    from gpgpu_gl.ops.shape import reshape

    lead = g.ndim - len(shape)
    axes = tuple(a for a in range(g.ndim) if a < lead or shape[a - lead] == 1 and g.shape[a] != 1)
    return reshape(sum(g, axis=axes, keepdims=True), shape) if axes else reshape(g, shape)


def _tied(g: Tensor, out: Tensor, x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """The gradient of a maximum or minimum, shared equally between equal elements."""
    hit = (x == _spread(out.detach(), x, axis, keepdims)).astype(float32)
    return hit * _spread(g, x, axis, keepdims) / sum(hit, axis=axis, keepdims=True)


@op("sum", lambda g, out, x, axis=None, keepdims=False: _spread(g, x, axis, keepdims))
def sum(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """The sum over axes (all by default); of bool and int32 exactly in int32 (modulo 2**32). Empty: 0."""
    return reduce(x, "sum", axis, keepdims, int32 if x.dtype == bool_ else x.dtype)


def mean(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean over axes (all by default), as a float; NaN over no elements."""
    count = math.prod(x.shape[a] for a in normalise_axes(axis, x.ndim))
    floats = x if x.dtype.kind == "f" else x.astype(float32)
    return sum(floats, axis=axis, keepdims=keepdims) * (1.0 / count if count else math.nan)


@op("max", lambda g, out, x, axis=None, keepdims=False: _tied(g, out, x, axis, keepdims))
def max(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """The largest element over axes (all by default); NaN where one is. Raises ShapeError over no elements."""
    return reduce(x, "max", axis, keepdims, x.dtype)


@op("min", lambda g, out, x, axis=None, keepdims=False: _tied(g, out, x, axis, keepdims))
def min(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """The smallest element over axes (all by default); NaN where one is. Raises ShapeError over no elements."""
    return reduce(x, "min", axis, keepdims, x.dtype)


@op("prod", None)
def prod(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The product over axes (all by default). Empty: 1. No gradient."""
    return reduce(x, "prod", axis, keepdims, int32 if x.dtype == bool_ else x.dtype)


def any(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Whether an element over axes is true (not zero); False over none."""
    return sum(x != 0, axis=axis, keepdims=keepdims) > 0


def all(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Whether every element over axes is true (not zero); True over none."""
    return sum(x == 0, axis=axis, keepdims=keepdims) == 0


def _first(x: Tensor, best: Tensor, axis: int) -> Tensor:
    """The first index along `axis` where x equals `best` (or is NaN)."""
    from gpgpu_gl.ops.create import arange
    from gpgpu_gl.ops.elementwise import isnan, where
    from gpgpu_gl.ops.shape import reshape

    side = x.shape[axis]
    index = reshape(arange(side), (side,) + (1,) * (x.ndim - 1 - axis))
    hit = x == best
    if x.dtype.kind == "f":
        hit = hit | isnan(x)
    return where(hit, index, side)


def _arg(x: Tensor, kind: str, axis: int | None, keepdims: bool) -> Tensor:
    from gpgpu_gl.ops.shape import reshape

    if axis is None:
        found = _arg(reshape(x, (x.size,)), kind, 0, False)
        return reshape(found, (1,) * x.ndim) if keepdims else found
    number = one_axis(axis, x.ndim)
    best = reduce(x, kind, number, True, x.dtype)
    return reduce(_first(x, best, number), "min", number, keepdims, int32)


@op("argmax")
def argmax(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first largest element along an axis (of the flattened tensor by default), as int32.

    A NaN counts as largest. Raises ShapeError over no elements.
    """
    return _arg(x, "max", axis, keepdims)


@op("argmin")
def argmin(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first smallest element along an axis (of the flattened tensor by default), as int32.

    A NaN counts as smallest. Raises ShapeError over no elements.
    """
    return _arg(x, "min", axis, keepdims)
