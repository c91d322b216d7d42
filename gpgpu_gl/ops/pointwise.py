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


class MinusZero(float):
    """-0.0, unlike 0.0: a uniform that holds the one would otherwise not be set to the other, as they are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is MinusZero

    def __ne__(self, other: object) -> bool:
        return type(other) is not MinusZero

    __hash__ = float.__hash__


def _shown(value: Any) -> str:
    return f"an integer of {value.bit_length()} bits" if is_integer(value) and abs(value) >> 64 else f"the number {value}"


def constant(value: Any, scalar: str) -> float | int:
    """A Python number as the uniform of a kernel that computes in `scalar` ("int" or "float").

    Raises DTypeError for an integer that the type cannot hold.
    """
    if scalar == "int":
        whole = int(value) if math.isfinite(value) else 2**31
        if not -(2**31) <= whole < 2**31:
            raise DTypeError(f"{_shown(value)} does not fit int32 (-2**31 to 2**31 - 1)")
        return whole
    try:
        number = float(value)
    except OverflowError:
        raise DTypeError(f"{_shown(value)} does not fit float32 (up to 3.4e38)") from None
    return MinusZero(number) if number == 0 and math.copysign(1, number) < 0 else number


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
    return isinstance(value, numbers.Real | np.bool_ | np.number) and not isinstance(value, np.complexfloating)


def is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, numbers.Integral | np.integer) and not isinstance(value, bool | np.bool_)


def size_of(shape: tuple[int, ...]) -> int:
    return math.prod(shape)
