"""Texture planning: which recorded results may share a texture, because they are never alive at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gpgpu_gl.gl.fuse import Step, reads
from gpgpu_gl.gl.passes import Operand, Pass
from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.layout import with_width


class Plan:
    """Gives each result of a list of passes a texture; call it with a pass to have its operands exchanged.

    private: storages that nothing outside the list reads. The largest are placed first, and each later one takes a
    texture that is free all its life, has its dtype, holds its texels, and is a whole number of times as wide: then its
    rows stay whole. Of several the smallest, which wastes least, or the largest, whose gaps are filled first: what uses
    less in all. The results of one pass lie at one address each, so where there are several, only a texture of the very
    size will do. peak: bytes that are alive at once at most; used: bytes of the textures given.
    """

    def __init__(self, private: set[Storage], steps: Sequence[Step]) -> None:
        lives: dict[Storage, tuple[int, int]] = {}
        siblings: set[Storage] = set()
        for i, step in enumerate(steps):
            if isinstance(step, Pass):
                # What no pass writes was uploaded while recording: a constant, which keeps its texture.
                if len(step.outputs) > 1:
                    siblings.update(storage for storage, _ in step.outputs)
                for storage, _ in step.outputs:
                    if storage in private:
                        lives[storage] = (lives.get(storage, (i, i))[0], i)
                for storage in reads(step):
                    if storage in lives:
                        lives[storage] = (lives[storage][0], i)
        plans = [_places(lives, siblings, choose) for choose in (min, max)]
        self.place = min(plans, key=_bytes)
        self.used = _bytes(self.place)
        self.peak = max(
            (sum(s.nbytes for s, (first, last) in lives.items() if first <= i <= last) for i in range(len(steps))),
            default=0,
        )

    def __call__(self, p: Pass) -> Pass:
        """The pass with each private storage exchanged for the texture that it was given."""
        outputs = tuple(self._placed(o) for o in p.outputs)
        placed = replace(p, outputs=outputs, inputs={name: self._placed(o) for name, o in p.inputs.items()})
        if p.expression is not None:
            operands = tuple(self._placed(o) if type(o) is tuple else o for o in p.expression.operands)
            placed = replace(placed, expression=replace(p.expression, operands=operands))
        return placed

    def _placed(self, operand: Any) -> Operand:
        storage, lay = operand
        given = self.place.get(storage, storage)
        return operand if given is storage else (given, with_width(lay.shape, given.width, given.height))


def _places(
    lives: dict[Storage, tuple[int, int]], siblings: set[Storage], choose: Callable[..., Storage]
) -> dict[Storage, Storage]:
    place: dict[Storage, Storage] = {}
    taken: dict[Storage, list[tuple[int, int]]] = {}
    for storage in sorted(lives, key=lambda s: (-s.nbytes, lives[s])):
        first, last = lives[storage]
        fits = [
            texture
            for texture, spans in taken.items()
            if _holds(texture, storage, storage in siblings) and all(last < start or end < first for start, end in spans)
        ]
        given = choose(fits, key=lambda texture: texture.nbytes) if fits else storage
        taken.setdefault(given, []).append((first, last))
        place[storage] = given
    return place


def _bytes(place: dict[Storage, Storage]) -> int:
    return sum(texture.nbytes for texture in set(place.values()))


def _holds(texture: Storage, storage: Storage, same_size: bool) -> bool:
    """Whether a texture can take what lies in `storage`."""
    if same_size:
        return texture.key == storage.key
    return (
        texture.dtype == storage.dtype
        and texture.width % storage.width == 0
        and texture.width * texture.height >= storage.width * storage.height
    )
