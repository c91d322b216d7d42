"""Mean and variance taken out: var, std, batch_norm and layer_norm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gpgpu_gl.dtypes import float32
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.op import op
from gpgpu_gl.ops.elementwise import rsqrt, sqrt
from gpgpu_gl.ops.pointwise import pointwise
from gpgpu_gl.ops.reduce import Axes, mean, normalise_axes, reduce, unbroadcast
from gpgpu_gl.ops.reduce import sum as sum_
from gpgpu_gl.ops.shape import reshape
from gpgpu_gl.ops.softmax import floats
from gpgpu_gl.tensor import Tensor

Operand = Tensor | float


# The derivative with respect to the mean is the sum of x - mean: 0, and so are its own derivatives.
@op(
    "squared_deviation",
    lambda g, out, x, m, axis, divisor: g * ((x - m) * (2.0 / divisor)),
    lambda g, out, x, m, axis, divisor: None,
)
def _squared_deviation(x: Tensor, m: Tensor, axis: Axes, divisor: float) -> Tensor:
    """sum((x - m)**2) / divisor over the axes, kept with length 1; m is x's mean over them."""
    squares = pointwise("(x0 - x1) * (x0 - x1) * x2", (x, m, 1.0 / divisor), x.dtype, ("float",) * 3)
    return sum_(squares, axis=axis, keepdims=True)


def _moments(x: Tensor, axes: tuple[int, ...], divisor: float) -> tuple[Tensor, Tensor]:
    """Mean and sum((x - mean)**2) / divisor over the axes, kept with length 1, in float32 for halves too."""
    wide = x.astype(float32)
    m = mean(wide, axes, keepdims=True)
    return m, _squared_deviation(wide, m, axis=axes, divisor=divisor)


def var(x: Tensor, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The variance over axes (all by default), sum((x - mean)**2) / (n - correction); NaN where n is too small.

    Raises ShapeError for a bad axis.
    """
    x = floats(x)
    axes = normalise_axes(axis, x.ndim)
    divisor = math.prod(x.shape[a] for a in axes) - correction
    _, found = _moments(x, axes, divisor if divisor > 0 else math.nan)
    found = found.astype(x.dtype)
    return found if keepdims else reshape(found, tuple(side for a, side in enumerate(x.shape) if a not in axes))


def std(x: Tensor, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The standard deviation over axes: the square root of var()."""
    return sqrt(var(x, axis, correction, keepdims))


# --- normalising by a tensor's own mean and deviation -------------------------------------------
#
# y = (x - m) r with m and r computed from x over `axes`, so that the rules for x hold all that comes through them, and
# m and r themselves have none. n elements share a mean; the Jacobian r (1 - 1 1^T / n - y y^T / n) is symmetric
# (S. Ioffe and C. Szegedy, "Batch normalization", ICML 2015, section 3).


def _statistics(x: Tensor, axes: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, variance and 1 / sqrt(variance + eps) of x over the axes, kept with length 1, float32; outside the graph."""
    share = 1.0 / math.prod(x.shape[a] for a in axes)
    m = pointwise("x0 * x1", (reduce(x, "sum", axes, True, float32), share), float32, ("float",) * 2)
    squares = pointwise("(x0 - x1) * (x0 - x1) * x2", (x, m, share), float32, ("float",) * 3)
    variance = reduce(squares, "sum", axes, True, float32)
    return m, variance, pointwise("1.0 / sqrt(x0 + x1)", (variance, eps), float32, ("float",) * 2)


def _no_rule(*_: Any, **__: Any) -> None:
    """Nothing comes through this argument that the rules for the others do not hold."""


def _kept(x: Tensor, axes: tuple[int, ...]) -> tuple[int, ...]:
    """x's shape with the axes reduced to length 1."""
    return tuple(1 if a in axes else side for a, side in enumerate(x.shape))


@op(
    "normalize",
    lambda g, out, x, m, r, w, b, axes, eps: _normalize_vjp(g * w, x, m, r, axes=axes, eps=eps),
    _no_rule,
    _no_rule,
    lambda g, out, x, m, r, w, b, axes, eps: unbroadcast(_times_normalized(g, x, m, r, axes=axes, eps=eps), w.shape),
    lambda g, out, x, m, r, w, b, axes, eps: unbroadcast(g, b.shape),
)
def _normalize(x: Tensor, m: Tensor, r: Tensor, w: Operand, b: Operand, axes: tuple[int, ...], eps: float) -> Tensor:
    """y * w + b."""
    return pointwise("(x0 - x1) * x2 * x3 + x4", (x, m, r, w, b), x.dtype, ("float",) * 5)


def _vjp_vjp(h: Tensor, out: Tensor, g: Tensor, x: Tensor, m: Tensor, r: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """The derivative of r n (mean(h g) - mean(h) mean(g) - mean(h y) mean(g y)) = sum(h * out) with respect to x."""
    y = _normalize(x, m, r, 1.0, 0.0, axes=axes, eps=eps)
    n = math.prod(x.shape[a] for a in axes)
    r_of_x = rsqrt(_squared_deviation(x, reshape(m, _kept(x, axes)), axis=axes, divisor=n) + eps)
    means = [mean(t, axes, keepdims=True) for t in (h * g, h, g, h * y, g * y)]
    inside = means[0] - means[1] * means[2] - means[3] * means[4]
    there, back = (_normalize_vjp(t, x, m, r, axes=axes, eps=eps) for t in (h, g))
    return -(r_of_x * r_of_x * y * inside) - r_of_x * (means[4] * there + means[3] * back)


@op(
    "normalize_vjp",
    lambda h, out, g, x, m, r, axes, eps: _normalize_vjp(h, x, m, r, axes=axes, eps=eps),
    _vjp_vjp,
    _no_rule,
    _no_rule,
)
def _normalize_vjp(g: Tensor, x: Tensor, m: Tensor, r: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """The gradient of y with respect to x, from y's gradient g: r (g - mean(g) - y mean(g y))."""
    share = 1.0 / math.prod(x.shape[a] for a in axes)
    sums = reduce(g, "sum", axes, True, float32)
    products = reduce(_times_normalized.forward(g, x, m, r, axes, eps), "sum", axes, True, float32)
    expr = "x3 * (x0 - x4 * x6 - (x1 - x2) * x3 * (x5 * x6))"
    return pointwise(expr, (g, x, m, r, sums, products, share), x.dtype, ("float",) * 7)


@op(
    "times_normalized",
    lambda h, out, g, x, m, r, axes, eps: _times_normalized(h, x, m, r, axes=axes, eps=eps),
    lambda h, out, g, x, m, r, axes, eps: _normalize_vjp(h * g, x, m, r, axes=axes, eps=eps),
    _no_rule,
    _no_rule,
)
def _times_normalized(g: Tensor, x: Tensor, m: Tensor, r: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """g * y."""
    return pointwise("x0 * ((x1 - x2) * x3)", (g, x, m, r), float32, ("float",) * 4)


# --- normalising by given numbers ---------------------------------------------------------------


@op(
    "normalize_by",
    lambda g, out, x, m, r, w, b: g * (r * w),
    lambda g, out, x, m, r, w, b: -unbroadcast(g * (r * w), m.shape),
    lambda g, out, x, m, r, w, b: unbroadcast(g * ((x - m) * w), r.shape),
    lambda g, out, x, m, r, w, b: unbroadcast(g * ((x - m) * r), w.shape),
    lambda g, out, x, m, r, w, b: unbroadcast(g, b.shape),
)
def _normalize_by(x: Tensor, m: Tensor, r: Tensor, w: Operand, b: Operand) -> Tensor:
    """(x - m) * r * w + b in one pass; the other operands broadcast to x."""
    return pointwise("(x0 - x1) * x2 * x3 + x4", (x, m, r, w, b), x.dtype, ("float",) * 5)


# --- layers -------------------------------------------------------------------------------------


def _check(name: str, x: Tensor, shape: tuple[int, ...], **tensors: Tensor | None) -> None:
    for what, t in tensors.items():
        if t is not None and t.shape != shape:
            raise ShapeError(f"{name} of a tensor of shape {x.shape}: {what} has shape {t.shape}, but needs {shape}")
    if x.dtype.kind != "f":
        raise DTypeError(f"{name} needs a float tensor, not {x.dtype}")


def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """x with mean 0 and variance 1 over its last axes, then times weight, plus bias, as PyTorch's.

    normalized_shape: the sides of those axes, and the shape of weight and bias. Raises ShapeError, DTypeError.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or x.shape[-len(shape) :] != shape:
        raise ShapeError(f"layer_norm over {shape} of a tensor of shape {x.shape}: its last axes must have these sides")
    _check("layer_norm", x, shape, weight=weight, bias=bias)
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    if x.size == 0:
        return x
    m, _, r = _statistics(x, axes, eps)
    return _normalize(x, m, r, 1.0 if weight is None else weight, 0.0 if bias is None else bias, axes=axes, eps=eps)


def batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | Callable[[], float] = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """x with mean 0 and variance 1 for each channel (the last axis), then times weight, plus bias, as PyTorch's.

    x: (..., C); all others (C). training: mean and variance (biased) are the batch's, and the running ones move towards
    them (the variance unbiased) by the share `momentum`, a number or a function that gives one. Otherwise they are the
    running ones. Raises ShapeError, also for one value a channel in training; DTypeError.
    """
    if x.ndim < 2:
        raise ShapeError(f"batch_norm needs a tensor of shape (..., channels), not {x.shape}")
    channels = x.shape[-1:]
    _check("batch_norm", x, channels, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    w, b = 1.0 if weight is None else weight, 0.0 if bias is None else bias
    if not training and running_mean is not None and running_var is not None:
        return _normalize_by(x, running_mean, rsqrt(running_var + eps), w, b)
    axes, count = tuple(range(x.ndim - 1)), math.prod(x.shape[:-1])
    if count < 2 and training:
        raise ShapeError(f"batch_norm in training needs more than one value a channel; the shape is {x.shape}")
    if x.size == 0:
        return x
    m, variance, r = (reshape(t, channels) for t in _statistics(x, axes, eps))
    if training and running_mean is not None and running_var is not None:
        for running, found, factor in ((running_mean, m, 1.0), (running_var, variance, count / (count - 1))):
            operands: tuple[Any, ...] = (running, found, momentum, factor)
            running.replace(pointwise("x0 + x2 * (x1 * x3 - x0)", operands, running.dtype, ("float",) * 4))
    return _normalize(x, m, r, w, b, axes=axes, eps=eps)
