"""Shapes and axes as callers give them, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.ops.pointwise import is_integer

Axes = int | Sequence[int] | None
Shape = int | Sequence[int]


def whole_numbers(value: Any, what: str) -> tuple[int, ...]:
    """One whole number or several, as a tuple. Raises ShapeError for anything else; `what` says what it is."""
    several = (value,) if is_integer(value) or not isinstance(value, Iterable) else tuple(value)
    if not all(is_integer(n) for n in several):
        raise ShapeError(f"{what} is a whole number or several of them, not {value!r}")
    return tuple(int(n) for n in several)


def as_shape(shape: Shape) -> tuple[int, ...]:
    """A shape as a tuple of sides. Raises ShapeError for negative or fractional sides."""
    sides = whole_numbers(shape, "a shape")
    if any(side < 0 for side in sides):
        raise ShapeError(f"a shape has whole sides of at least 0, not {shape}")
    return sides


def normalise_axes(axis: Axes, rank: int) -> tuple[int, ...]:
    """Axes as sorted numbers in [0, rank); None means all. Raises ShapeError for one out of range or given twice."""
    if axis is None:
        return tuple(range(rank))
    given = whole_numbers(axis, "an axis")
    for a in given:
        if not -rank <= a < rank:
            allowed = f"-{rank} to {rank - 1}" if rank else "a scalar has none"
            raise ShapeError(f"axis {a} is out of range for a tensor of {rank} axes ({allowed})")
    found = tuple(sorted(a % rank for a in given))
    if len(set(found)) != len(found):
        raise ShapeError(f"an axis is given twice in {given}")
    return found


def one_axis(axis: int, rank: int) -> int:
    """An axis as a number in [0, rank). Raises ShapeError for anything but one axis in range."""
    if not is_integer(axis):
        raise ShapeError(f"the axis is one whole number, not {axis!r}")
    return normalise_axes(axis, rank)[0]
