"""Binds operators to Tensor, one line each: the one place where tensor.py's class meets the operators above it."""

from __future__ import annotations

from typing import Any

from gpgpu_gl import autograd
from gpgpu_gl.ops import create, elementwise, linear, reduce, shape
from gpgpu_gl.ops.create import identity
from gpgpu_gl.tensor import Tensor

__all__ = ["identity"]


def _method(name: str, value: Any) -> None:
    setattr(Tensor, name, value)


_method("__add__", elementwise.add)
_method("__radd__", lambda x, y: elementwise.add(y, x))
_method("__sub__", elementwise.subtract)
_method("__rsub__", lambda x, y: elementwise.subtract(y, x))
_method("__mul__", elementwise.multiply)
_method("__rmul__", lambda x, y: elementwise.multiply(y, x))
_method("__truediv__", elementwise.divide)
_method("__rtruediv__", lambda x, y: elementwise.divide(y, x))
_method("__floordiv__", elementwise.floor_divide)
_method("__rfloordiv__", lambda x, y: elementwise.floor_divide(y, x))
_method("__mod__", elementwise.remainder)
_method("__rmod__", lambda x, y: elementwise.remainder(y, x))
_method("__pow__", elementwise.power)
_method("__rpow__", lambda x, y: elementwise.power(y, x))
_method("__matmul__", linear.matmul)
_method("__rmatmul__", lambda x, y: linear.matmul(y, x))
_method("__neg__", elementwise.negative)
_method("__abs__", elementwise.abs)
_method("__eq__", elementwise.equal)
_method("__ne__", elementwise.not_equal)
_method("__lt__", elementwise.less)
_method("__le__", elementwise.less_equal)
_method("__gt__", elementwise.greater)
_method("__ge__", elementwise.greater_equal)
_method("__invert__", elementwise.logical_not)
_method("__and__", elementwise.logical_and)
_method("__or__", elementwise.logical_or)
_method("__xor__", elementwise.logical_xor)
_method("__hash__", object.__hash__)
_method("__getitem__", lambda x, key: shape.getitem(x, key))
_method("__iter__", lambda x: (shape.getitem(x, i) for i in range(len(x))))

_method("astype", elementwise.astype)
_method("clip", elementwise.clip)
_method("sum", reduce.sum)
_method("mean", reduce.mean)
_method("max", reduce.max)
_method("min", reduce.min)
_method("argmax", reduce.argmax)
_method("argmin", reduce.argmin)
_method("reshape", lambda x, *sides: shape.reshape(x, sides[0] if len(sides) == 1 else sides))
_method(
    "permute_dims",
    lambda x, *axes: shape.permute_dims(x, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes),
)
_method("T", property(shape.transposed))
_method("mT", property(shape.transposed))
_method("copy", create.copy)
_method("backward", autograd.backward)
for _name in ("exp", "log", "sqrt", "abs", "tanh", "sigmoid", "relu", "square"):
    _method(_name, getattr(elementwise, _name))
