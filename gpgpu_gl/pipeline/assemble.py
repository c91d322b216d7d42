"""Primitive assembly: points, lines and triangles from a stream of vertices (OpenGL 4.6, section 10.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpgpu_gl.dtypes import int32
from gpgpu_gl.ops.elementwise import equal
from gpgpu_gl.ops.scan import cumulative_sum
from gpgpu_gl.ops.shape import getitem
from gpgpu_gl.ops.take import take
from gpgpu_gl.pipeline.expand import Expansion, expand
from gpgpu_gl.pipeline.fetch import RESTART, Fetched
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.pipeline.state import MODES, State
from gpgpu_gl.tensor import Tensor, tensor

SIDES = {"points": 1, "lines": 2, "triangles": 3}


@dataclass(frozen=True)
class Primitives:
    """table: (n, 8) int32, for each primitive three vertex rows (lines and points repeat their last) and the provoking
    vertex, whose flat outputs count; gl_PrimitiveID, front facing, its row before clipping, and whether it is drawn.

    sides: corners of a primitive. The other fields are copies of the table's columns on the host.
    """

    table: Tensor
    sides: int

    @classmethod
    def of(cls, corners: np.ndarray, provoking: np.ndarray, number: np.ndarray) -> Primitives:
        """From (n, 1, 2 or 3) vertex rows, (n,) provoking vertices and (n,) gl_PrimitiveID."""
        n, sides = corners.shape
        rows = np.ones((n, 8), np.int32)
        rows[:, :3] = corners[:, [0, min(1, sides - 1), sides - 1]]
        rows[:, 3], rows[:, 4], rows[:, 6] = provoking, number, np.arange(n)
        return cls(tensor(rows), sides)

    def __len__(self) -> int:
        return self.table.shape[0]

    def taken(self, which: Expansion) -> Primitives:
        """Some of the primitives, in order."""
        return Primitives(take(self.table, which.owner, axis=0), self.sides)

    @cached_property
    def _rows(self) -> np.ndarray:
        return self.table.numpy()

    @property
    def corners(self) -> np.ndarray:
        """(n, sides) vertex rows."""
        return self._rows[:, : self.sides]

    @property
    def provoking(self) -> np.ndarray:
        """(n,) vertices whose flat outputs count."""
        return self._rows[:, 3]

    @property
    def number(self) -> np.ndarray:
        """(n,) gl_PrimitiveID, which counts within an instance."""
        return self._rows[:, 4]

    @property
    def front(self) -> np.ndarray:
        """(n,) bool: front facing."""
        return self._rows[:, 5] > 0

    @property
    def source(self) -> np.ndarray:
        """(n,) the primitive before clipping."""
        return self._rows[:, 6]


def assemble(fetched: Fetched, state: State) -> Primitives:
    """Groups the vertex stream into primitives, for every instance in turn."""
    stream = tensor(fetched.stream.astype(np.int32))
    inputs = {"stream": stream}
    restarts = bool((fetched.stream == RESTART).any())
    mode = MODES.index(state.mode)
    if restarts:
        marks = equal(stream, RESTART).astype(np.int32)
        count_inputs = {"stream": stream, "runs": cumulative_sum(marks), "marks": expand(marks).owner}
        restart: dict[str, str | int] = {"MODE": mode, "RESTART": f"({RESTART})"}
        places = make("pipeline_assemble_count", count_inputs, (stream.size, 4), int32, restart)
        found = expand(getitem(places, (slice(None), 0)))
        each = len(found)
        inputs |= {"places": places, "owner": found.owner, "ends": found.ends}
    else:
        each = _count(state.mode, stream.size)
    defines: dict[str, str | int] = {
        "MODE": mode, "RUNS": int(restarts), "PROVOKING_LAST": int(state.provoking == "last"),
    }  # fmt: skip
    shape = (each * fetched.instances, 8)
    table = make("pipeline_assemble", inputs, shape, int32, defines, each=each, vertices=fetched.count)
    return Primitives(table, SIDES[state.primitive])


def _count(mode: str, vertices: int) -> int:
    """Primitives of one run of vertices."""
    if mode == "points":
        return vertices
    if mode in ("lines", "triangles"):
        return vertices // (2 if mode == "lines" else 3)
    if mode == "line_loop":
        return vertices if vertices > 1 else 0
    return max(vertices - (1 if mode == "line_strip" else 2), 0)


def runs_of(stream: np.ndarray) -> list[np.ndarray]:
    """The stream cut at restarts."""
    cuts = np.nonzero(stream == RESTART)[0]
    return [part[part != RESTART] for part in np.split(stream, cuts)] if len(cuts) else [stream]
