"""Broadcast expressions over tensors: what every elementwise operator runs as."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import FORMATS
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.tensor import Tensor, engine, new

Operand = Tensor | float | int | bool
SAME, LINEAR, CONSTANT, REPEAT, STRIDED, STRIDED_LAST = range(6)


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


def _mode(operand: Tensor, out: Tensor) -> int:
    shape, target = operand.shape, out.shape
    if shape == target:
        same = operand.layout.width == out.layout.width and operand.layout.height == out.layout.height
        return SAME if same else LINEAR
    core = shape
    while core and core[0] == 1 and len(core) > 1:
        core = core[1:]
    if core and core == target[len(target) - len(core) :]:
        return REPEAT
    last = shape[-1] if shape else 1
    return STRIDED if last == (target[-1] if target else 1) else STRIDED_LAST


def _row_strides(shape: tuple[int, ...], rank: int) -> list[int]:
    """Rows per step of each of the output's axes but the last; 0 where the operand is broadcast."""
    padded = (1,) * (rank - len(shape)) + shape
    strides = [0] * max(rank - 1, 1)
    step = 1
    for axis in range(rank - 2, -1, -1):
        strides[axis] = step if padded[axis] != 1 else 0
        step *= padded[axis]
    return strides


def _collapse(shape: list[int], strides: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """Merges neighbouring axes that every operand walks as one."""
    sides, steps = [shape[0]], [[s[0]] for s in strides]
    for axis in range(1, len(shape)):
        side = shape[axis]
        if side == 1:
            continue
        if sides[-1] == 1 or all(kept[-1] == s[axis] * side for kept, s in zip(steps, strides, strict=True)):
            sides[-1] *= side
            for kept, s in zip(steps, strides, strict=True):
                kept[-1] = s[axis]
        else:
            sides.append(side)
            for kept, s in zip(steps, strides, strict=True):
                kept.append(s[axis])
    return sides, steps


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
    defines: dict[str, str | int] = {"EXPR": expr, "OPERANDS": len(operands)}
    inputs, uniforms = {}, {}
    walked: list[tuple[int, list[int]]] = []
    rank = len(shape)
    for n, operand in enumerate(operands):
        name = f"x{n}"
        defines[f"{name}_ARG"] = args[n]
        if not isinstance(operand, Tensor):
            defines[f"{name}_MODE"] = CONSTANT
            defines[f"{name}_SCALAR"] = defines[f"{name}_TEXEL"] = args[n]
            defines[f"{name}_TEXEL"] = "ivec4" if args[n] == "int" else "vec4"
            uniforms[name] = constant(operand, args[n])
            continue
        inputs[name] = operand.operand
        mode = _mode(operand, out)
        defines[f"{name}_MODE"] = mode
        if mode == REPEAT:
            uniforms[f"{name}_texels"] = operand.layout.texels
        elif mode >= STRIDED:
            walked.append((n, _row_strides(operand.shape, rank)))
    if walked:
        sides, steps = _collapse(list(shape[:-1]) or [1], [s for _, s in walked])
        defines["STRIDED"], defines["RANK"] = 1, len(sides)
        uniforms["o_shape"] = sides
        for (n, _), step in zip(walked, steps, strict=True):
            uniforms[f"x{n}_strides"] = step
    if shape and shape[-1] % 4 or not shape:
        defines["MASK"] = 1
    engine().run(Pass("elementwise", inputs, (out.operand,), defines, uniforms))
    return out


def scalar_of(dtype: np.dtype) -> str:
    """GLSL's scalar type in which a dtype is computed."""
    return FORMATS[dtype].scalar


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real | np.generic)


def is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral | np.integer) and not isinstance(value, bool | np.bool_)


def size_of(shape: tuple[int, ...]) -> int:
    return math.prod(shape)
