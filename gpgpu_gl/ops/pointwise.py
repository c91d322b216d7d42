"""Broadcast expressions over tensors: what every elementwise operator runs as."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from gpgpu_gl.dtypes import FORMATS
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.gl.expression import Expression
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.tensor import Tensor, engine, new

Operand = Tensor | float | int | bool


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that NumPy's broadcasting gives. Raises ShapeError with all shapes where they do not fit."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    rank = max(len(shape) for shape in shapes)
    out = [1] * rank
    for shape in shapes:
        for axis in range(-len(shape), 0):
            side = shape[axis]
            if side != 1:
                if out[axis] not in (1, side):
                    raise ShapeError(
                        "shapes "
                        + " and ".join(map(str, shapes))
                        + f" do not broadcast: axis {axis} has {out[axis]} and {side}; sides must be equal or 1"
                    )
                out[axis] = side
    return tuple(out)


def constant(value: Any, scalar: str) -> float | int:
    """A Python number as the uniform of a kernel that computes in `scalar` ("int" or "float")."""
    if scalar == "int":
        number = int(value)
        if not -(2**31) <= number < 2**31:
            raise DTypeError(f"the number {value} does not fit int32 (-2**31 to 2**31 - 1)")
        return number
    return float(value)


def pointwise(
    expr: str, operands: Sequence[Operand], dtype: np.dtype, args: Sequence[str], shape: tuple[int, ...] | None = None
) -> Tensor:
    """Evaluates a GLSL expression of x0, x1, ... over broadcast operands.

    operands: tensors or Python numbers, at least one tensor unless `shape` is given. dtype: of the result. args: for
    each operand the GLSL scalar type ("float" or "int") that the expression sees. Raises ShapeError where the
    operands do not broadcast.
    """
    if shape is None:
        shape = broadcast_shapes(*[t.shape for t in operands if isinstance(t, Tensor)])
    out = new(shape, dtype)
    found = tuple(
        o.operand if isinstance(o, Tensor) else o if callable(o) else constant(o, arg)
        for o, arg in zip(operands, args, strict=True)
    )
    engine().run(Pass("elementwise", {}, (out.operand,), expression=Expression(expr, found, tuple(args))))
    return out


def scalar_of(dtype: np.dtype) -> str:
    """GLSL's scalar type in which a dtype is computed."""
    return FORMATS[dtype].scalar


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real | np.generic)


def is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, numbers.Integral | np.integer) and not isinstance(value, bool | np.bool_)


def size_of(shape: tuple[int, ...]) -> int:
    return math.prod(shape)
