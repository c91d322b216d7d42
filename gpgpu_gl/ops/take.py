"""Picking slices by index, and its gradient."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import int32
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.arguments import one_axis
from gpgpu_gl.ops.create import arange, zeros
from gpgpu_gl.ops.elementwise import add, equal
from gpgpu_gl.ops.pointwise import is_integer, scalar_of
from gpgpu_gl.ops.shape import expand_dims, reshape
from gpgpu_gl.tensor import Tensor, engine, new, tensor

LONGEST_PICK = 4096  # indices that one invocation of take_vjp looks at


def _pick(kernel: str, name: str, x: Tensor, index: Tensor, axis: int, side: int, out_side: int) -> Tensor:
    shape = (*x.shape[:axis], out_side, *x.shape[axis + 1 :])
    out = new(shape, x.dtype)
    missing = "0" if scalar_of(x.dtype) == "int" else "uintBitsToFloat(0x7fc00000u)"
    uniforms = {"side": side, "count": index.size, "inner": math.prod(shape[axis + 1 : -1])}
    defines: dict[str, str | int] = {"LAST": int(axis == x.ndim - 1), "MISSING": missing}
    inputs = {name: x.operand, "index": index.operand}
    if x.size == 0 or index.size == 0:
        return zeros(shape, x.dtype)
    flop = float(x.size) if kernel == "take_vjp" else 0.0  # the gradient adds each element once
    engine().run(Pass(kernel, inputs, (out.operand,), defines, uniforms, flop=flop))
    return out


@op("take_vjp", lambda g, out, x, index, axis, side: _take(g, index, axis=axis))
def _take_vjp(x: Tensor, index: Tensor, axis: int, side: int) -> Tensor:
    """Adds up slices of x by the index that they were taken from, a part of the indices in each pass."""
    if index.size <= LONGEST_PICK:
        return _pick("take_vjp", "g", x, index, axis, side, side)
    parts = []
    for start in range(0, index.size, LONGEST_PICK):
        some = slice(start, min(start + LONGEST_PICK, index.size))
        part = x[(slice(None),) * axis + (some,)].astype(np.float32)
        parts.append(_pick("take_vjp", "g", part, index[some], axis, side, side))
    return functools.reduce(add, parts).astype(x.dtype)


@op("take", lambda g, out, x, index, axis: _take_vjp(g, index, axis=axis, side=x.shape[axis]))
def _take(x: Tensor, index: Tensor, axis: int) -> Tensor:
    return _pick("take", "x", x, index, axis, x.shape[axis], index.size)


def take(x: Tensor, indices: Any, axis: int | None = None) -> Tensor:
    """Slices of x along an axis (of the flattened tensor by default), picked by integer indices of any shape.

    Negative indices count from the end. Indices given as numbers, lists or arrays are checked and raise ShapeError out
    of range; those of an int32 tensor stay on the device, and one out of range gives NaN (0 for int32).
    """
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    at = one_axis(axis, x.ndim)
    if not isinstance(indices, Tensor):
        host = np.asarray(indices)
        if host.size and host.dtype.kind not in "iu":
            raise DTypeError(f"indices must be integers, not {host.dtype}")
        side = x.shape[at]
        if host.size and not (-side <= host.min() and host.max() < side):
            raise ShapeError(f"indices from {host.min()} to {host.max()} for axis {at} of length {side} (shape {x.shape})")
        indices = tensor(host.astype(np.int64), dtype=int32)
    if indices.dtype != int32:
        raise DTypeError(f"indices must be int32, not {indices.dtype}")
    flat = _take(x, reshape(indices, (indices.size,)), axis=at)
    return reshape(flat, (*x.shape[:at], *indices.shape, *x.shape[at + 1 :]))


def one_hot(indices: Tensor, num_classes: int, dtype: Any = np.float32) -> Tensor:
    """A new last axis of length num_classes with 1 at the index and 0 elsewhere (all 0 for an index out of range)."""
    if indices.dtype != int32:
        raise DTypeError(f"one_hot needs int32 indices, not {indices.dtype}")
    if not is_integer(num_classes) or num_classes < 0:
        raise ShapeError(f"num_classes is a whole number of at least 0, not {num_classes!r}")
    return equal(expand_dims(indices, -1), arange(num_classes)).astype(dtype)
