"""Texture planning: which recorded results may share a texture, because they are never alive at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpgpu_gl.gl.fuse import Step, reads
from gpgpu_gl.gl.passes import Engine, Operand, Pass
from gpgpu_gl.gl.pool import Key, Storage


class Plan:
    """Places the results of a list of passes; call it with (number, pass) in order.

    private: storages that nothing outside the list reads. Those of one size and dtype share textures by first fit.
    """

    def __init__(self, current: Engine, private: set[Storage], steps: Sequence[Step]) -> None:
        self.engine = current
        self.place: dict[Storage, Storage] = {}
        self.free: dict[Key, list[Storage]] = {}
        self.ends: dict[int, list[Storage]] = {}
        last: dict[Storage, int] = {}
        written: set[Storage] = set()
        for i, step in enumerate(steps):
            if isinstance(step, Pass):
                for storage, _ in step.outputs:
                    written.add(storage)
                    last[storage] = i
                for storage in reads(step):
                    last[storage] = i
        # What no pass writes was uploaded while recording: a constant, which keeps its texture.
        self.private = private & written
        for storage in self.private:
            self.ends.setdefault(last[storage], []).append(storage)
        self.live = 0  # bytes of private results that are alive now
        self.peak = 0  # and at most

    def __call__(self, i: int, p: Pass) -> Pass:
        """The pass with each private storage exchanged for the texture that it was given."""
        outputs = tuple((self._given(storage), lay) for storage, lay in p.outputs)
        self.live += sum(storage.nbytes for storage, _ in p.outputs if storage in self.private)
        self.peak = max(self.peak, self.live)
        placed = replace(p, outputs=outputs, inputs={name: self._placed(o) for name, o in p.inputs.items()})
        if p.expression is not None:
            operands = tuple(self._placed(o) if type(o) is tuple else o for o in p.expression.operands)
            placed = replace(placed, expression=replace(p.expression, operands=operands))
        for storage in self.ends.get(i, ()):
            given = self.place[storage]
            self.free.setdefault(given.key, []).append(given)
            self.live -= storage.nbytes
        return placed

    @property
    def used(self) -> int:
        """Bytes of the textures that the private results share."""
        return sum(storage.nbytes for storage in set(self.place.values()))

    def _given(self, storage: Storage) -> Storage:
        """The texture that a result is written to."""
        if storage not in self.private:
            return storage
        stack = self.free.get(storage.key)
        # A texture that was made while recording serves again; the others go back to the pool.
        found = self.place[storage] = stack.pop() if stack else storage
        return found

    def _placed(self, operand: Any) -> Operand:
        storage, lay = operand
        return self.place.get(storage, storage), lay
