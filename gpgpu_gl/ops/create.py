"""Tensors made on the device."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike

from gpgpu_gl.dtypes import as_dtype, bool_, float32, int32
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.arguments import Shape, as_shape
from gpgpu_gl.ops.pointwise import constant, is_integer, is_number, pointwise, scalar_of
from gpgpu_gl.tensor import Tensor, engine, new


def full(shape: Shape, fill_value: float | int | bool, dtype: DTypeLike | None = None) -> Tensor:
    """A tensor of that shape filled with one number; dtype by default that of the number (float32, int32, bool).

    Raises DTypeError for a number that the dtype cannot hold.
    """
    if not is_number(fill_value):
        raise DTypeError(f"fill_value is a number, not {fill_value!r}")
    if dtype is None:
        dtype = bool_ if isinstance(fill_value, bool | np.bool_) else int32 if is_integer(fill_value) else float32
    found = as_dtype(dtype)
    if found == bool_:
        fill_value = bool(fill_value)
    scalar = scalar_of(found)
    return pointwise("x0", (fill_value,), found, (scalar,), shape=as_shape(shape))


def zeros(shape: Shape, dtype: DTypeLike = float32) -> Tensor:
    """A tensor of zeros."""
    return full(shape, 0, dtype)


def ones(shape: Shape, dtype: DTypeLike = float32) -> Tensor:
    """A tensor of ones."""
    return full(shape, 1, dtype)


def zeros_like(x: Tensor, dtype: DTypeLike | None = None) -> Tensor:
    """Zeros of x's shape and dtype."""
    return full(x.shape, 0, x.dtype if dtype is None else dtype)


def ones_like(x: Tensor, dtype: DTypeLike | None = None) -> Tensor:
    """Ones of x's shape and dtype."""
    return full(x.shape, 1, x.dtype if dtype is None else dtype)


def arange(start: float, stop: float | None = None, step: float = 1, dtype: DTypeLike | None = None) -> Tensor:
    """Evenly spaced values in [start, stop), as NumPy's arange; int32 where all arguments are integers.

    Raises ShapeError for a step of zero or a number that is not finite, DTypeError for what is no number.
    """
    if stop is None:
        start, stop = 0, start
    if not (is_number(start) and is_number(stop) and is_number(step)):
        raise DTypeError(f"arange takes numbers, not {start!r}, {stop!r} and {step!r}")
    if step == 0 or not all(map(math.isfinite, (start, stop, step))):
        raise ShapeError(f"arange from {start} to {stop} needs finite numbers and a step other than 0, not {step}")
    whole = is_integer(start) and is_integer(stop) and is_integer(step)
    found = as_dtype(dtype if dtype is not None else int32 if whole else float32)
    count = max(0, int(np.ceil((stop - start) / step)))
    out = new((count,), found)
    scalar = "int" if whole else "float"
    uniforms = {"start": constant(start, scalar), "step_": constant(step, scalar)}
    engine().run(Pass("arange", {}, (out.operand,), {"SCALAR": scalar}, uniforms))
    return out


@op("identity", lambda g, out, x: g)
def identity(x: Tensor) -> Tensor:
    """The same values as another tensor of the graph; no copy."""
    return x.detach()


@op("copy", lambda g, out, x: g)
def copy(x: Tensor) -> Tensor:
    """The same values in a texture of their own."""
    return pointwise("x0", (x,), x.dtype, (scalar_of(x.dtype),))
