"""Compiles the programs of a recorded call side by side, where the driver would compile one after another.

Mesa's software rasteriser generates a program's code in the calling thread, at its first draw: the first step of a
training run spends seconds there, on one core. What it generates goes to its cache on disk, by program and state: the
formats of the textures that are bound, and whether their sides are powers of two, so that one program may be compiled
several times. So helper processes begin at the end of the list of programs and fill that cache, while this process begins
at its start; where they meet, everything that follows is found ready. Nothing depends on a helper: one that fails, hangs
or is killed costs the time it took.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpgpu_gl.dtypes import FORMATS
from gpgpu_gl.gl.grid import cores
from gpgpu_gl.gl.start import EGL_LIBRARIES
from gpgpu_gl.gl.state import GL_DITHER

if TYPE_CHECKING:
    from gpgpu_gl.gl.context import Device
    from gpgpu_gl.gl.passes import Command
    from gpgpu_gl.gl.pool import Storage
    from gpgpu_gl.gl.programs import Program

    Texture = tuple[int, int, int, str]  # width and height like the real ones', layers, format
    State = tuple[Program, tuple[tuple[int, Texture], ...], tuple[Texture, ...]]
    Job = dict[str, Any]

VARIABLE = "GPGPU_GL_AHEAD"  # 0: no helpers
COLD = 0.04  # seconds for a program's first run that show that the driver's cache does not hold it
LEAST = 8  # programs for which a helper pays: it takes as long to start as some three take to compile
MOST_HELPERS = 3
PATIENCE = 5.0  # seconds to wait for one program that a helper has begun

_OFF = ("MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE")


class Ahead:
    """The helpers of one device. plan() before a list of commands is issued, ready() before each of them, ran() after each
    program's first run, finish() at the end of the list."""

    def __init__(self, device: Device) -> None:
        self.device = device
        off = os.environ.get(VARIABLE) == "0" or any(os.environ.get(name, "0").lower() in ("1", "true") for name in _OFF)
        usable = device.software and device.how == "egl" and not off
        self.most = min(cores() - 1, MOST_HELPERS) if usable else 0
        self.cold = False
        self.expecting = True  # the first recording, for which helpers start early
        self.helpers: list[_Helper] = []
        self.planned: dict[State, Job] = {}  # in the order in which they are needed
        self.passed: set[State] = set()  # of these, what was issued

    def get_ready(self) -> None:
        """Starts the helpers where the driver was seen to compile: the first recording begins."""
        if self.expecting and self.cold:
            self._start()

    def _start(self) -> None:
        self.expecting = False
        if not self.helpers:
            self.helpers = [_Helper(self.device) for _ in range(self.most)]
            if self.helpers:
                atexit.register(self.finish)

    def plan(self, commands: Iterable[Any]) -> None:
        """These commands are about to be issued, in order."""
        if not self.most:
            return
        compiled: set[Program] = set()  # before: nobody knows in which states
        for command in commands:
            if not hasattr(command, "program"):
                continue
            if command.program.program is not None:
                compiled.add(command.program)
            state = _state(command)
            if command.program not in compiled and state not in self.planned:
                self.planned[state] = _job(state, len(self.planned))
        if len(self.planned) < LEAST:
            self.planned.clear()
        self._hand_out()

    def _hand_out(self) -> None:
        if not self.planned or not self.cold:
            return
        self._start()
        jobs = [job for state, job in reversed(self.planned.items()) if state not in self.passed]
        for i, helper in enumerate(self.helpers):
            helper.send(jobs[i :: len(self.helpers)])

    def ready(self, command: Command) -> None:
        """This command is issued next: waits while a helper is at its program in its state."""
        if not self.planned:
            return
        state = _state(command)
        self.passed.add(state)
        if state in self.planned:
            for helper in self.helpers:
                helper.wait(self.planned[state]["number"])

    def ran(self, program: Program, seconds: float) -> None:
        """How long a program's first run took."""
        if self.most and not self.cold and seconds > COLD:
            self.cold = True
            self._hand_out()

    def finish(self) -> None:
        """Ends the helpers."""
        self.planned.clear()
        self.passed.clear()
        for helper in self.helpers:
            helper.close()
        if self.helpers:
            self.helpers = []
            atexit.unregister(self.finish)


class _Helper:
    """One process that runs gl/helper.py."""

    def __init__(self, device: Device) -> None:
        self.started: set[int] = set()
        self.done: set[int] = set()
        self.files: list[Path] = []
        self.rest = b""
        self.process: subprocess.Popen[bytes] | None = None
        want = {"version": device.version_code, "renderer": device.renderer, "libraries": EGL_LIBRARIES, "off": GL_DITHER}
        try:
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("helper.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,  # closing a pipe to a process that is gone has nothing to write
            )
            self._tell(json.dumps(want))
        except OSError:
            self.close()

    def _tell(self, line: str) -> None:
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")

    def send(self, jobs: list[dict[str, Any]]) -> None:
        """Jobs to do in this order. They go through a file: a pipe would make us wait until they are read."""
        if self.process is None or not jobs:
            return
        try:
            with tempfile.NamedTemporaryFile("w", suffix=".jobs", delete=False, encoding="utf-8") as file:
                self.files.append(Path(file.name))
                for job in jobs:
                    file.write(json.dumps(job) + "\n")
            self._tell(file.name)
        except OSError:  # it is gone, or the disk is full
            self.close()

    def _listen(self, seconds: float) -> None:
        """Takes in what it has said, waiting for up to `seconds` until it says something."""
        assert self.process is not None and self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        while select.select([pipe], [], [], seconds)[0]:
            said = os.read(pipe, 65536)
            if not said:
                self.close()
                return
            *lines, self.rest = (self.rest + said).split(b"\n")
            for line in lines:
                word, number = line.split()
                (self.started if word == b"started" else self.done).add(int(number))
            seconds = 0.0

    def wait(self, number: int) -> None:
        """Returns once it is not at job `number`. Gives it up where that takes too long."""
        if self.process is None:
            return
        self._listen(0.0)
        until = time.perf_counter() + PATIENCE
        while self.process is not None and number in self.started - self.done:
            if time.perf_counter() > until:
                self.close()
                return
            self._listen(0.1)

    def close(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        for path in self.files:
            path.unlink(missing_ok=True)
        self.files.clear()


def _state(command: Command) -> State:
    """What the driver's code depends on: the program, and what is known to matter of the textures bound and written."""

    def texture(storage: Storage) -> Texture:
        width, height, dtype, layers = storage.key
        return _like(width), _like(height), layers, FORMATS[dtype].gl

    targets = [texture(s) for s in command.targets]
    if targets[0][2]:  # the layers of an array texture, one attachment each
        targets = [targets[0]] * targets[0][2]
    return command.program, tuple((unit, texture(s)) for unit, s in command.inputs), tuple(targets)


def _like(side: int) -> int:
    """A small side that is a power of two if this one is."""
    return 4 if side & (side - 1) == 0 else 3


def _job(state: State, number: int) -> Job:
    """What a helper needs to compile a program in a state."""
    program, inputs, targets = state
    names = {unit: name for name, unit in program.units.items() if not name.startswith("image")}
    return {
        "number": number,
        "stages": {stage: s.text for stage, s in program.stages.items()},
        "inputs": [(unit, names.get(unit, ""), *kind) for unit, kind in inputs],
        "targets": targets,
    }
