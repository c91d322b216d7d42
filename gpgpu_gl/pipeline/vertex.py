"""Vertex shading: the user's vertex shader on the device, its outputs caught by transform feedback (section 13.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.dtypes import float32, int32
from gpgpu_gl.pipeline.fetch import Fetched
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.pipeline.wrap import Link, Shader
from gpgpu_gl.tensor import Tensor, engine, new

Place = tuple[int, int]  # the first word of an output among those of its vertex, and its components


@dataclass(frozen=True)
class Vertices:
    """Shaded vertices, a row each. positions: (n, 4) in clip space. float_table, int_table: (n, 4 * slots) outputs.

    distances: (n, 8) to the user's clip planes; sizes: (n, 4), a point's size first; None where the shader writes none.
    """

    positions: Tensor
    float_table: Tensor | None = None
    int_table: Tensor | None = None
    distances: Tensor | None = None
    sizes: Tensor | None = None

    def __len__(self) -> int:
        return self.positions.shape[0]

    @cached_property
    def clip(self) -> np.ndarray:
        """(n, 4) positions, on the host."""
        return self.positions.numpy()

    @cached_property
    def floats(self) -> np.ndarray:
        """(n, slots, 4) outputs, on the host."""
        return _slots(self.float_table, len(self), np.float32)

    @cached_property
    def ints(self) -> np.ndarray:
        """(n, slots, 4) integer outputs, on the host."""
        return _slots(self.int_table, len(self), np.int32)


def _slots(table: Tensor | None, rows: int, dtype: type) -> np.ndarray:
    return np.zeros((rows, 0, 4), dtype) if table is None else table.numpy().reshape(rows, -1, 4)


def varyings(vertex: Shader, link: Link) -> list[str]:
    """The names that transform feedback captures, in order."""
    words = vertex.interface.words
    names = ["gl_Position"]
    names += ["gl_PointSize"] if "gl_PointSize" in words else []
    names += ["gl_ClipDistance"] if "gl_ClipDistance" in words else []
    return names + [v.feedback for v in link.captured]


def shade_vertices(
    ctx: moderngl.Context, program: Any, vertex: Shader, link: Link, fetched: Fetched, clip_distances: int
) -> Vertices:
    """Runs the vertex shader once for each vertex of each instance: vertex v of instance i is row i * count + v."""
    total = fetched.count * fetched.instances
    names = varyings(vertex, link)
    planes = program["gl_ClipDistance"].array_length if "gl_ClipDistance" in names else 0
    sized = "gl_PointSize" in names
    at = 4 + sized + planes
    slots: dict[str, list[Place]] = {"f": [], "i": []}
    for kind, _, count in link.places:  # in the order of their slots
        slots[kind].append((at, count))
        at += count
    raw = _transform(ctx, program, fetched, total, at)

    def table(places: Sequence[Place], dtype: np.dtype) -> Tensor | None:
        return _unpack(raw, total, at, places, dtype) if places else None

    used = min(planes, clip_distances)
    distances = [(4 + sized + first, max(min(4, used - first), 0)) for first in (0, 4)]
    positions = _unpack(raw, total, at, [(0, 4)], float32)
    return Vertices(
        positions,
        table(slots["f"], float32),
        table(slots["i"], int32),
        table(distances, float32) if clip_distances else None,
        table([(4, 1)], float32) if sized else None,
    )


def _transform(ctx: moderngl.Context, program: Any, fetched: Fetched, total: int, words: int) -> Tensor:
    """(total * words,) int32: the outputs of all vertices as they are caught; their bits do not leave the device."""
    raw = new((total * words,), int32)
    if not total:
        return raw
    e, storage = engine(), raw.storage
    buffers = [ctx.buffer(array.tobytes()) for array, _, _ in fetched.contents]
    out = ctx.buffer(reserve=storage.width * storage.height * 16)
    vao = ctx.vertex_array(
        program, [(b, form, name) for b, (_, form, name) in zip(buffers, fetched.contents, strict=True)]
    )
    try:
        # Nothing is drawn, but a draw needs a complete framebuffer, and a headless context has none.
        e.framebuffers.of([new((1, 4), float32).storage]).use()
        vao.transform(out, moderngl.POINTS, vertices=fetched.count, instances=fetched.instances)
        e.upload(storage, out)
    finally:
        vao.release()
        for buffer in (out, *buffers):
            buffer.release()
    return raw


def _unpack(raw: Tensor, rows: int, words: int, places: Sequence[Place], dtype: np.dtype) -> Tensor:
    defines: dict[str, str | int] = {
        "SLOTS": len(places),
        "FIRSTS": ", ".join(str(first) for first, _ in places),
        "COUNTS": ", ".join(str(count) for _, count in places),
        "INTEGERS": int(dtype == int32),
    }
    return make("pipeline_unpack", {"raw": raw}, (rows, 4 * len(places)), dtype, defines, words=words)
