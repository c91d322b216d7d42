"""Mean and variance taken out: var, std, batch_norm and layer_norm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from gpgpu_gl.dtypes import float32
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.op import op
from gpgpu_gl.ops.elementwise import rsqrt, sqrt
from gpgpu_gl.ops.pointwise import pointwise
from gpgpu_gl.ops.reduce import Axes, mean, normalise_axes, unbroadcast
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


@op(
    "normalize",
    lambda g, out, x, m, r, w, b: g * (r * w),
    lambda g, out, x, m, r, w, b: -unbroadcast(g * (r * w), m.shape),
    lambda g, out, x, m, r, w, b: unbroadcast(g * ((x - m) * w), r.shape),
    lambda g, out, x, m, r, w, b: unbroadcast(g * ((x - m) * r), w.shape),
    lambda g, out, x, m, r, w, b: unbroadcast(g, b.shape),
)
def _normalize(x: Tensor, m: Tensor, r: Tensor, w: Operand, b: Operand) -> Tensor:
    """(x - m) * r * w + b in one pass; the other operands broadcast to x."""
    return pointwise("(x0 - x1) * x2 * x3 + x4", (x, m, r, w, b), x.dtype, ("float",) * 5)


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
    m, variance = _moments(x, axes, math.prod(shape))
    return _normalize(x, m, rsqrt(variance + eps), 1.0 if weight is None else weight, 0.0 if bias is None else bias)


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
    if training or running_mean is None or running_var is None:
        axes, count = tuple(range(x.ndim - 1)), math.prod(x.shape[:-1])
        if count < 2 and training:
            raise ShapeError(f"batch_norm in training needs more than one value a channel; the shape is {x.shape}")
        m, variance = (reshape(moment, channels) for moment in _moments(x, axes, count))
        if training and running_mean is not None and running_var is not None:
            for running, found, factor in ((running_mean, m, 1.0), (running_var, variance, count / (count - 1))):
                expr = "x0 + x2 * (x1 * x3 - x0)"
                operands = (running, found, momentum, factor)
                running.replace(pointwise(expr, operands, running.dtype, ("float",) * 4))  # type: ignore[arg-type]
    else:
        m, variance = running_mean, running_var
    return _normalize(x, m, rsqrt(variance + eps), 1.0 if weight is None else weight, 0.0 if bias is None else bias)
