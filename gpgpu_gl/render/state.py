"""GL state that drawing sets beyond what passes do, and how it is put back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import moderngl

from gpgpu_gl.gl.raw import get_floats, get_integers, raw
from gpgpu_gl.gl.state import Row

# Switches that drawing turns on; passes need them off.
DEPTH_TEST, CULL_FACE, BLEND, FRAMEBUFFER_SRGB, POLYGON_OFFSET_FILL, PROGRAM_POINT_SIZE = (
    0x0B71, 0x0B44, 0x0BE2, 0x8DB9, 0x8037, 0x8642,
)  # fmt: skip
SWITCHES = (DEPTH_TEST, CULL_FACE, BLEND, FRAMEBUFFER_SRGB, POLYGON_OFFSET_FILL)


def _more_rows() -> list[Row]:
    gl = raw()

    def integer(name: str) -> int:
        return get_integers(getattr(gl, name))[0]

    blend = ("GL_BLEND_SRC_RGB", "GL_BLEND_DST_RGB", "GL_BLEND_SRC_ALPHA", "GL_BLEND_DST_ALPHA")
    equation = ("GL_BLEND_EQUATION_RGB", "GL_BLEND_EQUATION_ALPHA")
    offset = ("GL_POLYGON_OFFSET_FACTOR", "GL_POLYGON_OFFSET_UNITS")
    return [
        Row("GL_DEPTH_FUNC", lambda: integer("GL_DEPTH_FUNC"), gl.glDepthFunc),
        Row("GL_BLEND_FUNC", lambda: tuple(map(integer, blend)), lambda v: gl.glBlendFuncSeparate(*v)),
        Row("GL_BLEND_EQUATION", lambda: tuple(map(integer, equation)), lambda v: gl.glBlendEquationSeparate(*v)),
        Row("GL_CULL_FACE_MODE", lambda: integer("GL_CULL_FACE_MODE"), gl.glCullFace),
        Row("GL_FRONT_FACE", lambda: integer("GL_FRONT_FACE"), gl.glFrontFace),
        Row(
            "GL_POLYGON_OFFSET",
            lambda: tuple(get_floats(getattr(gl, name), 1)[0] for name in offset),
            lambda v: gl.glPolygonOffset(*v),
        ),
        Row(
            "GL_PROGRAM_POINT_SIZE",
            lambda: integer("GL_PROGRAM_POINT_SIZE"),
            lambda on: (gl.glEnable if on else gl.glDisable)(gl.GL_PROGRAM_POINT_SIZE),
        ),
        Row("GL_DEPTH_CLEAR_VALUE", lambda: get_floats(gl.GL_DEPTH_CLEAR_VALUE, 1)[0], gl.glClearDepth),
        Row("GL_DEPTH_RANGE", lambda: get_floats(gl.GL_DEPTH_RANGE, 2), lambda v: gl.glDepthRange(*v)),
    ]


def plain_state(ctx: moderngl.Context, sampled: set[int]) -> None:
    """What passes need, after a drawing: its switches off, and no samplers over the textures' own settings.

    sampled: the units that have a sampler. Others are left alone: unbinding nothing still has the driver look anew.
    """
    for switch in SWITCHES:
        ctx.disable_direct(switch)
    while sampled:
        unit = sampled.pop()
        ctx.clear_samplers(unit, unit + 1)


@contextlib.contextmanager
def kept_state(ctx: moderngl.Context, hosted: bool, sampled: set[int]) -> Iterator[None]:
    """Within: any of these may be set. On leaving they are off, and a host's other settings are put back."""
    rows = _more_rows() if hosted else []
    values = [row.get() for row in rows]
    believed = (ctx.front_face, ctx.cull_face) if hosted else None
    if hosted:
        raw().glDepthRange(0.0, 1.0)
        raw().glBlendEquation(raw().GL_FUNC_ADD)
    try:
        yield
    finally:
        plain_state(ctx, sampled)
        if believed is not None:
            ctx.front_face, ctx.cull_face = believed
        for row, value in zip(rows, values, strict=True):
            row.put(value)
