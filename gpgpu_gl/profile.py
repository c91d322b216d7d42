"""The profiler: what each pass costs, as a table, and as a trace that Perfetto opens."""

from __future__ import annotations

import ctypes
import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import float32
from gpgpu_gl.gl.passes import Command, Engine
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.tensor import engine

COUNT_WIDTH = 2048  # invocations of a dispatch whose counts lie in one line of a texture


@dataclass(slots=True)
class Entry:
    """One command: a draw or a dispatch.

    start_ms, ms: on the GPU's own clock. fetches: texels that its invocations fetched (those of a work group that lie beyond
    the output fetch too), None where that was not counted; a user's shader inside the emulated pipeline samples without
    being counted. flop: operations that its arithmetic needs at least (see Pass); 0 for movement and random numbers, and
    for the kernels of render, pipeline and the demos, which do not say. bytes_read, bytes_written: of the textures that it
    is given, each once. program: GL's name.
    """

    kernel: str
    detail: str
    start_ms: float
    ms: float
    invocations: int
    bytes_read: int
    bytes_written: int
    program: int
    flop: float = 0.0
    fetches: int | None = None


class Profile:
    """What was issued inside `with profile() as p`: p.entries in order, p.table(), p.save("trace.json")."""

    def __init__(self, current: Engine, fetches: bool = True) -> None:
        self.engine = current
        self.fetches = fetches
        self.entries: list[Entry] = []
        self._waiting: list[tuple[Command, int, float, int | None]] = []
        self._begin = time.perf_counter()

    def issue(self, command: Command, issue: Any) -> None:
        """Issues one command inside a timer query; on a software renderer waits for it and takes the host's clock.

        A program that was never used runs once before, so that its compilation is not taken for the pass.
        """
        if command.program.program is None:
            issue(command)
            self.engine.ctx.finish()
        start = (time.perf_counter() - self._begin) * 1e3
        if self.engine.device.software:
            issue(command)
            self.engine.ctx.finish()  # llvmpipe rasterises later than a query would tell
            self._add(command, start, (time.perf_counter() - self._begin) * 1e3 - start, self._count(command))
            return
        gl = raw()
        query = int(np.ravel(gl.glGenQueries(1))[0])
        gl.glBeginQuery(gl.GL_TIME_ELAPSED, query)
        issue(command)
        gl.glEndQuery(gl.GL_TIME_ELAPSED)
        self._waiting.append((command, query, start, self._count(command)))

    def _count(self, command: Command) -> int | None:
        """Texels that a command fetches: it runs once more, as a program that writes its count in place of its results.

        At once, because later commands may write to its inputs. Outside of what is timed, but for what the device caches.
        """
        if not self.fetches:
            return None
        engine, program = self.engine, command.program
        begin = time.perf_counter()
        counting = engine.programs.get(program.kernel, (*program.defines.items(), ("COUNTED", COUNT_WIDTH)), program.path)
        for name, unit in program.units.items():
            counting.bind(name, unit)
        if command.groups is None:
            x, y, width, height = command.viewport
            width, height = x + width, y + height
        else:
            total = math.prod(command.groups) * math.prod(program.local)
            width, height = COUNT_WIDTH, -(-total // COUNT_WIDTH)
        target = engine.pool.get(width, height, float32)
        engine.upload(target, bytes(target.nbytes))  # invocations beyond the last texel write nothing
        again = Command(
            counting, command.inputs, command.uniforms, [target], command.groups, command.viewport, command.functions
        )
        engine.execute(again)
        counts = np.frombuffer(engine.read(target), np.float32)[::4]
        self._begin += time.perf_counter() - begin
        return int(counts.sum(dtype=np.float64))

    def _add(self, command: Command, start: float, ms: float, fetches: int | None) -> None:
        written = sum(s.nbytes for s in command.targets)
        if command.groups is None:  # a part of its targets, maybe
            invocations = command.viewport[2] * command.viewport[3]
            written = sum(s.nbytes * invocations // (s.width * s.height) for s in command.targets)
        else:
            invocations = math.prod(command.groups) * math.prod(command.program.local)
        self.entries.append(
            Entry(
                command.program.kernel,
                command.program.detail,
                start,
                ms,
                invocations,
                sum(s.nbytes for _, s in command.inputs),
                written,
                int(command.program.program.glo),
                command.flop,
                fetches,
            )
        )

    def finish(self) -> None:
        """Waits for the queries that are still under way."""
        for command, query, start, fetches in self._waiting:
            gl = raw()
            self._add(command, start, _nanoseconds(query) / 1e6, fetches)
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
            row = rows.setdefault((e.kernel, e.detail), [0.0] * 6)
            for i, value in enumerate((1, e.ms, e.invocations, e.fetches or 0, e.flop, e.bytes_read + e.bytes_written)):
                row[i] += value
        total = self.total_ms or 1.0
        titles = f"{'invocations':>13}{'fetches':>13}{'MFLOP':>10}{'GFLOP/s':>9}{'MB':>9}"
        lines = [f"{'kernel':<28}{'passes':>7}{'ms':>10}{'share':>7}{titles}  variant"]
        for (kernel, detail), (count, ms, invocations, fetches, flop, size) in sorted(rows.items(), key=lambda r: -r[1][1])[:most]:
            counted = f"{fetches:>13.0f}" if self.fetches else f"{'-':>13}"
            work = f"{counted}{flop / 1e6:>10.2f}{flop / ms / 1e6 if ms else 0:>9.1f}{size / 1e6:>9.2f}"
            lines.append(f"{kernel:<28}{count:>7.0f}{ms:>10.3f}{ms / total:>7.1%}{invocations:>13.0f}{work}  {detail}")
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
                    "fetches": e.fetches,
                    "flop": e.flop,
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
def profile(fetches: bool = True) -> Iterator[Profile]:
    """Times every pass that is issued inside the block (each is waited for on software renderers).

    fetches: counts the texels that each fetches, too, by running it a second time as a variant that counts, outside of
    what is timed: the block takes longer (one more program for each to compile), the times of its entries do not change.
    """
    current = engine()
    found = Profile(current, fetches)
    before, current.profiler = current.profiler, found
    try:
        yield found
    finally:
        current.profiler = before
        found.finish()
