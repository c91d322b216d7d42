"""compile(): records the passes of one call, fuses them, plans their textures, and replays them with new inputs."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from gpgpu_gl.errors import DTypeError
from gpgpu_gl.gl.fuse import Step, fuse
from gpgpu_gl.gl.passes import Command, Engine, Pass
from gpgpu_gl.gl.plan import Plan
from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.gl.recorder import Recorder
from gpgpu_gl.layout import Layout
from gpgpu_gl.tensor import Tensor, engine, reads_noted, tensor, watched

Key = tuple[Any, ...]


def compile(function: Callable[..., Any]) -> Compiled:  # noqa: A001
    """A function that records `function` at its first call and replays its passes from then on.

    Arguments are tensors (NumPy arrays are uploaded) and hashable settings; a new shape, dtype or setting records
    anew. Tensors that the function replaces (parameters, optimiser state, gradients) are updated by a replay as by a
    call, and those from outside that it only reads are read as they are then. What else Python does inside happens only
    when it is recorded. A tensor that is an argument is that argument wherever the function uses it. Results equal those of
    a call within 1e-6. Raises CaptureError where the function reads a value in the middle.
    """
    return Compiled(function)


class Compiled:
    """A function with its recordings, one for each set of shapes and settings."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.recordings: dict[Key, list[Recording]] = {}
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        tensors = [a if isinstance(a, Tensor) else tensor(a) if isinstance(a, np.ndarray) else None for a in args]
        inputs = [t for t in tensors if t is not None]
        rest = tuple(a for a, t in zip(args, tensors, strict=True) if t is None)
        current = engine()
        key = (
            id(current),
            current.device.path,
            rest,
            tuple((t.shape, t.dtype, t.layout.width, t.tracked) for t in inputs),
        )
        try:
            known = self.recordings.setdefault(key, [])
        except TypeError:
            raise DTypeError("arguments of a compiled function must be tensors, arrays or hashable settings") from None
        for found in known:
            if found.applies(inputs):
                return found.replay(inputs)
        made = Recording(current)
        result = made.record(self.function, [a if t is None else t for a, t in zip(args, tensors, strict=True)], inputs)
        known.append(made)
        return result


class _Slot:
    """A storage that changes from call to call: an input, an output, or one that a tensor's state moves between."""

    __slots__ = ("storage", "uses")

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.uses: list[tuple[Command, bool, int]] = []  # command, whether as its target, position

    def bind(self, storage: Storage) -> None:
        """Lets every command of the recording use another texture here."""
        if storage is not self.storage:
            self.storage = storage
            for command, target, at in self.uses:
                if target:
                    command.targets[at] = storage
                else:
                    command.inputs[at] = (command.inputs[at][0], storage)


class Recording:
    """One recorded call: commands and host actions in order, and the slots that change from call to call."""

    def __init__(self, current: Engine) -> None:
        self.engine = current
        self.passes: list[Step] = []
        self.commands: list[Command | Callable[[], Any]] = []
        self.inputs: list[_Slot] = []
        self.reads: list[tuple[weakref.ref[Tensor], _Slot, Layout]] = []  # tensors from outside, and where they lay
        self.states: list[tuple[Tensor, _Slot, _Slot]] = []  # tensor, storage before the call, storage after it
        self.outputs: list[tuple[Tensor, _Slot | int]] = []  # the number of an input that is returned as it is
        self.written: list[_Slot] = []
        self.structure: Any = None
        self.grads: list[tuple[Tensor, Tensor, _Slot | None]] = []  # tensor, its gradient, where that is written
        self.fresh: list[Tensor] = []
        self.accumulated: list[tuple[Tensor, Tensor]] = []
        self._memory: dict[str, int] = {}

    def applies(self, inputs: list[Tensor]) -> bool:
        """Whether a call would take the same passes: gradients stand as they stood when this was recorded, and tensors that
        lay in one texture still do, each laid out as it was."""
        if any(t.grad is not None for t in self.fresh) or any(t.grad is not g for t, g in self.accumulated):
            return False
        found: dict[_Slot, Storage] = {}
        for slot, t in zip(self.inputs, inputs, strict=True):
            if found.setdefault(slot, t.storage) is not t.storage:
                return False
        for tensor_of, slot, lay in self.reads:
            read = tensor_of()
            if read is not None and (found.setdefault(slot, read.storage) is not read.storage or read.layout != lay):
                return False
        return True

    # --- recording ------------------------------------------------------------------------------

    def record(self, function: Callable[..., Any], args: list[Any], inputs: list[Tensor]) -> Any:
        """Calls the function, which only notes its passes, prepares their replay, and runs them for the first time.

        So what the passes are fused into is all that ever compiles.
        """
        self.engine.ahead.get_ready()
        recorder = Recorder()
        outer, self.engine.recorder = self.engine.recorder, recorder
        try:
            if outer is not None:
                outer.refuse("calling another compiled function")
            with watched() as alive, reads_noted(recorder):
                result = function(*args)
                outputs, self.structure = _flatten(result)
                for t in outputs:
                    _ = t.storage
                    t.node = None  # a replay's results have no graph either
            inside = alive()
            held = {t._storage for t in inside if t._storage is not None}
            for t in (*inputs, *inside):  # what is made inside, such as a view of a tensor from outside, each call makes anew
                recorder.reads.pop(id(t), None)
            self.engine.recorder = None
            with self.engine.device.hosted_state():
                self._prepare(recorder, inputs, outputs, held)
                ahead = self.engine.ahead
                ahead.plan(self.commands)
                try:
                    self._issue(ahead.ready)
                finally:
                    ahead.finish()
        except BaseException:
            recorder.undo()  # nothing has run: tensors must not point at textures that were never written
            raise
        finally:
            self.engine.recorder = outer
        return result

    def _prepare(self, recorder: Recorder, inputs: list[Tensor], outputs: list[Tensor], held: set[Storage]) -> None:
        finals = [(t, before) for t, before in recorder.replaced.values()]
        kept = held | {t.storage for t in outputs} | {t.storage for t, _ in finals}
        self.passes = fuse(recorder.steps, kept)
        recorder.steps = []
        slots: dict[Storage, _Slot] = {}

        def slot(storage: Storage) -> _Slot:
            return slots.setdefault(storage, _Slot(storage))

        self.inputs = [slot(t.storage) for t in inputs]
        self.reads = [(weakref.ref(t), slot(storage), lay) for t, storage, lay in recorder.reads.values()]
        self.states = [(t, slot(before), slot(t.storage)) for t, before in finals]
        for t in outputs:
            same = next((i for i, given in enumerate(inputs) if given.storage is t.storage), None)
            self.outputs.append((t.detach(), slot(t.storage) if same is None else same))
        for t in recorder.grads.values():
            if t.grad is not None:
                self.grads.append((t, t.grad, slot(t.grad.storage) if t.grad.storage in recorder.made else None))
        self.written = [s for s in slots.values() if s.storage in recorder.made]
        self.fresh = [t for key, t in recorder.fresh.items() if key not in recorder.zeroed]
        self.accumulated = list(recorder.accumulated.values())
        place = Plan(recorder.made - kept, self.passes)
        with self.engine.shared_scratch() as scratch:
            for step in self.passes:
                if not isinstance(step, Pass):
                    self.commands.append(step)
                    continue
                for command in self.engine.commands(place(step)):
                    for at, (_, storage) in enumerate(command.inputs):
                        if storage in slots:
                            slots[storage].uses.append((command, False, at))
                    for at, storage in enumerate(command.targets):
                        if storage in slots:
                            slots[storage].uses.append((command, True, at))
                    self.commands.append(command)

        merged = self._merge(list(scratch.values()))
        touched = {s for c in self.commands if isinstance(c, Command) for s in (*c.targets, *(s for _, s in c.inputs))}
        others = sum(s.nbytes for s in touched - set(place.place.values()) - merged)
        self._memory = {
            "used": place.used + others + sum(s.nbytes for s in merged),
            "needed": place.peak + others,
        }

    def _merge(self, scratch: list[Storage]) -> set[Storage]:
        """Lets tile passes, which run one after another, draw into the array texture of a larger one."""
        place: dict[Storage, Storage] = {}
        kept: list[Storage] = []
        for storage in sorted(scratch, key=lambda s: -s.nbytes):
            place[storage] = next((s for s in kept if _covers(s, storage)), storage)
            if place[storage] is storage:
                kept.append(storage)
        for command in self.commands:
            if isinstance(command, Command):
                command.targets[:] = [place.get(s, s) for s in command.targets]
                command.inputs[:] = [(unit, place.get(s, s)) for unit, s in command.inputs]
        return set(kept)

    def memory(self) -> dict[str, int]:
        """Bytes of all textures that a replay touches, and what its tensors need where the most of them are alive."""
        return dict(self._memory)

    # --- replay ---------------------------------------------------------------------------------

    def _issue(self, ready: Callable[[Command], None] | None = None) -> None:
        """Commands and host actions in order; ready(command) before each command."""
        issue = self.engine.issue
        for command in self.commands:
            if type(command) is Command:
                if ready is not None:
                    ready(command)
                issue(command)
            else:
                command()  # type: ignore[operator]

    def replay(self, inputs: list[Tensor]) -> Any:
        """Issues the recorded commands on new inputs; returns new tensors."""
        current = self.engine
        current.device.check_thread()
        for slot, t in zip(self.inputs, inputs, strict=True):
            slot.bind(t.storage)
        for tensor_of, slot, _ in self.reads:
            if (read := tensor_of()) is not None:
                slot.bind(read.storage)
        for t, before, _ in self.states:
            before.bind(t.storage)
        with current.device.hosted_state():
            for slot in self.written:
                slot.bind(current.pool.get(*slot.storage.key))
            self._issue()
        for t, _, after in self.states:
            t.exchange(after.storage)
        for t, g, written in self.grads:
            t.grad = g
            if written is not None:
                g.exchange(written.storage)
        found = [inputs[slot] if isinstance(slot, int) else t.on(slot.storage) for t, slot in self.outputs]
        return _restore(self.structure, found)


def _covers(large: Storage, small: Storage) -> bool:
    """Whether an array texture has the dtype of another one and is no smaller in width, height and layers."""
    (width, height, dtype, layers), (least_width, least_height, wanted, least_layers) = large.key, small.key
    return dtype == wanted and width >= least_width and height >= least_height and layers >= least_layers


def _flatten(result: Any) -> tuple[list[Tensor], Any]:
    """The tensors of nested tuples, lists and dicts, and the structure with their numbers in their places."""
    found: list[Tensor] = []

    def walk(value: Any) -> Any:
        if isinstance(value, Tensor):
            found.append(value)
            return _Place(len(found) - 1)
        if isinstance(value, tuple | list):
            return type(value)(walk(v) for v in value)
        if isinstance(value, dict):
            return {k: walk(v) for k, v in value.items()}
        return value

    return found, walk(result)


class _Place(int):
    """The number of a tensor in a flattened result."""


def _restore(structure: Any, found: list[Tensor]) -> Any:
    if isinstance(structure, _Place):
        return found[structure]
    if isinstance(structure, tuple | list):
        return type(structure)(_restore(v, found) for v in structure)
    if isinstance(structure, dict):
        return {k: _restore(v, found) for k, v in structure.items()}
    return structure
