"""The same draw on the device's own rasteriser."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.errors import DeviceError
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.pipeline.fetch import RESTART, Fetched
from gpgpu_gl.pipeline.merge import Frame, target_format
from gpgpu_gl.pipeline.program import Uniforms
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import tensor

_COMPARE = {
    "never": "NEVER",
    "less": "LESS",
    "equal": "EQUAL",
    "lequal": "LEQUAL",
    "greater": "GREATER",
    "notequal": "NOTEQUAL",
    "gequal": "GEQUAL",
    "always": "ALWAYS",
}
_EQUATION = {
    "add": "FUNC_ADD",
    "subtract": "FUNC_SUBTRACT",
    "reverse_subtract": "FUNC_REVERSE_SUBTRACT",
    "min": "MIN",
    "max": "MAX",
}
_FORMAT = {"rgba32f": "RGBA32F", "rgba8": "RGBA8", "srgb8_alpha8": "SRGB8_ALPHA8", "rgba32i": "RGBA32I"}


def gl_name(word: str) -> int:
    """The constant GL_WORD."""
    return getattr(raw(), f"GL_{word.upper()}")


class Targets:
    """Colour renderbuffers with a float depth and stencil buffer, single- or multisample."""

    def __init__(self, state: State, size: tuple[int, int], kinds: list[str], samples: int) -> None:
        gl = raw()
        self.size, self.samples, self.count, self.kinds = size, samples, len(kinds), kinds
        self.framebuffer = int(gl.glGenFramebuffers(1))
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.framebuffer)
        self.buffers: list[int] = []
        formats = [target_format(state, i, kind) for i, kind in enumerate(kinds)]
        places = [(_FORMAT[f], f"COLOR_ATTACHMENT{i}") for i, f in enumerate(formats)]
        for form, place in [*places, ("DEPTH32F_STENCIL8", "DEPTH_STENCIL_ATTACHMENT")]:
            buffer = int(gl.glGenRenderbuffers(1))
            self.buffers.append(buffer)
            gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, buffer)
            gl.glRenderbufferStorageMultisample(gl.GL_RENDERBUFFER, samples if samples > 1 else 0, gl_name(form), *size)
            gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, gl_name(place), gl.GL_RENDERBUFFER, buffer)
        self.draw_all()
        status = gl.glCheckFramebufferStatus(gl.GL_FRAMEBUFFER)
        if status != gl.GL_FRAMEBUFFER_COMPLETE:
            self.release()
            raise DeviceError(
                f"this device cannot draw to {formats} with {samples} samples (framebuffer status {status:#x})"
            )

    def draw_all(self) -> None:
        """Draws to every target that the shader writes; what it does not write would be undefined."""
        gl = raw()
        places = [gl.GL_NONE if kind == "none" else gl.GL_COLOR_ATTACHMENT0 + i for i, kind in enumerate(self.kinds)]
        gl.glDrawBuffers(len(places), places)

    def release(self) -> None:
        gl = raw()
        gl.glDeleteFramebuffers(1, [self.framebuffer])
        gl.glDeleteRenderbuffers(len(self.buffers), self.buffers)


@contextlib.contextmanager
def applied(state: State, size: tuple[int, int], targets: int) -> Iterator[None]:
    """The state in OpenGL; on leaving, what passes need."""
    gl = raw()
    on: list[int] = []

    def enable(name: str, wanted: bool = True) -> None:
        if wanted:
            gl.glEnable(gl_name(name))
            on.append(gl_name(name))

    enable("DEPTH_CLAMP", state.depth_clamp)
    enable("PRIMITIVE_RESTART", state.restart is not None)
    enable("PROGRAM_POINT_SIZE", state.point_size is None)
    enable("FRAMEBUFFER_SRGB", True)
    for i in range(state.clip_distances):
        enable(f"CLIP_DISTANCE{i}")
    if state.restart is not None:
        gl.glPrimitiveRestartIndex(0xFFFFFFFF)
    gl.glPointSize(state.point_size or 1.0)
    gl.glProvokingVertex(gl_name(f"{state.provoking}_VERTEX_CONVENTION"))
    clip = (state.clip_origin, state.clip_depth)
    if clip != ("lower_left", "negative_one_to_one"):
        gl.glClipControl(gl_name(clip[0]), gl_name(clip[1]))
    gl.glDepthRange(*state.depth_range)
    gl.glFrontFace(gl_name(state.front_face))
    if state.cull:
        enable("CULL_FACE")
        gl.glCullFace(gl_name(state.cull))
    if state.polygon_offset:
        enable("POLYGON_OFFSET_FILL")
        gl.glPolygonOffset(*state.polygon_offset)
    if state.scissor:
        enable("SCISSOR_TEST")
        gl.glScissor(*state.scissor)
    if state.stencils:
        enable("STENCIL_TEST")
        for face, s in zip((gl.GL_FRONT, gl.GL_BACK), state.stencils, strict=True):
            gl.glStencilFuncSeparate(face, gl_name(_COMPARE[s.compare]), s.reference, s.read_mask)
            gl.glStencilOpSeparate(face, gl_name(s.fail), gl_name(s.depth_fail), gl_name(s.depth_pass))
            gl.glStencilMaskSeparate(face, s.write_mask)
    if state.depth_test:
        enable("DEPTH_TEST")
        gl.glDepthFunc(gl_name(_COMPARE[state.depth_test]))
    gl.glDepthMask(state.depth_write)
    _blending(state, targets)
    gl.glViewport(*(state.viewport or (0, 0, *size)))
    try:
        yield
    finally:
        for flag in on:
            gl.glDisable(flag)
        gl.glProvokingVertex(gl.GL_LAST_VERTEX_CONVENTION)
        if clip != ("lower_left", "negative_one_to_one"):
            gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_NEGATIVE_ONE_TO_ONE)
        for i in range(targets):
            gl.glDisablei(gl.GL_BLEND, i)
            gl.glColorMaski(i, True, True, True, True)
        gl.glDepthMask(True)
        gl.glStencilMask(0xFF)
        gl.glDepthRange(0.0, 1.0)
        gl.glPointSize(1.0)


# Pipeline statistics queries (OpenGL 4.6, or an extension), by the names that Cost has.
_STATISTICS = {
    "vertices_submitted": 0x82EE,
    "primitives_submitted": 0x82EF,
    "vertex_shader_invocations": 0x82F0,
    "fragment_shader_invocations": 0x82F4,
    "clipping_input_primitives": 0x82F6,
    "clipping_output_primitives": 0x82F7,
}


@contextlib.contextmanager
def counted(ctx: moderngl.Context, statistics: dict[str, int] | None) -> Iterator[None]:
    """Within, the device counts; on leaving, the counts are in `statistics`, where it has these queries."""
    if statistics is None or (ctx.version_code < 460 and "GL_ARB_pipeline_statistics_query" not in ctx.extensions):
        yield
        return
    gl = raw()
    names = [int(n) for n in np.atleast_1d(gl.glGenQueries(len(_STATISTICS)))]
    for name, target in zip(names, _STATISTICS.values(), strict=True):
        gl.glBeginQuery(target, name)
    try:
        yield
    finally:
        for target in _STATISTICS.values():
            gl.glEndQuery(target)
        for name, key in zip(names, _STATISTICS, strict=True):
            statistics[key] = int(np.asarray(gl.glGetQueryObjectuiv(name, gl.GL_QUERY_RESULT)).flat[0])
        gl.glDeleteQueries(len(names), names)


def _blending(state: State, targets: int) -> None:
    gl = raw()
    for i in range(targets):
        gl.glColorMaski(i, *(c in state.mask_of(i) for c in "rgba"))
        blend = state.blend_of(i)
        if blend is None:
            continue
        gl.glEnablei(gl.GL_BLEND, i)
        source, destination = blend.pair("source"), blend.pair("destination")
        four = [gl_name(f) for f in (source[0], destination[0], source[1], destination[1])]
        equations = [gl_name(_EQUATION[e]) for e in blend.pair("equation")]
        if isinstance(state.blend, tuple):  # one for each target: OpenGL 4.0
            gl.glBlendFuncSeparatei(i, *four)
            gl.glBlendEquationSeparatei(i, *equations)
        else:
            gl.glBlendFuncSeparate(*four)
            gl.glBlendEquationSeparate(*equations)
        gl.glBlendColor(*blend.constant)


def draw(
    ctx: moderngl.Context,
    program: Any,
    state: State,
    fetched: Fetched,
    uniforms: Uniforms,
    size: tuple[int, int],
    kinds: list[str],
    onto: Frame | None,
    statistics: dict[str, int] | None = None,
) -> Frame:
    """Clears (or fills from onto), draws, resolves and reads back."""
    gl = raw()
    _check_version(ctx, state)
    things: list[Any] = []
    targets = Targets(state, size, kinds, state.samples)
    single = targets
    try:
        uniforms.apply(program)
        contents = []
        for array, form, name in fetched.contents:
            things.append(ctx.buffer(array.tobytes() or bytes(4)))
            contents.append((things[-1], form, name))
        index = None
        if fetched.indexed and len(fetched.stream):
            index = ctx.buffer(
                np.where(fetched.stream == RESTART, 0xFFFFFFFF, fetched.stream).astype(np.uint32).tobytes()
            )
            things.append(index)
        vao = ctx.vertex_array(program, contents, index)
        things.append(vao)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, targets.framebuffer)
        _clear(state, targets, kinds, onto)
        if len(fetched.stream):
            with applied(state, size, len(kinds)):
                gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, targets.framebuffer)
                with counted(ctx, statistics):
                    vao.render(
                        getattr(moderngl, state.mode.upper()), vertices=len(fetched.stream), instances=fetched.instances
                    )
        if state.samples > 1:
            single = Targets(state, size, kinds, 1)
            _resolve(targets, single)
        return _read(state, single, kinds)
    finally:
        uniforms.unbind()
        for thing in reversed(things):
            thing.release()
        for one in {id(t): t for t in (targets, single)}.values():
            one.release()


def _check_version(ctx: moderngl.Context, state: State) -> None:
    """Raises DeviceError for states that this device's OpenGL lacks; the emulator has them all the same."""
    needed = {
        "clip_origin and clip_depth": 450
        if (state.clip_origin, state.clip_depth) != ("lower_left", "negative_one_to_one")
        else 330,
        "a blend function for each target": 400 if isinstance(state.blend, tuple) else 330,
    }
    for name, version in needed.items():
        if ctx.version_code < version:
            raise DeviceError(
                f"{name} needs OpenGL {version // 100}.{version // 10 % 10} on the hardware, and this device offers "
                f"{ctx.version_code // 100}.{ctx.version_code // 10 % 10}; Pipeline.run emulates it"
            )


def _clear(state: State, targets: Targets, kinds: list[str], onto: Frame | None) -> None:
    gl = raw()
    gl.glEnable(gl.GL_FRAMEBUFFER_SRGB)
    gl.glDrawBuffers(len(kinds), [gl.GL_COLOR_ATTACHMENT0 + i for i in range(len(kinds))])
    for i, kind in enumerate(kinds):
        value = np.array(state.clear_color, np.int32 if kind == "int" else np.float32)
        (gl.glClearBufferiv if kind == "int" else gl.glClearBufferfv)(gl.GL_COLOR, i, value)
    targets.draw_all()
    gl.glClearBufferfi(gl.GL_DEPTH_STENCIL, 0, state.clear_depth, state.clear_stencil)
    gl.glDisable(gl.GL_FRAMEBUFFER_SRGB)
    if onto is not None:
        _fill(state, targets, kinds, onto)


def _fill(state: State, targets: Targets, kinds: list[str], onto: Frame) -> None:
    """Copies a frame into the targets, through textures of the same formats."""
    gl = raw()
    from OpenGL.raw.GL.VERSION.GL_1_0 import glTexImage2D

    width, height = targets.size
    read = int(gl.glGenFramebuffers(1))
    names: list[int] = []

    def copy(form: str, layout: int, kind: int, data: np.ndarray, place: int, draw: int, mask: int) -> None:
        name = int(gl.glGenTextures(1))
        names.append(name)
        gl.glBindTexture(gl.GL_TEXTURE_2D, name)
        array = np.ascontiguousarray(data)  # the unwrapped call: PyOpenGL's wrapper does not know packed depth
        glTexImage2D(
            gl.GL_TEXTURE_2D, 0, gl_name(form), width, height, 0, layout, kind, ctypes.c_void_p(array.ctypes.data)
        )
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, read)
        gl.glFramebufferTexture2D(gl.GL_READ_FRAMEBUFFER, place, gl.GL_TEXTURE_2D, name, 0)
        if mask == gl.GL_COLOR_BUFFER_BIT:
            gl.glReadBuffer(place)
            gl.glDrawBuffers(1 + draw, [gl.GL_NONE] * draw + [gl.GL_COLOR_ATTACHMENT0 + draw])
        gl.glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, mask, gl.GL_NEAREST)
        gl.glFramebufferTexture2D(gl.GL_READ_FRAMEBUFFER, place, gl.GL_TEXTURE_2D, 0, 0)

    for i, kind in enumerate(kinds):
        data, form = onto.colors[i].numpy(), state.format_of(i)
        if kind == "int":
            copy("RGBA32I", gl.GL_RGBA_INTEGER, gl.GL_INT, data, gl.GL_COLOR_ATTACHMENT0, i, gl.GL_COLOR_BUFFER_BIT)
            continue
        if form == "srgb8_alpha8":
            data = np.concatenate([srgb_encode(data[..., :3]), data[..., 3:]], -1)
        if form != "rgba32f":
            data = np.rint(np.clip(data, 0, 1) * 255).astype(np.uint8)
        copy(
            _FORMAT[form],
            gl.GL_RGBA,
            gl.GL_UNSIGNED_BYTE if form != "rgba32f" else gl.GL_FLOAT,
            data,
            gl.GL_COLOR_ATTACHMENT0,
            i,
            gl.GL_COLOR_BUFFER_BIT,
        )
    packed = np.zeros((height, width), [("depth", np.float32), ("stencil", np.uint32)])
    packed["depth"], packed["stencil"] = onto.depth.numpy(), onto.stencil.numpy()
    copy(
        "DEPTH32F_STENCIL8",
        gl.GL_DEPTH_STENCIL,
        gl.GL_FLOAT_32_UNSIGNED_INT_24_8_REV,
        packed.view(np.uint32),
        gl.GL_DEPTH_STENCIL_ATTACHMENT,
        0,
        gl.GL_DEPTH_BUFFER_BIT | gl.GL_STENCIL_BUFFER_BIT,
    )
    gl.glDeleteFramebuffers(1, [read])
    gl.glDeleteTextures(len(names), names)
    gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, targets.framebuffer)
    targets.draw_all()


def _resolve(many: Targets, single: Targets) -> None:
    gl = raw()
    width, height = many.size
    gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, many.framebuffer)
    gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, single.framebuffer)
    gl.glEnable(gl.GL_FRAMEBUFFER_SRGB)
    for i in range(many.count):
        gl.glReadBuffer(gl.GL_COLOR_ATTACHMENT0 + i)
        gl.glDrawBuffers(1 + i, [gl.GL_NONE] * i + [gl.GL_COLOR_ATTACHMENT0 + i])
        mask = gl.GL_COLOR_BUFFER_BIT | (gl.GL_DEPTH_BUFFER_BIT | gl.GL_STENCIL_BUFFER_BIT if i == 0 else 0)
        gl.glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, mask, gl.GL_NEAREST)
    gl.glDisable(gl.GL_FRAMEBUFFER_SRGB)


def _read(state: State, targets: Targets, kinds: list[str]) -> Frame:
    gl = raw()
    width, height = targets.size
    gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, targets.framebuffer)

    def read(form: int, kind: int, dtype: Any, channels: int) -> np.ndarray:
        out = np.zeros((height, width, channels) if channels > 1 else (height, width), dtype)
        gl.glReadPixels(0, 0, width, height, form, kind, out)
        return out

    colors = []
    for i, kind in enumerate(kinds):
        gl.glReadBuffer(gl.GL_COLOR_ATTACHMENT0 + i)
        if kind == "int":
            colors.append(tensor(read(gl.GL_RGBA_INTEGER, gl.GL_INT, np.int32, 4)))
            continue
        data = read(gl.GL_RGBA, gl.GL_FLOAT, np.float32, 4)
        if state.format_of(i) == "srgb8_alpha8":
            data = np.concatenate([srgb_decode(data[..., :3]), data[..., 3:]], -1)
        colors.append(tensor(data))
    depth = read(gl.GL_DEPTH_COMPONENT, gl.GL_FLOAT, np.float32, 1)
    stencil = read(gl.GL_STENCIL_INDEX, gl.GL_INT, np.int32, 1)
    return Frame(colors, tensor(depth), tensor(stencil))


def srgb_encode(c: np.ndarray) -> np.ndarray:
    """Linear to sRGB, section 17.3.7."""
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * np.maximum(c, 0) ** (1 / 2.4) - 0.055).astype(np.float32)


def srgb_decode(c: np.ndarray) -> np.ndarray:
    """sRGB to linear, section 8.24."""
    return np.where(c <= 0.04045, c / 12.92, ((np.maximum(c, 0) + 0.055) / 1.055) ** 2.4).astype(np.float32)
