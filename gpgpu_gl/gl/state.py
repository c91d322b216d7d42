"""The GL state that passes need or touch: set before a pass, and put back for a host application afterwards.

Each piece of state is one row of ROWS. A pass that touches more than these adds its row here.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import moderngl

from gpgpu_gl.errors import DeviceError
from gpgpu_gl.gl.raw import get_floats, get_integer64, get_integers, raw

TEXTURE_UNITS = 16  # every OpenGL 3.3 fragment shader may use 16, and no pass uses more
IMAGE_UNITS = 8  # as many as OpenGL 4.2 guarantees
DRAW_BUFFERS = 8  # as many as OpenGL 3.3 guarantees
UNIFORM_BUFFERS = 4
VIEWPORTS = 16  # as many as OpenGL 4.1 guarantees
_MOST_ERRORS = 16  # a lost context may go on reporting errors for ever
GL_DITHER = 0x0BD0


@dataclass(frozen=True)
class Row:
    """One piece of GL state.

    get() reads it and put(value) sets it. needed: the value that a pass needs, None where any will do or where the
    pass sets it itself. versions: the first OpenGL version with this row, and the first without it.
    """

    name: str
    get: Callable[[], Any]
    put: Callable[[Any], None]
    needed: Any = None
    versions: tuple[int, int] = (330, 1000)


def rows(version_code: int, unit: int) -> list[Row]:
    """The rows of a context of this OpenGL version, in the order in which they can be set.

    unit: the texture unit that moderngl uploads through, saved besides the first sixteen.
    """
    gl = raw()
    table = [
        *(_flag(name) for name in _OFF),
        *(_flag(name, versions=(version, 1000)) for name, version in _OFF_SINCE),
        *(_flag(f"GL_CLIP_DISTANCE{i}") for i in range(8)),
        *(_indexed_flag("GL_BLEND", i) for i in range(DRAW_BUFFERS)),
        _flag("GL_SCISSOR_TEST", versions=(330, 410)),
        *(_indexed_flag("GL_SCISSOR_TEST", i, versions=(410, 1000)) for i in range(VIEWPORTS)),
        *(_color_mask(i) for i in range(DRAW_BUFFERS)),
        Row("GL_DEPTH_WRITEMASK", lambda: _integer("GL_DEPTH_WRITEMASK"), gl.glDepthMask),
        _one("GL_POLYGON_MODE", lambda mode: gl.glPolygonMode(gl.GL_FRONT_AND_BACK, mode), gl.GL_FILL),
        _one("GL_CLAMP_READ_COLOR", lambda v: gl.glClampColor(gl.GL_CLAMP_READ_COLOR, v), gl.GL_FIXED_ONLY),
        _one("GL_PROVOKING_VERTEX", gl.glProvokingVertex, gl.GL_LAST_VERTEX_CONVENTION),
        Row(
            "clip control",
            lambda: (_integer("GL_CLIP_ORIGIN"), _integer("GL_CLIP_DEPTH_MODE")),
            lambda v: gl.glClipControl(*v),
            (gl.GL_LOWER_LEFT, gl.GL_NEGATIVE_ONE_TO_ONE),
            (450, 1000),
        ),
        *(_pixel_store(name, default) for name, default in _PIXEL_STORE),
        *(_buffer(binding, target) for binding, target in _BUFFERS),
        *(_uniform_buffer(i) for i in range(UNIFORM_BUFFERS)),
        _one("GL_UNIFORM_BUFFER_BINDING", lambda v: gl.glBindBuffer(gl.GL_UNIFORM_BUFFER, v)),  # after its ranges
        _one("GL_RENDERBUFFER_BINDING", lambda v: gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, v)),
        _one("GL_DRAW_FRAMEBUFFER_BINDING", lambda v: gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, v)),
        _one("GL_READ_FRAMEBUFFER_BINDING", lambda v: gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, v)),
        _one("GL_CURRENT_PROGRAM", gl.glUseProgram),
        _one("GL_VERTEX_ARRAY_BINDING", gl.glBindVertexArray),
        _floats("GL_VIEWPORT", lambda v: gl.glViewport(*map(int, v)), versions=(330, 410)),
        *(_viewport(i) for i in range(VIEWPORTS)),
        Row(
            "GL_SCISSOR_BOX",
            lambda: get_integers(gl.GL_SCISSOR_BOX, 4),
            lambda v: gl.glScissor(*v),
            versions=(330, 410),
        ),
        *(_scissor_box(i) for i in range(VIEWPORTS)),
        _floats("GL_COLOR_CLEAR_VALUE", lambda v: gl.glClearColor(*v)),
        *(_image_unit(i) for i in range(IMAGE_UNITS)),
        *(_texture_unit(i) for i in (*range(TEXTURE_UNITS), unit)),
        _one("GL_ACTIVE_TEXTURE", gl.glActiveTexture),  # last, since the rows of the units change it
    ]
    return [row for row in table if row.versions[0] <= version_code < row.versions[1]]


# Switches that have to be off: each would drop, blend, move or round what a pass writes.
_OFF = (
    "GL_CULL_FACE", "GL_DEPTH_TEST", "GL_STENCIL_TEST", "GL_FRAMEBUFFER_SRGB", "GL_RASTERIZER_DISCARD",
    "GL_COLOR_LOGIC_OP", "GL_DITHER", "GL_POLYGON_SMOOTH", "GL_PRIMITIVE_RESTART",
    "GL_POLYGON_OFFSET_FILL", "GL_POLYGON_OFFSET_LINE", "GL_POLYGON_OFFSET_POINT",  # llvmpipe takes one for all
    "GL_DEPTH_CLAMP", "GL_SAMPLE_ALPHA_TO_COVERAGE", "GL_SAMPLE_ALPHA_TO_ONE", "GL_SAMPLE_COVERAGE", "GL_SAMPLE_MASK",
)  # fmt: skip
_OFF_SINCE = (("GL_SAMPLE_SHADING", 400), ("GL_PRIMITIVE_RESTART_FIXED_INDEX", 430))

_PIXEL_STORE = tuple(
    (f"GL_{way}_{name}", default)
    for way in ("PACK", "UNPACK")
    for name, default in (
        ("SWAP_BYTES", 0), ("LSB_FIRST", 0), ("ROW_LENGTH", 0), ("IMAGE_HEIGHT", 0),
        ("SKIP_ROWS", 0), ("SKIP_PIXELS", 0), ("SKIP_IMAGES", 0), ("ALIGNMENT", 4),
    )
)  # fmt: skip

_BUFFERS = (  # (binding, target); a bound pixel buffer would turn the addresses of reads and uploads into offsets
    ("GL_PIXEL_PACK_BUFFER_BINDING", "GL_PIXEL_PACK_BUFFER"),
    ("GL_PIXEL_UNPACK_BUFFER_BINDING", "GL_PIXEL_UNPACK_BUFFER"),
    ("GL_ARRAY_BUFFER_BINDING", "GL_ARRAY_BUFFER"),
    ("GL_COPY_READ_BUFFER", "GL_COPY_READ_BUFFER"),
    ("GL_COPY_WRITE_BUFFER", "GL_COPY_WRITE_BUFFER"),
)

_TEXTURES = (  # (target, binding)
    ("GL_TEXTURE_2D", "GL_TEXTURE_BINDING_2D"),
    ("GL_TEXTURE_2D_ARRAY", "GL_TEXTURE_BINDING_2D_ARRAY"),
    ("GL_TEXTURE_2D_MULTISAMPLE", "GL_TEXTURE_BINDING_2D_MULTISAMPLE"),
)


def _integer(name: str, index: int | None = None) -> int:
    return get_integers(getattr(raw(), name), 1, index)[0]


def _one(name: str, put: Callable[[int], None], needed: int | None = None) -> Row:
    return Row(name, lambda: _integer(name), put, needed)


def _floats(name: str, put: Callable[[tuple[float, ...]], None], versions: tuple[int, int] = (330, 1000)) -> Row:
    return Row(name, lambda: get_floats(getattr(raw(), name), 4), put, versions=versions)


def _flag(name: str, versions: tuple[int, int] = (330, 1000)) -> Row:
    gl, flag = raw(), getattr(raw(), name)
    return Row(
        name,
        lambda: bool(gl.glIsEnabled(flag)),
        lambda on: gl.glEnable(flag) if on else gl.glDisable(flag),
        False,
        versions,
    )


def _indexed_flag(name: str, index: int, versions: tuple[int, int] = (330, 1000)) -> Row:
    gl, flag = raw(), getattr(raw(), name)
    return Row(
        f"{name}[{index}]",
        lambda: bool(gl.glIsEnabledi(flag, index)),
        lambda on: gl.glEnablei(flag, index) if on else gl.glDisablei(flag, index),
        False,
        versions,
    )


def _color_mask(index: int) -> Row:
    gl = raw()
    return Row(
        f"GL_COLOR_WRITEMASK[{index}]",
        lambda: get_integers(gl.GL_COLOR_WRITEMASK, 4, index),
        lambda mask: gl.glColorMaski(index, *mask),
        (1, 1, 1, 1),
    )


def _pixel_store(name: str, default: int) -> Row:
    gl = raw()
    return _one(name, lambda value: gl.glPixelStorei(getattr(gl, name), value), default)


def _buffer(binding: str, target: str) -> Row:
    gl = raw()
    return _one(
        binding,
        lambda buffer: gl.glBindBuffer(getattr(gl, target), buffer),
        0 if "PIXEL" in target else None,
    )


def _uniform_buffer(index: int) -> Row:
    gl = raw()

    def get() -> tuple[int, int, int]:
        start, size = (get_integer64(name, index) for name in (gl.GL_UNIFORM_BUFFER_START, gl.GL_UNIFORM_BUFFER_SIZE))
        return _integer("GL_UNIFORM_BUFFER_BINDING", index), start, size

    def put(value: tuple[int, int, int]) -> None:
        buffer, start, size = value
        if size:
            gl.glBindBufferRange(gl.GL_UNIFORM_BUFFER, index, buffer, start, size)
        else:  # bound whole, or not at all
            gl.glBindBufferBase(gl.GL_UNIFORM_BUFFER, index, buffer)

    return Row(f"GL_UNIFORM_BUFFER[{index}]", get, put)


def _viewport(index: int) -> Row:
    gl = raw()
    return Row(
        f"GL_VIEWPORT[{index}]",
        lambda: get_floats(gl.GL_VIEWPORT, 4, index),
        lambda box: gl.glViewportIndexedf(index, *box),
        versions=(410, 1000),
    )


def _scissor_box(index: int) -> Row:
    gl = raw()
    return Row(
        f"GL_SCISSOR_BOX[{index}]",
        lambda: get_integers(gl.GL_SCISSOR_BOX, 4, index),
        lambda box: gl.glScissorIndexed(index, *box),
        versions=(410, 1000),
    )


_IMAGE = ("NAME", "LEVEL", "LAYERED", "LAYER", "ACCESS", "FORMAT")


def _image_unit(index: int) -> Row:
    gl = raw()
    return Row(
        f"GL_IMAGE[{index}]",
        lambda: tuple(_integer(f"GL_IMAGE_BINDING_{name}", index) for name in _IMAGE),
        lambda binding: gl.glBindImageTexture(index, *binding),
        versions=(420, 1000),
    )


def _texture_unit(unit: int) -> Row:
    gl = raw()

    def get() -> tuple[int, ...]:
        active = _integer("GL_ACTIVE_TEXTURE")
        gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
        found = tuple(_integer(name) for name in ("GL_SAMPLER_BINDING", *(binding for _, binding in _TEXTURES)))
        gl.glActiveTexture(active)
        return found

    def put(value: tuple[int, ...]) -> None:
        gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
        gl.glBindSampler(unit, value[0])
        for (target, _), texture in zip(_TEXTURES, value[1:], strict=True):
            gl.glBindTexture(getattr(gl, target), texture)

    return Row(f"GL_TEXTURE{unit}", get, put, (0,) * (1 + len(_TEXTURES)))


_cached_rows = functools.lru_cache(maxsize=8)(rows)


def prepare_state(ctx: moderngl.Context) -> None:
    """Sets what passes need in a new context of our own: of all defaults, only dithering differs from it."""
    ctx.disable_direct(GL_DITHER)


def unbind_framebuffer(ctx: moderngl.Context) -> None:
    """Binds the default framebuffer. Call it before framebuffers are released.

    moderngl binds again what it believes to be bound whenever it makes a framebuffer, and the name of a deleted one is
    an error.
    """
    ctx.detect_framebuffer(0).use()


@contextlib.contextmanager
def saved_state(ctx: moderngl.Context) -> Iterator[None]:
    """Within: the GL state that passes need. On leaving: the state that the host application had.

    Errors that the host left behind are reported as a RuntimeWarning, since they would be taken for our own.
    Raises DeviceError when a state cannot be read or set, naming it.
    """
    stale: list[str] = []
    while len(stale) < _MOST_ERRORS and (error := ctx.error) != "GL_NO_ERROR":
        stale.append(error)
    if stale:
        warnings.warn(f"The host application left an OpenGL error behind: {', '.join(stale)}", RuntimeWarning, 4)
    table = _cached_rows(ctx.version_code, ctx.mglo.default_texture_unit)
    values = [_named(row, row.get) for row in table]
    framebuffer, framebuffer_object = ctx.fbo, ctx.mglo.fbo  # what moderngl believes to be bound
    try:
        for row, value in zip(table, values, strict=True):
            if row.needed is not None and row.needed != value:
                _named(row, functools.partial(row.put, row.needed))
        yield
    finally:
        for row, value in zip(table, values, strict=True):
            _named(row, functools.partial(row.put, value))
        ctx.fbo, ctx.mglo.fbo = framebuffer, framebuffer_object


def _named(row: Row, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # PyOpenGL's GLError, or NullFunctionError for a call that the driver lacks
        raise DeviceError(f"The GL state {row.name} of the host cannot be kept: {error}") from error
