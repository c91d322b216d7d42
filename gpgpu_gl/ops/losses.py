"""Losses, with PyTorch's names and rules: reduction is "mean" (of rows or elements), "sum" or "none"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import float32, int32, result_type
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import Op, op
from gpgpu_gl.ops.create import full, ones
from gpgpu_gl.ops.elementwise import as_tensor, binary, logical_and, negative, sigmoid, sign, where
from gpgpu_gl.ops.reduce import mean, reduce
from gpgpu_gl.ops.reduce import sum as sum_
from gpgpu_gl.ops.shape import expand_dims, reshape
from gpgpu_gl.ops.softmax import SHORT_ROW, exponential_sums, floats, log_softmax, masked, softmax
from gpgpu_gl.ops.take import one_hot
from gpgpu_gl.tensor import Tensor, engine, new, tensor

REDUCTIONS = ("mean", "sum", "none")
LONGEST_SMOOTHED = 1024  # texels of a row that one invocation may sum up for label smoothing


def check_reduction(reduction: str) -> None:
    """Raises ShapeError for a reduction that there is not."""
    if reduction not in REDUCTIONS:
        raise ShapeError(f'reduction is "mean", "sum" or "none", not {reduction!r}')


def _reduced(loss: Tensor, reduction: str, dtype: np.dtype) -> Tensor:
    """A loss for each element, in float32, as it is asked for; halves are rounded at the very end."""
    return (loss if reduction == "none" else mean(loss) if reduction == "mean" else sum_(loss)).astype(dtype)


# --- labels -------------------------------------------------------------------------------------


def _labels_pass(
    kernel: str,
    x: Tensor,
    labels: Tensor,
    out: Tensor,
    smoothing: float,
    weight: float,
    logits: bool,
    g: Tensor | None,
) -> None:
    """Runs cross_entropy or its gradient; long rows have their sums computed before."""
    inputs = {"x": x.operand, "labels": labels.operand}
    defines = {"LOGITS": int(logits), "MASKED": masked(x)}
    if g is None:
        defines["SMOOTHED"] = int(smoothing != 0)
    else:
        inputs["g"] = g.operand
        defines["G_ROWS"] = g.ndim
    if logits and x.layout.columns > SHORT_ROW:
        peaks, sums = exponential_sums(x, -1)
        inputs["peaks"], inputs["sums"] = peaks.operand, sums.operand
        defines["ROWS_KNOWN"] = 1
    uniforms = {"weight": weight, "smoothing": smoothing}
    engine().run(Pass(kernel, inputs, (out.operand,), defines, uniforms, flop=5.0 * x.size))


def _vjp_g(h: Tensor, out: Tensor, g: Tensor, x: Tensor, labels: Tensor, **attributes: Any) -> Tensor:
    unit = _cross_entropy_vjp(ones(g.shape), x, labels, **attributes)
    return sum_(h * unit, axis=None if g.ndim == 0 else 1)


def _vjp_x(
    h: Tensor, out: Tensor, g: Tensor, x: Tensor, labels: Tensor, smoothing: float, weight: float, logits: bool
) -> Tensor | None:
    if not logits:
        return None
    p = softmax(x)
    factor = (g if g.ndim == 0 else expand_dims(g, 1)) * weight
    return factor * (p * (h - sum_(h * p, axis=1, keepdims=True)))


@op("cross_entropy_vjp", _vjp_g, _vjp_x, None)
def _cross_entropy_vjp(g: Tensor, x: Tensor, labels: Tensor, smoothing: float, weight: float, logits: bool) -> Tensor:
    """The gradient of cross_entropy with respect to x, (N, C), from that of the loss: a scalar, or (N,)."""
    out = new(x.shape, x.dtype)
    if x.size:
        _labels_pass("cross_entropy_vjp", x, labels, out, smoothing, weight, logits, g)
    return out


def _vjp(
    g: Tensor, out: Tensor, x: Tensor, labels: Tensor, smoothing: float, weight: float, logits: bool, rows: bool
) -> Tensor:
    return _cross_entropy_vjp(g, x, labels, smoothing=smoothing, weight=weight, logits=logits)


@op("cross_entropy", _vjp, None)
def _cross_entropy(x: Tensor, labels: Tensor, smoothing: float, weight: float, logits: bool, rows: bool) -> Tensor:
    """weight times the loss of each row of x, (N, C), at its label: with `rows` (N,), else their sum."""
    losses = new((x.shape[0],), x.dtype if rows else float32)
    _labels_pass("cross_entropy", x, labels, losses, smoothing, weight, logits, None)
    return losses if rows else reduce(losses, "sum", None, False, x.dtype)


def _as_labels(labels: Any, shape: tuple[int, ...], classes: int) -> Tensor:
    """Labels as an int32 tensor; those on the host are checked."""
    if not isinstance(labels, Tensor):
        host = np.asarray(labels)
        if host.size and host.dtype.kind in "iu" and not (host.min() >= 0 and host.max() < classes):
            raise ShapeError(
                f"labels from {host.min()} to {host.max()} for {classes} classes: each must be from 0 to {classes - 1}"
            )
        labels = tensor(host.astype(np.int32) if host.size == 0 else host)
    if labels.dtype != int32:
        raise DTypeError(f"labels must be int32 class numbers, not {labels.dtype}")
    if labels.shape != shape[:-1]:
        raise ShapeError(f"labels of shape {labels.shape} for scores of shape {shape}: expected {shape[:-1]}")
    return reshape(labels, (labels.size,))


def _label_loss(x: Tensor, labels: Tensor, smoothing: float, reduction: str, logits: bool) -> Tensor:
    count = labels.size
    if count == 0:
        return full((0,) if reduction == "none" else (), math.nan if reduction == "mean" else 0.0, x.dtype)
    weight = 1.0 / count if reduction == "mean" else 1.0
    rows = reduction == "none"
    return _cross_entropy(x, labels, smoothing=smoothing, weight=weight, logits=logits, rows=rows)


def _as_probabilities(labels: Tensor, classes: int) -> Tensor:
    """(N,) labels as (N, C) probabilities; a wrong label's row is NaN."""
    right = logical_and(labels >= 0, labels < classes)
    return where(expand_dims(right, 1), one_hot(labels, classes), math.nan)


def cross_entropy(logits: Any, target: Any, label_smoothing: float = 0.0, reduction: str = "mean") -> Tensor:
    """The cross-entropy of softmax(logits) against the target, as PyTorch's.

    logits: (..., C). target: class numbers of shape (...), int32 (others are converted where they are on the host), or
    probabilities of shape (..., C). Returns a scalar, or shape (...) with reduction="none"; "mean" divides by the
    number of rows. A class number out of range raises ShapeError where it is on the host; on the device it makes the
    loss NaN (there is no ignore_index). Raises ShapeError for other shapes.
    """
    x = floats(logits)
    dtype = x.dtype
    check_reduction(reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ShapeError(f"label_smoothing is from 0 to 1, not {label_smoothing}")
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ShapeError(f"cross_entropy needs logits of shape (..., classes) with at least one class, not {x.shape}")
    lead, classes = x.shape[:-1], x.shape[-1]
    flat = reshape(x, (math.prod(lead), classes))
    if not isinstance(target, Tensor) and np.asarray(target).dtype.kind == "f":
        target = tensor(target)
    if not isinstance(target, Tensor) or target.dtype.kind != "f":
        labels = _as_labels(target, x.shape, classes)
        if label_smoothing == 0 or flat.layout.columns <= LONGEST_SMOOTHED:
            loss = _label_loss(flat, labels, float(label_smoothing), reduction, logits=True)
            return reshape(loss, lead) if reduction == "none" else loss
        target = _as_probabilities(labels, classes)
    elif target.shape == x.shape:
        dtype = result_type(dtype, target.dtype)
    else:
        raise ShapeError(f"probabilities of shape {target.shape} for logits of shape {x.shape}: the shapes must be equal")
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + label_smoothing / classes
    scores = log_softmax(flat.astype(float32))
    loss = _reduced(negative(sum_(reshape(target, flat.shape) * scores, axis=1)), reduction, dtype)
    return reshape(loss, lead) if reduction == "none" else loss


def nll_loss(log_probabilities: Any, labels: Any, reduction: str = "mean") -> Tensor:
    """Minus the log-probability of each row's label: cross_entropy for what log_softmax made.

    log_probabilities: (..., C); labels: int32 of shape (...). Result, NaN and errors as cross_entropy's.
    """
    x = floats(log_probabilities)
    check_reduction(reduction)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ShapeError(f"nll_loss needs log-probabilities of shape (..., classes), not {x.shape}")
    lead, classes = x.shape[:-1], x.shape[-1]
    found = _as_labels(labels, x.shape, classes)
    loss = _label_loss(reshape(x, (math.prod(lead), classes)), found, 0.0, reduction, logits=False)
    return reshape(loss, lead) if reduction == "none" else loss


# --- elementwise --------------------------------------------------------------------------------


def _wide(dtype: np.dtype) -> np.dtype:
    return float32


_squared_error = binary(
    "squared_error",
    "(x0 - x1) * (x0 - x1)",
    (lambda g, out, x, y: g * ((x - y) * 2), lambda g, out, x, y: g * ((y - x) * 2)),
    "(x - y) squared.",
    dtype=_wide,
)
_absolute_error = binary(
    "absolute_error",
    "abs(x0 - x1)",
    (lambda g, out, x, y: g * sign(x - y), lambda g, out, x, y: g * sign(y - x)),
    "|x - y|; the gradient at 0 is 0.",
    dtype=_wide,
)
_logit_error = binary(
    "binary_cross_entropy_with_logits",
    "maximum(x0, 0.0) - x0 * x1 + log1p_(exp_(-abs(x0)))",
    (lambda g, out, x, y: g * (sigmoid(x) - y), lambda g, out, x, y: -(g * x)),
    "-y log(sigmoid(x)) - (1 - y) log(1 - sigmoid(x)).",
    dtype=_wide,
)


def _elementwise(error: Op, name: str, x: Any, target: Any, reduction: str) -> Tensor:
    check_reduction(reduction)
    x, target = as_tensor(x), as_tensor(target)
    if x.shape != target.shape:  # broadcasting (N, 1) with (N,) gave many a wrong loss
        raise ShapeError(f"{name} of shapes {x.shape} and {target.shape}: the shapes must be equal")
    common = result_type(x.dtype, target.dtype)
    return _reduced(error(x, target), reduction, common if common.kind == "f" else float32)


def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Tensor:
    """The squared error (x - target)**2. Raises ShapeError where the shapes differ: nothing is broadcast."""
    return _elementwise(_squared_error, "mse_loss", x, target, reduction)


def l1_loss(x: Any, target: Any, reduction: str = "mean") -> Tensor:
    """The absolute error |x - target|. Raises ShapeError where the shapes differ: nothing is broadcast."""
    return _elementwise(_absolute_error, "l1_loss", x, target, reduction)


def binary_cross_entropy_with_logits(logits: Any, target: Any, reduction: str = "mean") -> Tensor:
    """The cross-entropy of sigmoid(logits) against probabilities of the same shape (bool counts as 0 and 1).

    Exact for large logits. Raises ShapeError where the shapes differ.
    """
    return _elementwise(_logit_error, "binary_cross_entropy_with_logits", logits, target, reduction)
