"""Fusion: elementwise passes move into the pass that computes their operand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gpgpu_gl.gl.expression import PRODUCED_VALUE, SAME, Expression, mode_of, substitute
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.gl.pool import Storage

MOST_TEXTURES = 14  # of the 16 units that every OpenGL 3.3 device has
LONGEST_EXPRESSION = 4000

Step = Pass | Callable[[], Any]


def reads(p: Pass) -> list[Storage]:
    """Every storage that a pass samples."""
    found = [storage for storage, _ in p.inputs.values()]
    if p.expression is not None:
        found += [o[0] for o in p.expression.operands if type(o) is tuple]
    return found


def fuse(steps: list[Step], kept: set[Storage]) -> list[Step]:
    """The steps with elementwise passes fused into their producers; storages in `kept` are still written.

    A consumer takes its producer in where it is the only reader of the producer's result and reads it texel by texel.
    Values are the same: the same expressions in the same order, in float32.
    """
    out: list[Step | None] = []
    writer: dict[Storage, int] = {}
    readers: dict[Storage, int] = {}
    for step in steps:
        if isinstance(step, Pass):
            for storage in reads(step):
                readers[storage] = readers.get(storage, 0) + 1
    for step in steps:
        if isinstance(step, Pass) and step.kernel == "elementwise" and step.expression is not None:
            step = _absorb(step, out, writer, readers, kept)
        if isinstance(step, Pass):
            for storage, _ in step.outputs:
                writer[storage] = len(out)
        out.append(step)
    return [step for step in out if step is not None]


def _absorb(
    p: Pass, out: list[Step | None], writer: dict[Storage, int], readers: dict[Storage, int], kept: set[Storage]
) -> Pass:
    """Takes producers into an elementwise pass, for as long as one fits."""
    changed = True
    while changed:
        changed = False
        expression = p.expression
        if expression is None:
            return p
        for operand in expression.operands:
            if type(operand) is not tuple:
                continue
            storage, _ = operand
            at = writer.get(storage)
            producer = out[at] if at is not None else None
            if not isinstance(producer, Pass) or len(producer.outputs) != 1 or storage in kept:
                continue
            places = [n for n, o in enumerate(expression.operands) if type(o) is tuple and o[0] is storage]
            if readers[storage] != len(places) or storage.dtype != np.dtype(np.float32):
                continue
            if any(mode_of(expression.operands[n][1], p.outputs[0][1]) != SAME for n in places):
                continue
            if producer.outputs[0][1].shape != p.outputs[0][1].shape:
                continue
            fused = _merged(producer, p, expression, places)
            if fused is None or len(set(reads(fused))) > MOST_TEXTURES:
                continue
            out[at] = None  # type: ignore[index]
            del writer[storage]
            # Operands that both read are bound once now.
            for s in set(reads(producer)) | set(reads(p)):
                readers[s] = readers.get(s, 0) - reads(producer).count(s) - reads(p).count(s) + reads(fused).count(s)
            p = fused
            changed = p.kernel == "elementwise"
            break
    return p


def _merged(producer: Pass, consumer: Pass, expression: Expression, places: list[int]) -> Pass | None:
    """One pass for both, or None where they do not fit."""
    if producer.kernel == "elementwise":
        if producer.expression is None:
            return None
        merged = substitute(expression, places, producer.expression, np.dtype(np.float32))
        if len(merged.prelude) + len(merged.expr) > LONGEST_EXPRESSION:
            return None
        return replace(consumer, expression=merged)
    if consumer.outputs[0][0].dtype != np.dtype(np.float32):
        return None
    if producer.expression is not None:
        merged = substitute(expression, places, producer.expression, np.dtype(np.float32))
    else:
        produced = Expression("x0", (PRODUCED_VALUE,), ("float",))
        merged = substitute(expression, places, produced, np.dtype(np.float32))
    if len(merged.prelude) + len(merged.expr) > LONGEST_EXPRESSION:
        return None
    return replace(producer, outputs=consumer.outputs, expression=merged)
