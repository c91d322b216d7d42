"""Programs: one compiled kernel each, found again by kernel, defines and path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import moderngl

from gpgpu_gl.errors import ShaderError
from gpgpu_gl.gl import source

Defines = Mapping[str, "str | int"]
Key = tuple[str, str, tuple[tuple[str, "str | int"], ...]]


def sources(kernel: str, defines: Defines, path: str, dialect: str | None = None) -> dict[str, source.Source]:
    """The source of every stage of one kernel on one path: {"compute": ...} or {"vertex": ..., "fragment": ...}."""
    with_kernel = dict(defines, KERNEL=f"kernels/{kernel}.glsl")
    if path == "compute":
        return {"compute": source.load("main/compute.glsl", with_kernel, dialect or "430")}
    return {
        "vertex": source.load("main/cover.glsl", {}, dialect or "330"),
        "fragment": source.load("main/fragment.glsl", with_kernel, dialect or "330"),
    }


class Program:
    """A program that remembers the uniforms it has and the values they hold. It is linked before its first run."""

    def __init__(self, ctx: moderngl.Context, kernel: str, defines: Defines, path: str) -> None:
        self.ctx = ctx
        self.kernel = kernel
        self.defines = defines
        self.path = path
        self.detail = str(defines.get("EXPR", "")) if kernel == "elementwise" or defines.get("EPILOGUE") else ""
        self.local = (int(defines.get("LOCAL_X", 1)), int(defines.get("LOCAL_Y", 1)))
        self.stages = sources(kernel, defines, path)
        self.program: Any = None
        self.vao: Any = None
        self.uniforms: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.current: Any = None  # the command whose uniforms it holds
        self.units: dict[str, int] = {}

    def link(self) -> None:
        """Compiles and links it. Raises ShaderError with file and line of what does not compile."""
        texts = {stage: s.text for stage, s in self.stages.items()}
        try:
            if self.path == "compute":
                self.program = self.ctx.compute_shader(texts["compute"])
            else:
                self.program = self.ctx.program(vertex_shader=texts["vertex"], fragment_shader=texts["fragment"])
        except moderngl.Error as error:
            stage = self.stages["compute" if self.path == "compute" else "fragment"]
            raise ShaderError(
                f"kernel {self.kernel} does not compile on the {self.path} path:\n" + source.explain(str(error), stage)
            ) from None
        self.stages = {}
        self.vao = None if self.path == "compute" else self.ctx.vertex_array(self.program, [])
        self.uniforms = {name: self.program[name] for name in self.program}
        for name, unit in self.units.items():
            if name in self.uniforms:
                self.uniforms[name].value = unit

    def bind(self, name: str, unit: int) -> None:
        """Points sampler `name` at a texture unit (a no-op where the compiler dropped it)."""
        if self.units.get(name) != unit:
            self.units[name] = unit
            if name in self.uniforms:
                self.uniforms[name].value = unit

    def set(self, name: str, value: Any) -> None:
        """Sets a uniform unless it holds that value already (a no-op where the compiler dropped it); arrays as lists."""
        if self.values.get(name) != value:
            self.current = None
            uniform = self.uniforms.get(name)
            if uniform is not None:
                if type(value) is list:
                    # The compiler may have cut elements that it never reads off the array's end.
                    value_ = value[: uniform.array_length]
                    uniform.value = value_[0] if len(value_) == 1 else value_
                else:
                    uniform.value = value
            self.values[name] = value

    def release(self) -> None:
        if self.vao is not None:
            self.vao.release()
        if self.program is not None:
            self.program.release()


class Programs:
    """The program cache of one context. Equal key means equal source: the key is all that `sources` reads."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.cache: dict[Key, Program] = {}
        self.drawing: dict[Any, Program] = {}  # those that are no passes: the renderer's, under its own keys

    def get(self, kernel: str, defines: tuple[tuple[str, str | int], ...], path: str) -> Program:
        key = (kernel, path, defines)
        found = self.cache.get(key)
        if found is None:
            found = self.cache[key] = Program(self.ctx, kernel, dict(defines), path)
        return found

    def release(self) -> None:
        for program in self:
            program.release()
        self.cache.clear()
        self.drawing.clear()

    def __iter__(self) -> Iterator[Program]:
        return iter([*self.cache.values(), *self.drawing.values()])
