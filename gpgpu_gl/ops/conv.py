"""Convolution and its two gradients: each is linear in both of its tensors, and their gradients are each other."""

from __future__ import annotations

import functools
from dataclasses import replace

from gpgpu_gl.dtypes import float32, result_type
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.gl.expression import PRODUCED_VALUE, Expression
from gpgpu_gl.op import op
from gpgpu_gl.ops.conv_variants import images, weights
from gpgpu_gl.ops.create import zeros
from gpgpu_gl.ops.elementwise import add, astype
from gpgpu_gl.ops.reduce import sum as sum_
from gpgpu_gl.ops.window import LONGEST_LOOP, Geometry, Padding, Pair, check_float, check_images, geometry
from gpgpu_gl.tensor import Tensor, new


@op(
    "conv2d",
    lambda g, out, x, w, *_, geo, groups: conv2d_input_grad(g, w, geo=geo, groups=groups),
    lambda g, out, x, w, *_, geo, groups: conv2d_weight_grad(x, g, geo=geo, groups=groups),
    lambda g, out, x, w, bias, geo, groups: sum_(g, axis=(0, 1, 2)),
)
def _conv2d(x: Tensor, w: Tensor, bias: Tensor | None = None, *, geo: Geometry, groups: int) -> Tensor:
    """conv2d with its geometry worked out."""
    c_out = w.shape[3]
    tensors = (x, w) if bias is None else (x, w, bias)
    shape, dtype = (x.shape[0], *geo.result, c_out), result_type(*[t.dtype for t in tensors])
    if x.size == 0 or w.size == 0:
        empty = zeros(shape, dtype)
        return empty if bias is None else (empty + bias).astype(dtype)
    out = new(shape, dtype)
    epilogue = None if bias is None else Expression("x0 + x1", (PRODUCED_VALUE, bias.operand), ("float", "float"))
    images(x, w, out, geo, groups, False, epilogue)
    return out


@op(
    "conv2d_input_grad",
    lambda u, out, g, w, geo, groups: _conv2d(u, w, geo=geo, groups=groups),
    lambda u, out, g, w, geo, groups: conv2d_weight_grad(u, g, geo=geo, groups=groups),
)
def conv2d_input_grad(g: Tensor, w: Tensor, geo: Geometry, groups: int) -> Tensor:
    """The gradient of conv2d with respect to its input: g (N, OH, OW, C_out) and the weights give (N, H, W, C_in)."""
    shape, dtype = (g.shape[0], *geo.image, w.shape[2] * groups), result_type(g.dtype, w.dtype)
    if g.size == 0 or w.size == 0:
        return zeros(shape, dtype)
    out = new(shape, dtype)
    images(g, w, out, geo, groups, True)
    return out


@op(
    "conv2d_weight_grad",
    lambda u, out, x, g, geo, groups: conv2d_input_grad(g, u, geo=geo, groups=groups),
    lambda u, out, x, g, geo, groups: _conv2d(x, u, geo=geo, groups=groups),
)
def conv2d_weight_grad(x: Tensor, g: Tensor, geo: Geometry, groups: int) -> Tensor:
    """The gradient of conv2d with respect to its weights: x (N, H, W, C_in) and g (N, OH, OW, C_out) give the weights' shape."""
    shape, dtype = (*geo.window, x.shape[3] // groups, g.shape[3]), result_type(x.dtype, g.dtype)
    if x.size == 0 or g.size == 0:
        return zeros(shape, dtype)
    return weights(x, g, dtype, geo, groups)


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of images with a kernel, as PyTorch's conv2d but channels last.

    x (N, H, W, C_in), weight (KH, KW, C_in / groups, C_out), bias (C_out); result (N, OH, OW, C_out), with
    OH = (H + padding - dilation * (KH - 1) - 1) // stride + 1. float32 and float16 (summed in float32).
    padding: a number, (rows, columns), ((above, below), (left, right)), "valid" or "same" (OH = H / stride, rounded up;
    the odd pixel of padding goes to the end, as TensorFlow's). Raises ShapeError, DTypeError.
    """
    check_images("conv2d", x)
    if not isinstance(weight, Tensor) or weight.ndim != 4:
        raise ShapeError(
            f"conv2d needs a weight of shape (KH, KW, C_in / groups, C_out), not {getattr(weight, 'shape', weight)}"
        )
    what = f"conv2d of images {x.shape} with weight {weight.shape}"
    for t in (weight, bias):
        if t is not None:
            check_float("conv2d", t)
    c_in, in_each, c_out = x.shape[3], weight.shape[2], weight.shape[3]
    if groups < 1 or c_in % groups or c_out % groups or in_each != c_in // groups:
        raise ShapeError(
            f"{what} and groups={groups}: the weight's third axis ({in_each}) must be the images' channels ({c_in}) "
            f"divided by groups, and groups must divide {c_in} and {c_out}"
        )
    if bias is not None and bias.shape != (c_out,):
        raise ShapeError(
            f"{what}: the bias has shape {bias.shape}, but needs ({c_out},), one number for each output channel"
        )
    if min(weight.shape[:2]) < 1:
        raise ShapeError(f"{what}: a kernel needs at least one row and one column")
    geo = geometry(what, (x.shape[1], x.shape[2]), (weight.shape[0], weight.shape[1]), stride, dilation, padding)
    steps = geo.window[1] * (1 + (4 * in_each if groups > 1 else -(-in_each // 4)))  # of the plain kernel, for a row of taps
    if steps * geo.window[0] > LONGEST_LOOP:
        return _in_parts(x, weight, bias, geo, groups, LONGEST_LOOP // steps, what)
    tensors = (x, weight) if bias is None else (x, weight, bias)
    return _conv2d(*tensors, geo=geo, groups=groups)


def _in_parts(x: Tensor, w: Tensor, bias: Tensor | None, geo: Geometry, groups: int, rows: int, what: str) -> Tensor:
    """A convolution with very many products for each result: the sum of those with so many rows of the kernel each."""
    if rows == 0:
        raise ShapeError(f"{what}: one row of the kernel has more products than a shader's loops may take; use fewer channels")
    height, down = geo.window[0], geo.dilation[0]
    parts = []
    for first in range(0, height, rows):
        last = min(first + rows, height)
        border = (geo.border[0] - first * down, geo.border[1])
        end = (geo.end[0] - (height - last) * down, geo.end[1])
        part = replace(geo, window=(last - first, geo.window[1]), border=border, end=end)
        parts.append(_conv2d(astype(x, float32), astype(w[first:last], float32), geo=part, groups=groups))
    total = functools.reduce(add, parts)
    dtype = result_type(*[t.dtype for t in (x, w, bias) if t is not None])
    return astype(total if bias is None else total + bias, dtype)
