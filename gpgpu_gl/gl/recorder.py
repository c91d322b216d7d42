"""Recording: the passes of one call as data, each result in a texture of its own, until a plan lets them share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.layout import Layout

if TYPE_CHECKING:
    from gpgpu_gl.gl.passes import Pass


class CaptureError(GpgpuError, RuntimeError):
    """Something inside a compiled function cannot be recorded; the message names it."""


class Recorder:
    """What one recorded call did, in order.

    steps: passes, and host actions (callables such as a step counter's increment) between them. made: storages that
    were allocated while recording. reads: tensors from outside that it used, each with the storage and the layout that
    it had. replaced: for each tensor whose storage was exchanged, the storage that it had.
    grads: tensors whose .grad was set; fresh: those that had none before; accumulated: those that had one, with it;
    zeroed: ids of those whose .grad the call dropped first; dropped: what that was.
    """

    def __init__(self) -> None:
        self.steps: list[Pass | Callable[[], Any]] = []
        self.made: set[Storage] = set()
        self.reads: dict[int, tuple[Any, Storage, Layout]] = {}
        self.replaced: dict[int, tuple[Any, Storage]] = {}
        self.grads: dict[int, Any] = {}
        self.fresh: dict[int, Any] = {}
        self.accumulated: dict[int, tuple[Any, Any]] = {}
        self.zeroed: set[int] = set()
        self.dropped: dict[int, tuple[Any, Any]] = {}

    def add(self, step: Pass | Callable[[], Any]) -> None:
        self.steps.append(step)

    def note_read(self, tensor: Any, storage: Storage, lay: Layout) -> None:
        """`tensor`, which lies in `storage`, is used."""
        if storage not in self.made:
            self.reads.setdefault(id(tensor), (tensor, storage, lay))

    def note_replaced(self, tensor: Any, before: Storage) -> None:
        """`tensor` got another storage; `before` is what it had."""
        self.replaced.setdefault(id(tensor), (tensor, before))

    def note_grad(self, tensor: Any) -> None:
        """`tensor.grad` is about to be set or added to."""
        self.grads[id(tensor)] = tensor
        if tensor.grad is None:
            self.fresh.setdefault(id(tensor), tensor)
        elif id(tensor) not in self.fresh and id(tensor) not in self.zeroed:
            self.accumulated.setdefault(id(tensor), (tensor, tensor.grad))

    def note_zeroed(self, tensor: Any) -> None:
        """`tensor.grad` is about to be dropped."""
        self.zeroed.add(id(tensor))
        self.dropped.setdefault(id(tensor), (tensor, tensor.grad))

    def undo(self) -> None:
        """Gives tensors back the storages and the gradients that they had before the call."""
        for tensor, before in self.replaced.values():
            tensor.exchange(before)
        for tensor in self.fresh.values():
            tensor.grad = None
        for tensor, grad in self.dropped.values():
            tensor.grad = grad

    def refuse(self, what: str) -> None:
        """Raises CaptureError for something that a replay could not repeat."""
        raise CaptureError(
            f"{what} inside a compiled function: its value is not known when the function is recorded. "
            "Return the tensor and read it outside, or call the function without compile()"
        )
