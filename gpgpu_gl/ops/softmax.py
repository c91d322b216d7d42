"""Softmax and its relatives, shifted by the largest element, so that no exponential overflows."""

from __future__ import annotations

import math
from typing import Any

from gpgpu_gl.dtypes import float32
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.create import full
from gpgpu_gl.ops.elementwise import as_tensor, exp
from gpgpu_gl.ops.pointwise import pointwise
from gpgpu_gl.ops.reduce import LONGEST_CHUNK, Axes, normalise_axes, reduce
from gpgpu_gl.ops.reduce import sum as sum_
from gpgpu_gl.ops.shape import reshape
from gpgpu_gl.tensor import Tensor, engine, new

SHORT_ROW = 8  # texels of a row up to which every texel of a result may go over its whole row again


def floats(x: Any) -> Tensor:
    """A tensor in a float dtype; float32 where it has none."""
    x = as_tensor(x)
    return x if x.dtype.kind == "f" else x.astype(float32)


def masked(x: Tensor) -> int:
    """1 where rows have pad lanes."""
    return int(x.layout.last % 4 != 0)


def exponential_sums(x: Tensor, axis: Axes) -> tuple[Tensor, Tensor]:
    """Peaks and sums over the axes, float32, kept with length 1: sum(exp(x)) = sums * exp(peaks). No axis is empty."""
    todo = set(normalise_axes(axis, x.ndim))
    dims = list(x.shape)
    sums: Tensor | None = None
    while todo:
        end = max(todo)
        start = end
        while start - 1 in todo:
            start -= 1
        todo -= set(range(start, end + 1))
        columns = -(-dims[-1] // 4)
        groups, length = math.prod(dims[:start]), math.prod(dims[start : end + 1])
        inner = math.prod(dims[end + 1 : -1])
        last = end == x.ndim - 1
        if last:
            length, inner, columns = math.prod(dims[start:-1]) * columns, 1, 1
        dims[start : end + 1] = [1] * (end + 1 - start)
        x, sums = _exponential_sums(x, sums, (groups, length, inner, columns), tuple(dims), last)
    if sums is None:
        return x.astype(float32), full(x.shape, 1.0)
    return x, sums


def _exponential_sums(
    x: Tensor, sums: Tensor | None, view: tuple[int, int, int, int], shape: tuple[int, ...], lanes: bool
) -> tuple[Tensor, Tensor]:
    """Combines the second axis of x seen as `view`, in as many passes as its length needs."""
    groups, length, inner, columns = view
    mask = masked(x) if lanes else 0
    while True:
        chunk = length if length <= LONGEST_CHUNK else max(LONGEST_CHUNK // 4, math.isqrt(length - 1) + 1)
        chunk = min(chunk, LONGEST_CHUNK * 4)
        chunks = -(-length // chunk)
        done = chunks == 1
        made = shape if done else (groups, chunks * inner, 4 * columns)
        outputs = new(made, float32), new(made, float32)
        inputs = {"x": x.operand} if sums is None else {"x": x.operand, "sums": sums.operand}
        defines = {"SUMS": int(sums is not None), "LANES": int(lanes and done), "MASKED": mask}
        uniforms = {"length_": length, "inner": inner, "columns": columns, "chunk": chunk, "chunks": chunks}
        engine().run(Pass("logsumexp", inputs, (outputs[0].operand, outputs[1].operand), defines, uniforms, flop=4.0 * x.size))
        x, sums = outputs
        if done:
            return x, sums
        length, mask = chunks, 0


def _kept(x: Tensor, axis: Axes) -> tuple[int, ...]:
    """x's shape with the axes reduced to length 1."""
    axes = normalise_axes(axis, x.ndim)
    return tuple(1 if a in axes else side for a, side in enumerate(x.shape))


@op("logsumexp", lambda g, out, x, axis, keepdims: reshape(g, _kept(x, axis)) * softmax(x, axis))
def _logsumexp(x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    axes = normalise_axes(axis, x.ndim)
    kept = _kept(x, axis) if keepdims else tuple(side for a, side in enumerate(x.shape) if a not in axes)
    if x.size == 0:
        return full(kept, -math.inf, x.dtype)
    peaks, sums = exponential_sums(x, axes)
    found = pointwise("is_inf(x0) ? x0 : x0 + log_(x1)", (peaks, sums), x.dtype, ("float", "float"))
    return reshape(found, kept)


def logsumexp(x: Any, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """log(sum(exp(x))) over axes (all by default), as SciPy's; -inf over no elements. Raises ShapeError for a bad axis."""
    return _logsumexp(floats(x), axis=axis, keepdims=keepdims)


def _softmax_pass(x: Tensor, axis: Axes, log: bool) -> Tensor:
    if x.size == 0:
        return new(x.shape, x.dtype)
    if normalise_axes(axis, x.ndim) == (x.ndim - 1,) and x.layout.columns <= SHORT_ROW:
        out = new(x.shape, x.dtype)
        defines = {"LOG": int(log), "MASKED": masked(x)}
        engine().run(Pass("softmax", {"x": x.operand}, (out.operand,), defines, flop=5.0 * x.size))
        return out
    peaks, sums = exponential_sums(x, axis)
    shifted = "(is_inf(x1) ? x0 : x0 - x1)"
    expr = f"{shifted} - log_(x2)" if log else f"exp_({shifted}) / (is_inf(x1) ? NOT_A_NUMBER : x2)"
    return pointwise(expr, (x, peaks, sums), x.dtype, ("float",) * 3)


def _softmax_vjp_y(h: Tensor, out: Tensor, g: Tensor, y: Tensor, axis: Axes) -> Tensor:
    return h * (g - sum_(g * y, axis=axis, keepdims=True)) - g * sum_(h * y, axis=axis, keepdims=True)


@op("softmax_vjp", lambda h, out, g, y, axis: _softmax_vjp(h, y, axis=axis), _softmax_vjp_y)
def _softmax_vjp(g: Tensor, y: Tensor, axis: Axes) -> Tensor:
    """The gradient of y = softmax(x) with respect to x: y (g - sum(g y)), which is its own transpose."""
    products = pointwise("x0 * x1", (g, y), float32, ("float",) * 2)
    sums = reduce(products, "sum", axis, True, float32)
    return pointwise("x1 * (x0 - x2)", (g, y, sums), y.dtype, ("float",) * 3)


@op("softmax", lambda g, out, x, axis=-1: _softmax_vjp(g, out, axis=axis))
def _softmax(x: Tensor, axis: Axes = -1) -> Tensor:
    return _softmax_pass(x, axis, log=False)


def softmax(x: Any, axis: Axes = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis (several, or with None all, together), of x's shape.

    NaN throughout where an element is NaN or inf, or all are -inf. Raises ShapeError for a bad axis.
    """
    return _softmax(floats(x), axis=axis)


@op(
    "log_softmax_vjp",
    lambda h, out, g, y, axis: h - sum_(h * exp(y), axis=axis, keepdims=True),
    lambda h, out, g, y, axis: -(h * exp(y) * sum_(g, axis=axis, keepdims=True)),
)
def _log_softmax_vjp(g: Tensor, y: Tensor, axis: Axes) -> Tensor:
    """The gradient of y = log_softmax(x) with respect to x: g - exp(y) sum(g)."""
    sums = reduce(g, "sum", axis, True, float32)
    return pointwise("x0 - exp_(x1) * x2", (g, y, sums), y.dtype, ("float",) * 3)


@op("log_softmax", lambda g, out, x, axis=-1: _log_softmax_vjp(g, out, axis=axis))
def _log_softmax(x: Tensor, axis: Axes = -1) -> Tensor:
    return _softmax_pass(x, axis, log=True)


def log_softmax(x: Any, axis: Axes = -1) -> Tensor:
    """The logarithm of softmax, exact where that underflows. Raises ShapeError for a bad axis."""
    return _log_softmax(floats(x), axis=axis)
