"""What rendering keeps on a device: programs, buffers, textures, samplers and targets; and the GL state of a drawing."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.gl.context import Device, device
from gpgpu_gl.gl.raw import current_context, raw
from gpgpu_gl.gl.state import unbind_framebuffer
from gpgpu_gl.layout import with_width
from gpgpu_gl.render.geometry import ATTRIBUTES, Geometry
from gpgpu_gl.render.programs import Program
from gpgpu_gl.render.state import kept_state
from gpgpu_gl.render.texture import Texture
from gpgpu_gl.tensor import Tensor

SRGB8_ALPHA8 = 0x8C43
MOST_TARGETS = 8  # sizes of pictures whose buffers are kept


class Buffers:
    """The vertex buffers of one geometry, and a vertex array for each program that draws it."""

    def __init__(self, ctx: moderngl.Context, geometry: Geometry) -> None:
        self.ctx = ctx
        self.version = geometry.version
        self.vbos = {name: ctx.buffer(array.tobytes()) for name, array in geometry.arrays().items()}
        self.triangles = ctx.buffer(geometry.indices.tobytes()) if geometry.indices.size else None
        self.edges: Any = None
        self.arrays: dict[tuple[int, bool], Any] = {}

    def array(self, program: Program, geometry: Geometry, wireframe: bool) -> Any:
        key = (program.program.glo, wireframe)
        if key not in self.arrays:
            if wireframe and self.edges is None:
                self.edges = self.ctx.buffer(geometry.edges.tobytes())
            content = [
                (buffer, ATTRIBUTES[name][1], f"in_{name}")
                for name, buffer in self.vbos.items()
                if f"in_{name}" in program.uniforms
            ]
            self.arrays[key] = self.ctx.vertex_array(program.program, content, self.edges if wireframe else self.triangles)
        return self.arrays[key]

    def objects(self) -> list[Any]:
        extra = [b for b in (self.triangles, self.edges) if b is not None]
        return [*self.arrays.values(), *self.vbos.values(), *extra]

    def release(self) -> None:
        for one in self.objects():
            one.release()


class Gpu:
    """The renderer's side of one device."""

    def __init__(self, owner: Device) -> None:
        self.device = owner
        self.ctx = owner.ctx
        self.engine = owner.engine
        self.geometries: weakref.WeakKeyDictionary[Geometry, Buffers] = weakref.WeakKeyDictionary()
        self.textures: weakref.WeakKeyDictionary[Texture, tuple[Any, int]] = weakref.WeakKeyDictionary()
        self.environments: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self.samplers: dict[tuple[Any, ...], Any] = {}
        self.sampled: set[int] = set()  # texture units that a sampler is bound to
        self.kept: OrderedDict[tuple[Any, ...], list[Any]] = OrderedDict()  # targets, longest unused first
        self.matrices: OrderedDict[tuple[Any, ...], Tensor] = OrderedDict()
        self.empty_arrays: dict[int, Any] = {}
        self.garbage: list[Any] = []
        self._drawing = False
        self.draw_calls = 0  # since the start; tests and profiles read it

    # --- lifetime -------------------------------------------------------------------------------

    def drop(self, one: Any) -> None:
        """Releases what belonged to an object that is gone, now or, where its context is not current, later."""
        here = threading.get_ident() == self.device._thread and current_context() == self.device._current
        if here and not self.device.closed:
            one.release()
        else:
            self.garbage.append(one)

    def collect(self) -> None:
        while self.garbage:
            self.garbage.pop().release()

    def release(self) -> None:
        """Frees all that is kept. What is drawn again is made again."""
        with self.device.hosted_state():
            unbind_framebuffer(self.ctx)
            for buffers in list(self.geometries.values()):
                buffers.release()
            for texture, _ in list(self.textures.values()):
                texture.release()
            for one in list(self.environments.values()):
                one.release()
            for objects in self.kept.values():
                for one in objects:
                    one.release()
            for one in (*self.samplers.values(), *self.empty_arrays.values()):
                one.release()
            for kind in (self.geometries, self.textures, self.environments, self.kept, self.samplers, self.empty_arrays):
                kind.clear()
            self.matrices.clear()
            self.collect()

    # --- programs and vertex arrays -------------------------------------------------------------

    def program(self, vertex: str, fragment: str, defines: dict[str, int]) -> Program:
        """The linked program of two files of shaders/render/, kept with the engine's programs."""
        key = (vertex, fragment, tuple(sorted(defines.items())))
        found: Any = self.engine.programs.drawing.get(key)
        if found is None:
            found = self.engine.programs.drawing[key] = Program(self.ctx, vertex, fragment, defines)
        return found

    def buffers(self, geometry: Geometry) -> Buffers:
        found = self.geometries.get(geometry)
        if found is not None and found.version != geometry.version:
            found.release()
            found = None
        if found is None:
            found = self.geometries[geometry] = Buffers(self.ctx, geometry)
            weakref.finalize(geometry, self.drop, found).atexit = False
        return found

    def no_attributes(self, program: Program) -> Any:
        """A vertex array without attributes, for shaders that fetch what they need."""
        key = program.program.glo
        if key not in self.empty_arrays:
            self.empty_arrays[key] = self.ctx.vertex_array(program.program, [])
        return self.empty_arrays[key]

    # --- textures -------------------------------------------------------------------------------

    def bind_tensor(self, unit: int, t: Tensor) -> tuple[int, int, int, int]:
        """Binds a tensor's texture for texelFetch, after the barrier it may need; its layout, as shaders take it."""
        storage, lay = t.operand
        self.engine.barrier((storage,), moderngl.TEXTURE_FETCH_BARRIER_BIT)
        storage.texture.use(unit)
        self.unsample(unit)
        return lay.uniform

    def unsample(self, unit: int) -> None:
        """Lets a unit's texture use its own settings."""
        if unit in self.sampled:
            self.sampled.remove(unit)
            self.ctx.clear_samplers(unit, unit + 1)

    def bind_texture(self, unit: int, texture: Texture) -> None:
        """Binds a material's texture with its sampler."""
        if texture.tensor is not None:
            self.bind_tensor(unit, texture.tensor)
        else:
            self.texture(texture).use(unit)
        self.sampler(texture.smooth, texture.mipmaps or len(texture.levels) > 1, texture.wrap, texture.anisotropy).use(unit)
        self.sampled.add(unit)

    def sampler(self, smooth: bool, mipmaps: bool, wrap: str, anisotropy: float) -> Any:
        key = (smooth, mipmaps, wrap, anisotropy)
        if key not in self.samplers:
            made = self.ctx.sampler()
            near = moderngl.LINEAR if smooth else moderngl.NEAREST
            far = near if not mipmaps else moderngl.LINEAR_MIPMAP_LINEAR if smooth else moderngl.NEAREST_MIPMAP_NEAREST
            made.filter = (far, near)
            made.repeat_x = made.repeat_y = wrap == "repeat"
            if mipmaps and smooth and self.ctx.max_anisotropy > 1:
                made.anisotropy = min(anisotropy, self.ctx.max_anisotropy)
            self.samplers[key] = made
        return self.samplers[key]

    def texture(self, texture: Texture) -> Any:
        found = self.textures.get(texture)
        if found is None:
            first = texture.levels[0]
            height, width = first.shape[:2]
            most = self.device.max_texture_size
            if max(height, width) > most:
                raise GpgpuError(f"a texture of {width} x {height} exceeds this device's largest side {most}; scale it down")
            if first.dtype == np.uint8:
                more = {"internal_format": SRGB8_ALPHA8} if texture.srgb else {}
                made = self.ctx.texture((width, height), 4, dtype="f1", **more)
            else:
                made = self.ctx.texture((width, height), 4, dtype="f4")
            weakref.finalize(texture, self.drop, made).atexit = False
        else:
            made = found[0]
        if found is None or found[1] != texture.version:
            made.write(texture.levels[0].tobytes())
            if len(texture.levels) > 1:
                made.build_mipmaps(0, len(texture.levels) - 1)
                for level, pixels in enumerate(texture.levels):
                    made.write(pixels.tobytes(), level=level)
            elif texture.mipmaps:
                made.build_mipmaps()
            self.textures[texture] = (made, texture.version)
        return made

    # --- targets --------------------------------------------------------------------------------

    def keep(self, key: tuple[Any, ...], make: Any) -> list[Any]:
        """Objects kept under a key; the longest unused are released."""
        if key in self.kept:
            self.kept.move_to_end(key)
            return self.kept[key]
        made = self.kept[key] = make()
        while len(self.kept) > MOST_TARGETS:
            _, old = self.kept.popitem(last=False)
            unbind_framebuffer(self.ctx)
            for one in old:
                one.release()
        return made

    def multisampled(self, size: tuple[int, int], samples: int, kind: str) -> Any:
        """A framebuffer of linear floats, "f2" or "f4", with `samples` samples a pixel."""

        def make() -> list[Any]:
            color = self.ctx.texture(size, 4, samples=samples, dtype=kind)
            depth = self.ctx.depth_renderbuffer(size, samples=samples)
            return [self.ctx.framebuffer([color], depth), color, depth]

        return self.keep(("multisampled", size, samples, kind), make)[0]

    def depth_buffer(self, size: tuple[int, int]) -> Any:
        return self.keep(("depth", size), lambda: [self.ctx.depth_renderbuffer(size)])[0]

    def linear(self, size: tuple[int, int]) -> tuple[Any, Any]:
        """Framebuffer and texture of linear half floats."""

        def make() -> list[Any]:
            color = self.ctx.texture(size, 4, dtype="f2")
            return [self.ctx.framebuffer([color]), color]

        framebuffer, color = self.keep(("linear", size), make)
        return framebuffer, color

    def display(self, size: tuple[int, int]) -> tuple[Any, Any]:
        """Framebuffer and texture of an sRGB picture of bytes."""

        def make() -> list[Any]:
            color = self.ctx.texture(size, 4, dtype="f1", internal_format=SRGB8_ALPHA8)
            depth = self.ctx.depth_renderbuffer(size)
            return [self.ctx.framebuffer([color], depth), color, depth]

        framebuffer, color, _ = self.keep(("display", size), make)
        return framebuffer, color

    def shadow_map(self, index: int, size: int) -> tuple[Any, Any]:
        """Framebuffer and depth texture, compared and interpolated by its sampler."""

        def make() -> list[Any]:
            depth = self.ctx.depth_texture((size, size))
            depth.compare_func = "<="
            depth.filter = (moderngl.LINEAR, moderngl.LINEAR)
            depth.repeat_x = depth.repeat_y = False
            return [self.ctx.framebuffer(depth_attachment=depth), depth]

        framebuffer, depth = self.keep(("shadow", index, size), make)
        return framebuffer, depth

    def picture(self, shape: tuple[int, int, int], dtype: Any) -> Tensor:
        """A tensor (H, W, channels) whose texture is W x H: its contents are undefined."""
        height, width, channels = shape
        storage = self.engine.pool.get(width, height, np.dtype(dtype))
        self.engine.barrier((storage,), moderngl.FRAMEBUFFER_BARRIER_BIT)
        return Tensor(storage, with_width((height, width, channels), width, height), np.dtype(dtype))

    @contextlib.contextmanager
    def target(self, tensors: Iterable[Tensor], size: tuple[int, int]) -> Iterator[Any]:
        """A framebuffer of pictures, with the kept depth buffer of that size, for one drawing."""
        made = self.ctx.framebuffer([t.texture for t in tensors], self.depth_buffer(size))
        try:
            yield made
        finally:
            unbind_framebuffer(self.ctx)
            made.release()

    def resolve(self, source: Any, target: Any) -> None:
        """The mean of each pixel's samples, in linear light."""
        gl = raw()
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, source.glo)
        gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, target.glo)
        box = (0, 0, *source.size)
        gl.glBlitFramebuffer(*box, *box, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)

    @contextlib.contextmanager
    def drawing(self) -> Iterator[None]:
        """Within: GL state may be set at will. On leaving: what passes need, and a host's own state."""
        if self._drawing:
            yield
            return
        self.device.check_thread()
        if self.engine.recorder is not None:
            self.engine.recorder.refuse("rendering a scene")
        self._drawing = True
        try:
            with self.device.hosted_state(), kept_state(self.ctx, self.device.hosted, self.sampled):
                self.collect()
                yield
        finally:
            self._drawing = False


def gpu() -> Gpu:
    """The renderer's side of the default device; it lives as long as the device."""
    current = device()
    found = vars(current).get("gpu")
    if found is None:
        found = vars(current)["gpu"] = Gpu(current)
    return found


def release() -> None:
    """Frees the buffers, textures and targets that rendering keeps for reuse on the default device."""
    gpu().release()
