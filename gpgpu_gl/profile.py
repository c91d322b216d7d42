"""The profiler: what each pass costs, as a table, and as a trace that Perfetto opens."""

from __future__ import annotations

import ctypes
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpgpu_gl.gl.passes import Command, Engine
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.tensor import engine


@dataclass(slots=True)
class Entry:
    """One command: kernel, start and duration in ms on the GPU's own clock, invocations, bytes read and written."""

    kernel: str
    detail: str
    start_ms: float
    ms: float
    invocations: int
    bytes_read: int
    bytes_written: int
    program: int


class Profile:
    """What was issued inside `with profile() as p`: p.entries in order, p.table(), p.save("trace.json")."""

    def __init__(self, current: Engine) -> None:
        self.engine = current
        self.entries: list[Entry] = []
        self._waiting: list[tuple[Command, int, float]] = []
        self._begin = time.perf_counter()

    def issue(self, command: Command, issue: Any) -> None:
        """Issues one command inside a timer query; on a software renderer waits for it and takes the host's clock."""
        start = (time.perf_counter() - self._begin) * 1e3
        if self.engine.device.software:
            issue(command)
            self.engine.ctx.finish()  # llvmpipe rasterises later than a query would tell
            self._add(command, start, (time.perf_counter() - self._begin) * 1e3 - start)
            return
        gl = raw()
        query = int(np.ravel(gl.glGenQueries(1))[0])
        gl.glBeginQuery(gl.GL_TIME_ELAPSED, query)
        issue(command)
        gl.glEndQuery(gl.GL_TIME_ELAPSED)
        self._waiting.append((command, query, start))

    def _add(self, command: Command, start: float, ms: float) -> None:
        first = command.targets[0]
        if command.groups is None:
            invocations = first.width * first.height
        else:
            local = command.program.local
            invocations = command.groups[0] * command.groups[1] * local[0] * local[1]
        self.entries.append(
            Entry(
                command.program.kernel,
                command.program.detail,
                start,
                ms,
                invocations,
                sum(s.nbytes for _, s in command.inputs),
                sum(s.nbytes for s in command.targets),
                int(command.program.program.glo),
            )
        )

    def finish(self) -> None:
        """Waits for the queries that are still under way."""
        for command, query, start in self._waiting:
            gl = raw()
            self._add(command, start, _nanoseconds(query) / 1e6)
            gl.glDeleteQueries(1, [query])
        self._waiting.clear()

    @property
    def total_ms(self) -> float:
        """Time on the GPU of all passes."""
        return sum(e.ms for e in self.entries)

    def table(self, most: int = 40) -> str:
        """Time by kernel and variant, the costliest first."""
        rows: dict[tuple[str, str], list[float]] = {}
        for e in self.entries:
            row = rows.setdefault((e.kernel, e.detail), [0, 0.0, 0, 0])
            for i, value in enumerate((1, e.ms, e.invocations, e.bytes_read + e.bytes_written)):
                row[i] += value
        total = self.total_ms or 1.0
        lines = [f"{'kernel':<28}{'passes':>7}{'ms':>10}{'share':>7}{'invocations':>13}{'MB':>9}  variant"]
        for (kernel, detail), (count, ms, invocations, size) in sorted(rows.items(), key=lambda r: -r[1][1])[:most]:
            lines.append(
                f"{kernel:<28}{count:>7.0f}{ms:>10.3f}{ms / total:>7.1%}{invocations:>13.0f}{size / 1e6:>9.2f}  {detail}"
            )
        lines.append(f"{'total':<28}{len(self.entries):>7}{self.total_ms:>10.3f}")
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace in Chrome's event format, which Perfetto opens."""
        events = [
            {
                "name": e.kernel,
                "cat": "pass",
                "ph": "X",
                "ts": e.start_ms * 1e3,
                "dur": e.ms * 1e3,
                "pid": 1,
                "tid": 1,
                "args": {
                    "variant": e.detail,
                    "invocations": e.invocations,
                    "bytes_read": e.bytes_read,
                    "bytes_written": e.bytes_written,
                    "program": e.program,
                },
            }
            for e in self.entries
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)


def _nanoseconds(query: int) -> int:
    """A timer query's result; waits for it."""
    raw()  # sets PyOpenGL up for the context that is current
    from OpenGL.raw.GL.VERSION import GL_1_5, GL_3_3  # the wrapped call knows no array of 64-bit results

    found = ctypes.c_uint64()
    GL_3_3.glGetQueryObjectui64v(query, GL_1_5.GL_QUERY_RESULT, ctypes.byref(found))
    return found.value


@contextmanager
def profile() -> Iterator[Profile]:
    """Times every pass that is issued inside the block (each is waited for on software renderers)."""
    current = engine()
    found = Profile(current)
    before, current.profiler = current.profiler, found
    try:
        yield found
    finally:
        current.profiler = before
        found.finish()
