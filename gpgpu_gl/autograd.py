"""Reverse-mode differentiation over the recorded operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpgpu_gl.errors import GpgpuError, ShapeError
from gpgpu_gl.op import enable_grad, is_grad_enabled
from gpgpu_gl.tensor import Tensor, engine


def _order(root: Tensor) -> list[Tensor]:
    """Tensors that root was computed from, root first, each before everything it was computed from."""
    done: set[int] = set()
    order: list[Tensor] = []
    stack: list[tuple[Tensor, bool]] = [(root, False)]
    while stack:
        tensor, leave = stack.pop()
        if leave:
            order.append(tensor)
            continue
        if id(tensor) in done:
            continue
        done.add(id(tensor))
        stack.append((tensor, True))
        if tensor.node is not None:
            if tensor.node.inputs is None:
                raise GpgpuError(
                    "backward through this graph a second time: it was freed by the first; pass retain_graph=True there"
                )
            stack.extend((t, False) for t in tensor.node.inputs if isinstance(t, Tensor) and t.tracked)
    order.reverse()
    return order


def _seed(out: Tensor, gradient: Tensor | None) -> Tensor:
    if gradient is None:
        if out.size != 1:
            raise ShapeError(
                f"the gradient of a tensor of shape {out.shape} needs a starting gradient of that shape; "
                "only a tensor of one element starts at 1"
            )
        from gpgpu_gl.ops.create import ones

        return ones(out.shape, dtype=out.dtype)
    if gradient.shape != out.shape:
        raise ShapeError(f"starting gradient of shape {gradient.shape} for a tensor of shape {out.shape}")
    return gradient


def _sweep(
    out: Tensor, gradient: Tensor | None, targets: set[int] | None, create_graph: bool, retain_graph: bool
) -> dict[int, tuple[Tensor, Tensor]]:
    """Gradients of leaves (or of `targets`) by id: (tensor, gradient)."""
    if not out.tracked:
        raise GpgpuError("this tensor was not computed from one with requires_grad=True (or under no_grad)")
    order = _order(out)
    wanted = None if targets is None else _leading_to(order, targets)
    grads: dict[int, Tensor] = {id(out): _seed(out, gradient)}
    found: dict[int, tuple[Tensor, Tensor]] = {}
    with enable_grad(create_graph):
        for tensor in order:
            g = grads.pop(id(tensor), None)
            if g is None:
                continue
            node = tensor.node
            if targets is not None and id(tensor) in targets or targets is None and node is None:
                found[id(tensor)] = (tensor, g)
            if node is None or node.inputs is None:
                continue
            for i, source in enumerate(node.inputs):
                if not isinstance(source, Tensor) or not source.tracked or (wanted is not None and id(source) not in wanted):
                    continue
                part = node.op.vjp(i, g, tensor, node.inputs, node.attributes)
                if part is None:
                    continue
                if part.dtype != source.dtype:
                    part = part.astype(source.dtype)
                before = grads.get(id(source))
                grads[id(source)] = part if before is None else before + part
            if not retain_graph:
                node.inputs = None
    return found


def _leading_to(order: list[Tensor], targets: set[int]) -> set[int]:
    """Ids of tensors from which a target can be reached; gradients of all others are not needed."""
    wanted = set(targets)
    for tensor in reversed(order):
        if tensor.node is not None and tensor.node.inputs and any(id(t) in wanted for t in tensor.node.inputs):
            wanted.add(id(tensor))
    return wanted


def backward(out: Tensor, gradient: Tensor | None = None, retain_graph: bool = False, create_graph: bool = False) -> None:
    """Adds the gradient of `out` to `.grad` of every leaf with requires_grad=True that it was computed from.

    gradient: starting gradient, of out's shape; may be left out where out has one element. The graph is freed
    unless retain_graph; with create_graph the gradients can be differentiated again.
    """
    found = _sweep(out, gradient, None, create_graph, retain_graph or create_graph)
    for tensor, g in found.values():
        if tensor.requires_grad:
            recorder = engine().recorder
            if recorder is not None:
                recorder.note_grad(tensor)
            if tensor.grad is None:
                # One of its own: several leaves may have the same g, and the next backward adds to each grad in place.
                tensor.grad = g if g.tracked else g.detach()
            elif create_graph or tensor.grad.tracked:
                tensor.grad = tensor.grad + g
            else:
                tensor.grad.replace(tensor.grad.detach() + g)


def gradients(
    out: Tensor, inputs: Sequence[Tensor], gradient: Tensor | None = None, create_graph: bool = False
) -> tuple[Tensor | None, ...]:
    """The gradients of `out` with respect to `inputs`; None for one that out does not depend on."""
    found = _sweep(out, gradient, {id(t) for t in inputs}, create_graph, True)
    return tuple(found[id(t)][1] if id(t) in found else None for t in inputs)


def value_and_grad(f: Callable[..., Tensor], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that returns f's value and its gradient with respect to the arguments at `argnums`.

    f returns a tensor of one element. The result can be differentiated again: grad(lambda x: grad(f)(x).sum()).
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def wrapped(*args: Any, **kwargs: Any) -> tuple[Tensor, Any]:
        nested = is_grad_enabled() and any(isinstance(a, Tensor) and a.tracked for a in args)
        inputs = list(args)
        for n in numbers:
            inputs[n] = args[n].alias(requires_grad=True)
        with enable_grad():
            out = f(*inputs, **kwargs)
            if out.tracked:
                found = gradients(out, [inputs[n] for n in numbers], create_graph=nested)
            else:
                found = (None,) * len(numbers)
        if any(g is None for g in found):
            from gpgpu_gl.ops.create import zeros_like

            found = tuple(zeros_like(inputs[n]) if g is None else g for n, g in zip(numbers, found, strict=True))
        return out, found[0] if isinstance(argnums, int) else found

    return wrapped


def grad(f: Callable[..., Tensor], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """The gradient function of f (see value_and_grad)."""
    both = value_and_grad(f, argnums)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]
