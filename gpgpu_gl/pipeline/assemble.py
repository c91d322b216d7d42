"""Primitive assembly: points, lines and triangles from a stream of vertices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.pipeline.fetch import RESTART, Fetched
from gpgpu_gl.pipeline.state import State


@dataclass
class Primitives:
    """corners: (n, 1, 2 or 3) vertex rows; provoking: (n,) the vertex whose flat outputs count; number: (n,)
    gl_PrimitiveID, which counts within an instance."""

    corners: np.ndarray
    provoking: np.ndarray
    number: np.ndarray

    def __len__(self) -> int:
        return len(self.corners)

    def taken(self, which: np.ndarray) -> Primitives:
        """Some of the primitives, in the order given."""
        return Primitives(self.corners[which], self.provoking[which], self.number[which])


def assemble(fetched: Fetched, state: State) -> Primitives:
    """Groups the vertex stream into primitives as OpenGL 4.6 section 10.1 says, for every instance in turn."""
    parts, first = [], []
    for run in runs_of(fetched.stream):
        corners, provoking = _group(run, state)
        parts.append(corners)
        first.append(provoking)
    sides = {"points": 1, "lines": 2, "triangles": 3}[state.primitive]
    corners = np.concatenate(parts) if parts else np.zeros((0, sides), np.int64)
    provoking = np.concatenate(first) if first else np.zeros(0, np.int64)
    shift = np.arange(fetched.instances).repeat(len(corners)) * fetched.count
    return Primitives(
        np.tile(corners, (fetched.instances, 1)) + shift[:, None],
        np.tile(provoking, fetched.instances) + shift,
        np.tile(np.arange(len(corners)), fetched.instances),
    )


def runs_of(stream: np.ndarray) -> list[np.ndarray]:
    """The stream cut at restarts."""
    cuts = np.nonzero(stream == RESTART)[0]
    return [part[part != RESTART] for part in np.split(stream, cuts)] if len(cuts) else [stream]


def _group(v: np.ndarray, state: State) -> tuple[np.ndarray, np.ndarray]:
    """(corners, provoking vertices) of one run of vertices."""
    last, n = state.provoking == "last", len(v)
    i = np.arange(max(n, 0))
    if state.mode == "points":
        return v[:, None], v
    if state.mode in ("lines", "line_strip", "line_loop"):
        if state.mode == "lines":
            pairs = v[: n // 2 * 2].reshape(-1, 2)
        else:
            pairs = np.stack([v[:-1], v[1:]], -1) if n > 1 else np.zeros((0, 2), np.int64)
            if state.mode == "line_loop" and n > 1:
                pairs = np.concatenate([pairs, [[v[-1], v[0]]]])
        return pairs, pairs[:, 1 if last else 0]
    if state.mode == "triangles":
        corners = v[: n // 3 * 3].reshape(-1, 3)
        return corners, corners[:, 2 if last else 0]
    if n < 3:
        return np.zeros((0, 3), np.int64), np.zeros(0, np.int64)
    i = i[: n - 2]
    if state.mode == "triangle_strip":  # every second triangle is turned, so that all face the same way
        odd = i % 2
        corners = np.stack([v[i + odd], v[i + 1 - odd], v[i + 2]], -1)
        return corners, v[i + 2] if last else v[i]
    return np.stack([np.full(n - 2, v[0]), v[i + 1], v[i + 2]], -1), v[i + 2] if last else v[i + 1]
