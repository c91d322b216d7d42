"""Vertex shading: the user's vertex shader, unmodified, with its outputs captured by transform feedback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.dtypes import float32
from gpgpu_gl.pipeline.fetch import Fetched
from gpgpu_gl.pipeline.wrap import Link, Shader
from gpgpu_gl.tensor import engine, new


@dataclass
class Vertices:
    """Shaded vertices. clip: (n, 4) positions in clip space. floats: (n, slots, 4) and ints: (n, slots, 4), outputs.

    distances: (n, user clip distances). size: (n,) point sizes or None.
    """

    clip: np.ndarray
    floats: np.ndarray
    ints: np.ndarray
    distances: np.ndarray
    size: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.clip)


def varyings(vertex: Shader, link: Link, clip_distances: int) -> list[str]:
    """The names that transform feedback captures, in order."""
    words = vertex.interface.words
    names = ["gl_Position"]
    names += ["gl_PointSize"] if "gl_PointSize" in words else []
    names += ["gl_ClipDistance"] if clip_distances and "gl_ClipDistance" in words else []
    return names + [v.feedback for v in link.captured]


def shade_vertices(
    ctx: moderngl.Context, program: Any, vertex: Shader, link: Link, fetched: Fetched, clip_distances: int
) -> Vertices:
    """Runs the vertex shader once for each vertex of each instance: vertex v of instance i is row i * count + v."""
    total = fetched.count * fetched.instances
    names = varyings(vertex, link, clip_distances)
    planes = program["gl_ClipDistance"].array_length if "gl_ClipDistance" in names else 0
    sized = "gl_PointSize" in names
    width = 4 + sized + planes + sum(count for _, _, count in link.places)
    data = np.zeros((total, width), np.float32)
    if total:
        buffers = [ctx.buffer(array.tobytes()) for array, _, _ in fetched.contents]
        out = ctx.buffer(reserve=total * width * 4)
        vao = ctx.vertex_array(
            program, [(b, form, name) for b, (_, form, name) in zip(buffers, fetched.contents, strict=True)]
        )
        try:
            # Nothing is drawn, but a draw needs a complete framebuffer, and a headless context has none.
            engine()._target([new((1, 4), float32).storage]).use()
            vao.transform(out, moderngl.POINTS, vertices=fetched.count, instances=fetched.instances)
            data = np.frombuffer(out.read(), np.float32).reshape(total, width)
        finally:
            vao.release()
            for buffer in (out, *buffers):
                buffer.release()
    floats = np.zeros((total, len(link.floats), 4), np.float32)
    ints = np.zeros((total, len(link.ints), 4), np.int32)
    at = 4 + sized + planes
    whole = data.view(np.int32)
    for kind, slot, count in link.places:
        if kind == "f":
            floats[:, slot, :count] = data[:, at : at + count]
        else:
            ints[:, slot, :count] = whole[:, at : at + count]
        at += count
    start = 4 + sized
    return Vertices(
        data[:, :4].copy(),
        floats,
        ints,
        data[:, start : start + min(planes, clip_distances)].copy(),
        data[:, 4].copy() if sized else None,
    )
