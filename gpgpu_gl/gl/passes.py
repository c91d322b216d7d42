"""Passes are data: what to run, on which textures, with which sizes. One executor runs them all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np

from gpgpu_gl.dtypes import FORMATS, float16
from gpgpu_gl.errors import OutOfTextureMemory
from gpgpu_gl.gl.ahead import Ahead
from gpgpu_gl.gl.expression import Expression, hold
from gpgpu_gl.gl.framebuffers import Framebuffers
from gpgpu_gl.gl.grid import blocks, cell_texels, cells, cores, extent, tile_grid
from gpgpu_gl.gl.pool import Key, Pool, Storage
from gpgpu_gl.gl.programs import Program, Programs
from gpgpu_gl.gl.recorder import Recorder
from gpgpu_gl.gl.tune import Tuner
from gpgpu_gl.layout import Layout, layout

if TYPE_CHECKING:
    from gpgpu_gl.gl.context import Device

MOST_ATTACHMENTS = 8  # colour attachments that every OpenGL 3.3 device has
MOST_ACROSS = 32768  # work groups in one dimension; OpenGL promises 65,535
LOCAL = (32, 1)  # work group of a compute pass
LEAST_LOOPED = 4  # rows of a tile that a processor writes in a loop

_FETCH, _IMAGE = moderngl.TEXTURE_FETCH_BARRIER_BIT, moderngl.SHADER_IMAGE_ACCESS_BARRIER_BIT

Operand = tuple[Storage, Layout]
Defines = Mapping[str, "str | int"]


@dataclass(slots=True)
class Pass:
    """One draw or dispatch.

    kernel: the shader file's stem. inputs: sampler name to (storage, layout). outputs: each (storage, layout); a point
    pass may have several, all of one size. view: None for a point pass (one texel of each output an invocation), else
    how a tile pass sees its output, (groups, rows, columns in texels). tile: rows and columns of texels of a tile.
    block: tiles that a work group computes together, (columns, rows) of them, for kernels that share memory (compute only).
    expression: what an elementwise pass evaluates; for any other kernel its epilogue, through which the kernel's result
    goes before it is written. flop: operations that the kernel's arithmetic on the tensors' elements needs at least: a
    multiply-add is two, a function one; 0 where it only moves or draws elements. The expression's are counted from its text.
    """

    kernel: str
    inputs: dict[str, Operand]
    outputs: tuple[Operand, ...]
    defines: Defines = field(default_factory=dict)
    uniforms: dict[str, Any] = field(default_factory=dict)
    view: tuple[int, int, int] | None = None
    tile: tuple[int, int] = (1, 1)
    expression: Expression | None = None
    flop: float = 0.0
    block: tuple[int, int] | None = None


@dataclass(slots=True)
class Command:
    """A pass made ready for one path: its program, textures by unit, uniforms, targets, and work groups (compute).

    functions: uniforms whose values are asked for each time the command is issued. viewport: of a draw, x, y, width
    and height in texels. flop: operations that it needs at least.
    """

    program: Program
    inputs: list[tuple[int, Storage]]
    uniforms: list[tuple[str, Any]]
    targets: list[Storage]
    groups: tuple[int, int] | None = None
    viewport: tuple[int, int, int, int] = (0, 0, 1, 1)
    functions: list[tuple[str, Callable[[], Any]]] = field(default_factory=list)
    flop: float = 0.0


class Engine:
    """Runs passes on one device: its pool, its programs and the barriers between passes.

    recorder: where passes are noted while a call is recorded for replay.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.ctx = device.ctx
        self.pool = Pool(device.ctx, device.max_texture_size)
        self.programs = Programs(device.ctx)
        self.tuner = Tuner(device)
        self.ahead = Ahead(device)
        self.fetch_lod = int(device.software)  # llvmpipe samples faster than it fetches
        self.threads = cores() if device.software else 1  # that a draw is shared out to in bins
        self.recorder: Recorder | None = None
        self.profiler: Any = None
        self._scratch: dict[Key, Storage] | None = None
        self._serial = 0  # of the latest compute pass
        # Barrier bit to the serial of the latest compute pass that it covers.
        self._barriers: dict[int, int] = {_FETCH: 0, _IMAGE: 0}
        self.framebuffers = Framebuffers(device.ctx)

    # --- textures -------------------------------------------------------------------------------

    def layout(self, shape: tuple[int, ...]) -> Layout:
        return layout(shape, self.device.max_texture_size)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Operand:
        """A new storage for that shape, its contents undefined."""
        lay = self.layout(shape)
        with self.device.hosted_state():  # a new texture gets bound
            storage = self.pool.get(lay.width, lay.height, dtype)
        if self.recorder is not None:
            self.recorder.made.add(storage)
        return storage, lay

    @contextmanager
    def shared_scratch(self) -> Iterator[dict[Key, Storage]]:
        """Commands made inside share one array texture of each size for their tiles (they run one after another)."""
        self._scratch = {}
        try:
            yield self._scratch
        finally:
            self._scratch = None

    def _grid(self, width: int, height: int, dtype: np.dtype, layers: int) -> Storage:
        """An array texture for the tiles of one pass."""
        if self._scratch is None:
            return self.pool.get(width, height, dtype, layers)
        key = (width, height, dtype, layers)
        if key not in self._scratch:
            self._scratch[key] = self.pool.get(*key)
        return self._scratch[key]

    def upload(self, storage: Storage, data: bytes | np.ndarray | moderngl.Buffer) -> None:
        with self.device.hosted_state():
            self.barrier((storage,), moderngl.TEXTURE_UPDATE_BARRIER_BIT)
            storage.texture.write(data)

    def read(self, storage: Storage) -> bytes:
        """The texture's bytes, row after row from the first texel line; waits for the passes that write it."""
        if self.recorder is not None:
            self.recorder.refuse("reading a tensor's value (numpy(), item(), float(), bool(), print)")
        with self.device.hosted_state():
            self.barrier((storage,), moderngl.TEXTURE_UPDATE_BARRIER_BIT)
            return storage.texture.read(alignment=1)

    # --- passes ---------------------------------------------------------------------------------

    def run(self, p: Pass) -> None:
        """Issues one pass, or only records it while a call is recorded. Outputs without texels are skipped."""
        if p.outputs[0][1].texels == 0:
            return
        if self.recorder is not None:
            self.recorder.add(p)
            return
        self.device.check_thread()
        with self.device.hosted_state():
            for command in self.commands(p):
                self.issue(command)

    def host(self, action: Callable[[], Any]) -> None:
        """Calls a host action that belongs between passes, such as counting a step; recorded with them, it waits for them."""
        if self.recorder is not None:
            self.recorder.add(action)
        else:
            action()

    def unrecorded(self, action: Callable[[], Any]) -> Any:
        """What an action returns that runs its passes now, whether or not a call is recorded."""
        recorder, self.recorder = self.recorder, None
        try:
            return action()
        finally:
            self.recorder = recorder

    def commands(self, p: Pass) -> list[Command]:
        """The draws or dispatches that a pass takes on the device's path, compiled and sized."""
        if self.device.path == "compute":
            return [self._dispatch(p)]
        if p.view is None or p.tile == (1, 1):
            return [self._draw(p)]
        return self._draw_tiles(p)

    def _lower(self, p: Pass, path: str) -> Command:
        """The program of a pass, and what to bind: the defines follow from the pass and its textures' dtypes."""
        defines: dict[str, str | int] = dict(p.defines)
        inputs, uniforms = p.inputs, dict(p.uniforms)
        if p.expression is not None:
            operands, more, values = p.expression.lower(p.outputs[0][1])
            if path == "compute" and p.view is not None:
                hold(more, operands, p.view[2])
            inputs = inputs | operands
            defines |= more
            uniforms |= values
        defines["EPILOGUE"] = int(p.expression is not None and p.kernel != "elementwise")
        defines["FETCH_LOD"] = self.fetch_lod
        bound = []
        for unit, (name, (storage, lay)) in enumerate(inputs.items()):
            form = FORMATS[storage.dtype]
            defines[f"{name}_SAMPLER"] = form.sampler + ("Array" if storage.key[3] else "")
            defines[f"{name}_TEXEL"] = form.texel
            defines[f"{name}_SCALAR"] = form.scalar
            if p.view is not None:  # only tile kernels read it: point kernels would compile once for each
                defines[f"{name}_LINES"] = min(lay.lines, 2)
            uniforms[f"{name}_layout"] = lay.uniform
            bound.append((unit, storage))
        targets = []
        for n, (storage, _) in enumerate(p.outputs):
            form = FORMATS[storage.dtype]
            defines[f"o{n}_TEXEL"] = form.texel
            defines[f"o{n}_SCALAR"] = form.scalar
            if storage.dtype == float16:
                defines[f"o{n}_HALF"] = 1
            if path == "compute":
                defines[f"o{n}_FORMAT"] = form.qualifier
                defines[f"o{n}_IMAGE"] = form.image
            targets.append(storage)
        defines["OUTPUTS"] = len(p.outputs) if p.view is None else 0
        if "ROWS" not in defines:
            defines["ROWS"], defines["COLS"] = p.tile
        if p.view is not None:
            uniforms["view"] = p.view
        out = p.outputs[0][1]
        uniforms["o_layout"] = out.uniform
        if path == "compute":
            defines["LOCAL_X"], defines["LOCAL_Y"] = p.block or LOCAL
            if p.block is not None:
                defines["BLOCKED"] = 1
            if p.view is not None:
                defines["FOLDED"] = int(out.width % p.view[2] != 0)
                defines["LOOPED"] = int(self.device.software and p.tile[0] >= LEAST_LOOPED)
        program = self.programs.get(p.kernel, tuple(sorted(defines.items())), path)
        for unit, name in enumerate(inputs):
            program.bind(name, unit)
        fixed = [(name, value) for name, value in uniforms.items() if not callable(value)]
        functions = [(name, value) for name, value in uniforms.items() if callable(value)]
        flop = p.flop + (p.expression.operations * math.prod(out.shape) if p.expression is not None else 0)
        return Command(program, bound, fixed, targets, functions=functions, flop=flop)

    def _dispatch(self, p: Pass) -> Command:
        command = self._lower(p, "compute")
        for n in range(len(command.targets)):
            command.program.bind(f"image{n}", n)
        if p.view is None:
            width, height = extent(p.outputs[0][1])
            command.uniforms.append(("o_size", (width, height)))
            command.groups = (-(-width // LOCAL[0]), -(-height // LOCAL[1]))
        else:
            total = blocks(p) if p.block is not None else -(-cells(p) // (LOCAL[0] * LOCAL[1]))
            across = min(total, MOST_ACROSS)
            command.uniforms.append(("grid_width", across if p.block is not None else across * LOCAL[0]))
            command.groups = (across, -(-total // across))
        return command

    def _draw(self, p: Pass) -> Command:
        command = self._lower(p, "fragment")
        command.viewport = (0, 0, *extent(p.outputs[0][1]))
        if p.view is not None:
            command.uniforms.append(("grid_width", p.outputs[0][1].width))
        return command

    def _draw_tiles(self, p: Pass) -> list[Command]:
        """Draws the tiles into the layers of an array texture and gathers them into the output."""
        rows, cols = p.tile
        layers = rows * cols
        if layers > MOST_ATTACHMENTS:
            raise OutOfTextureMemory(
                f"kernel {p.kernel} asks for a tile of {rows} x {cols} texels; a fragment writes at most "
                f"{MOST_ATTACHMENTS} colour attachments"
            )
        storage, lay = p.outputs[0]
        total = cells(p)
        software, side = self.device.software, self.device.max_texture_size
        width, lines, size = tile_grid(p, FORMATS[storage.dtype].bytes, side, self.threads, software)
        grid = self._grid(*size, storage.dtype, layers)
        commands = []
        for first in range(0, total, width * lines):
            count = min(width * lines, total - first)
            command = self._lower(replace(p, expression=None), "fragment")
            command.targets = [grid]
            command.viewport = (0, 0, width, -(-count // width))
            command.flop *= count / total
            command.uniforms += [("grid_width", width), ("first_cell", first)]
            uniforms: dict[str, Any] = {"view": p.view, "grid_width": width}
            defines: dict[str, str | int] = {"ROWS": rows, "COLS": cols, "PARTS": int(count < total)}
            if count < total:
                uniforms |= {"first_cell": first, "cells": count}
            gather = self._draw(Pass("gather", {"layers": (grid, lay)}, p.outputs, defines, uniforms, expression=p.expression))
            gather.flop *= count / total
            low, high = cell_texels(p, first, first + count)
            gather.viewport = (0, low // lay.width, lay.width, -(-high // lay.width) - low // lay.width)
            commands += [command, gather]
        return commands

    def issue(self, command: Command) -> None:
        """Binds, sets and draws or dispatches one command, after the barriers that its textures need."""
        if self.profiler is not None:
            self.profiler.issue(command, self.execute)
        else:
            self.execute(command)

    def execute(self, command: Command) -> None:
        """issue(), unprofiled."""
        # Replays spend their time here: one loop binds and looks for passes whose results need a barrier.
        program, targets, groups = command.program, command.targets, command.groups
        if program.program is None:
            self._first(command)
            return
        covered, stale = self._barriers[_FETCH], False
        for unit, storage in command.inputs:
            storage.texture.use(unit)
            if storage.written > covered:
                stale = True
        if stale:
            self._cover(_FETCH)
        if program.current is not command.uniforms:
            values = program.values
            for name, value in command.uniforms:
                if values.get(name) != value:
                    program.set(name, value)
            program.current = command.uniforms
        for name, function in command.functions:
            program.set(name, function())
        if groups is None:
            self.barrier(targets, moderngl.FRAMEBUFFER_BARRIER_BIT)
            framebuffer = self.framebuffers.of(targets)
            if framebuffer.viewport != command.viewport:
                framebuffer.viewport = command.viewport
            framebuffer.use()
            program.vao.render(moderngl.TRIANGLES, 3)
            return
        covered = self._barriers[_IMAGE]
        for n, storage in enumerate(targets):
            if storage.written > covered:
                self._cover(_IMAGE)
                covered = self._serial
            storage.texture.bind_to_image(n, False, True)
        self._serial += 1
        for storage in targets:
            storage.written = self._serial
        program.program.run(groups[0], groups[1], 1)

    def _first(self, command: Command) -> None:
        """Links a command's program and issues the command; many drivers generate the program's code only then."""
        start = time.perf_counter()
        command.program.link()
        self.execute(command)
        self.ahead.ran(command.program, time.perf_counter() - start)

    def barrier(self, storages: Iterable[Storage], bit: int) -> None:
        """Issues a barrier if a compute pass wrote one of these since the last one for this kind of use."""
        covered = self._barriers.get(bit, 0)
        for storage in storages:
            if storage.written > covered:
                self._cover(bit)
                return

    def settle(self, bit: int) -> None:
        """Issues a barrier if any compute pass has written since the last one for this kind of use."""
        if self._serial > self._barriers.get(bit, 0):
            self._cover(bit)

    def _cover(self, bit: int) -> None:
        """A barrier for everything that compute passes have written until now."""
        self.ctx.memory_barrier(bit)
        self._barriers[bit] = self._serial

    def release(self) -> None:
        """Frees every texture, framebuffer and program. Tensors that still live keep theirs until they go."""
        self.ahead.finish()
        self.framebuffers.release()
        self.pool.trim()
        self.programs.release()
