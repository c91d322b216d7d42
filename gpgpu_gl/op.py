"""Operators: a forward function, a gradient rule beside it, and one registry of both."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.tensor import Tensor

Rule = Callable[..., "Tensor | None"]


class _Mode:
    recording = True


_mode = _Mode()


@contextmanager
def no_grad() -> Iterator[None]:
    """Operators called inside record nothing for the backward pass."""
    before, _mode.recording = _mode.recording, False
    try:
        yield
    finally:
        _mode.recording = before


@contextmanager
def enable_grad(on: bool = True) -> Iterator[None]:
    """Operators called inside record for the backward pass (with on=False they do not)."""
    before, _mode.recording = _mode.recording, on
    try:
        yield
    finally:
        _mode.recording = before


def is_grad_enabled() -> bool:
    """Whether operators record for the backward pass now."""
    return _mode.recording


class Node:
    """What the backward pass needs of one call: the operator, its tensors, its options, its result."""

    __slots__ = ("op", "inputs", "attributes", "out_ref", "used")

    def __init__(self, op: Op, inputs: tuple[Tensor, ...], attributes: dict[str, Any]) -> None:
        self.op = op
        self.inputs: tuple[Tensor, ...] | None = inputs
        self.attributes = attributes


class Op:
    """An operator that tensors go through.

    forward(*tensors, **attributes) computes the result. `vjps` holds a rule for each tensor argument:
    rule(g, out, *tensors, **attributes) is the gradient of sum(g * out) with respect to that argument, written in
    terms of operators, so that it can be differentiated in turn. None: not differentiable there. A Python number may
    stand in for a tensor.
    """

    registry: dict[str, Op] = {}

    def __init__(self, name: str, forward: Callable[..., Tensor], vjps: tuple[Rule | None, ...] | Callable[..., Any]) -> None:
        if name in Op.registry:
            raise ValueError(f"two operators are called {name}")
        self.name = name
        self.forward = forward
        self.vjps = vjps
        Op.registry[name] = self
        functools.update_wrapper(self, forward)

    def __call__(self, *tensors: Any, **attributes: Any) -> Tensor:
        recording = _mode.recording
        if not recording:
            return self.forward(*tensors, **attributes)
        _mode.recording = False
        try:
            out = self.forward(*tensors, **attributes)
        finally:
            _mode.recording = True
        if out.dtype.kind == "f" and self.vjps and any(t.tracked for t in tensors if isinstance(t, Tensor)):
            if any(out is t for t in tensors):
                out = out.alias()
            out.node = Node(self, tensors, attributes)
        return out

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """As a class attribute an operator is a method, like a function."""
        return self if owner is None else types.MethodType(self, owner)

    def vjp(self, i: int, g: Tensor, out: Tensor, inputs: tuple[Tensor, ...], attributes: dict[str, Any]) -> Tensor | None:
        """The gradient with respect to tensor argument i, or None where there is none."""
        if callable(self.vjps):
            return self.vjps(i, g, out, *inputs, **attributes)
        rule = self.vjps[i] if i < len(self.vjps) else None
        if rule is None:
            raise GpgpuError(f"operator {self.name} has no gradient with respect to argument {i}; detach() it")
        return rule(g, out, *inputs, **attributes)


def op(name: str, *vjps: Rule | None) -> Callable[[Callable[..., Tensor]], Op]:
    """Registers the decorated forward function as operator `name` with a gradient rule for each tensor argument."""
    return lambda forward: Op(name, forward, vjps)


def op_with(name: str, vjp: Callable[..., Any]) -> Callable[[Callable[..., Tensor]], Op]:
    """As `op`, for operators with any number of tensors: vjp(i, g, out, *tensors, **attributes)."""
    return lambda forward: Op(name, forward, vjp)
