"""Expressions over broadcast operands: the elementwise kernel, and the epilogue of every other kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import FORMATS
from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.layout import Layout

_OPERATION = re.compile(r"&&|\|\||[<>=!]=|[-+*/%<>?]|\b[A-Za-z_]\w*(?=\()")
_CONVERSION = re.compile(r"\b(float|int|bool|uint|if)(?=\()")

SAME, LINEAR, CONSTANT, REPEAT, STRIDED, STRIDED_LAST, PRODUCED, REPEAT_POWER, _, HELD = range(10)

Operand = tuple[Storage, Layout]


class Produced:
    """Stands for the value that the kernel itself computes, in an expression that is its epilogue."""

    def __repr__(self) -> str:
        return "PRODUCED_VALUE"


PRODUCED_VALUE = Produced()


@dataclass(frozen=True, slots=True)
class Expression:
    """A GLSL expression of scalars x0, x1, ...

    operands: each (storage, layout), a number, a callable that gives a number when the pass is issued, or
    PRODUCED_VALUE. args: the scalar type, "float" or "int", in which the expression sees each. prelude: statements
    before the expression; they define y0, y1, ...
    """

    expr: str
    operands: tuple[Any, ...]
    args: tuple[str, ...]
    prelude: str = ""

    @property
    def operations(self) -> int:
        """Operators and functions in the text, but for conversions: what it costs for each element."""
        return len(_OPERATION.findall(self.prelude + " " + self.expr)) - len(_CONVERSION.findall(self.prelude + " " + self.expr))

    def lower(self, out: Layout) -> tuple[dict[str, Operand], dict[str, str | int], dict[str, Any]]:
        """Inputs, defines and uniforms with which lib/expression.glsl evaluates it for an output of that layout."""
        defines: dict[str, str | int] = {"EXPR": self.expr, "OPERANDS": len(self.operands)}
        if self.prelude:
            defines["PRELUDE"] = self.prelude
        inputs: dict[str, Operand] = {}
        uniforms: dict[str, Any] = {}
        walked: list[tuple[int, list[int]]] = []
        shape = out.shape
        for n, operand in enumerate(self.operands):
            name, arg = f"e{n}", self.args[n]
            defines[f"{name}_ARG"] = arg
            if operand is PRODUCED_VALUE:
                defines[f"{name}_MODE"] = PRODUCED
            elif type(operand) is tuple:
                inputs[name] = operand
                mode = mode_of(operand[1], out)
                defines[f"{name}_MODE"] = mode
                if mode == REPEAT:
                    texels = uniforms[f"{name}_texels"] = operand[1].texels
                    if texels & (texels - 1) == 0 and texels <= operand[1].width:
                        defines[f"{name}_MODE"] = REPEAT_POWER
                elif mode >= STRIDED:
                    walked.append((n, _row_strides(operand[1].shape, len(shape))))
            else:
                defines[f"{name}_MODE"] = CONSTANT
                defines[f"{name}_SCALAR"] = arg
                defines[f"{name}_TEXEL"] = "ivec4" if arg == "int" else "vec4"
                uniforms[name] = operand
        if walked:
            sides, steps = _collapse(list(shape[:-1]) or [1], [s for _, s in walked])
            defines["STRIDED"], defines["RANK"] = 1, len(sides)
            uniforms["e_shape"] = sides
            for (n, _), step in zip(walked, steps, strict=True):
                uniforms[f"e{n}_strides"] = step
        if not shape or shape[-1] % 4:
            defines["MASK"] = 1
        return inputs, defines, uniforms


def hold(defines: dict[str, str | int], inputs: dict[str, Operand], columns: int) -> None:
    """Lets a tile pass on compute fetch operands that are one row, such as a bias, once for each column of a tile."""
    for name, (_, lay) in inputs.items():
        if defines.get(f"{name}_MODE") in (REPEAT, REPEAT_POWER) and lay.rows == 1 and lay.columns == columns <= lay.width:
            defines[f"{name}_MODE"] = HELD


def mode_of(operand: Layout, out: Layout) -> int:
    """Where the operand's element for an output element lies."""
    shape, target = operand.shape, out.shape
    if shape == target:
        return SAME if operand.width == out.width else LINEAR
    core = shape
    while len(core) > 1 and core[0] == 1:
        core = core[1:]
    if core and core == target[len(target) - len(core) :]:
        return REPEAT
    return STRIDED if operand.last == out.last else STRIDED_LAST


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


def substitute(consumer: Expression, places: Sequence[int], producer: Expression, dtype: np.dtype) -> Expression:
    """The consumer with the operands at `places` replaced by the producer's value (of `dtype`)."""
    operands: list[Any] = []
    args: list[str] = []

    def number(operand: Any, arg: str) -> int:
        for i, (known, known_arg) in enumerate(zip(operands, args, strict=True)):
            same = known is operand or type(operand) is tuple is type(known) and operand[0] is known[0] and operand[1] == known[1]
            if same and arg == known_arg:
                return i
        operands.append(operand)
        args.append(arg)
        return len(operands) - 1

    inner = {n: f"x{number(o, producer.args[n])}" for n, o in enumerate(producer.operands)}
    locals_ = len(re.findall(r"\by\d+ =", producer.prelude))
    value = f"y{locals_}"
    scalar = FORMATS[dtype].scalar
    outer = {}
    for n, o in enumerate(consumer.operands):
        outer[n] = f"{consumer.args[n]}({value})" if n in places else f"x{number(o, consumer.args[n])}"
    prelude = _renamed(producer.prelude, inner, 0) + f"{scalar} {value} = {scalar}({_renamed(producer.expr, inner, 0)}); "
    shift = locals_ + 1
    prelude += _renamed(consumer.prelude, outer, shift)
    return Expression(_renamed(consumer.expr, outer, shift), tuple(operands), tuple(args), prelude)


def _renamed(text: str, names: dict[int, str], shift: int) -> str:
    """The text with operands xN renamed and locals yN moved up by `shift`."""

    def new(match: re.Match[str]) -> str:
        number = int(match[2])
        return names[number] if match[1] == "x" else f"y{number + shift}"

    return re.sub(r"\b([xy])(\d+)\b", new, text)
