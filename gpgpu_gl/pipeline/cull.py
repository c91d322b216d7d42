"""Facing and culling of triangles (OpenGL 4.6, section 14.6.1), on positions snapped to the subpixel grid."""

from __future__ import annotations

from gpgpu_gl.dtypes import int32
from gpgpu_gl.ops.shape import getitem
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.expand import expand
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import Tensor

_CULLED = {None: 0, "front": 1, "back": 2, "front_and_back": 3}


def cull(primitives: Primitives, window: Tensor, state: State, bits: int) -> Primitives:
    """The triangles with an area and a face that is not culled, each with the face that it shows.

    window: (vertices, 4) positions; bits: of the subpixel grid. The upper left origin turns the picture, not the geometry.
    """
    turned = (state.front_face == "cw") != (state.clip_origin == "upper_left")
    inputs = {"primitives": primitives.table, "window": window}
    defines: dict[str, str | int] = {"TURNED": int(turned), "CULL": _CULLED[state.cull]}
    table = make("pipeline_cull", inputs, (len(primitives), 8), int32, defines, bits=bits)
    return Primitives(table, primitives.sides).taken(expand(getitem(table, (slice(None), 7))))
