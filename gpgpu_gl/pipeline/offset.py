"""Polygon offset (OpenGL 4.6, section 14.6.5): factor * m + units * r, m the largest depth slope."""

from __future__ import annotations

from gpgpu_gl.dtypes import float32
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import Tensor


def polygon_offset(planes: Tensor, primitives: Primitives, window: Tensor, state: State) -> Tensor:
    """The (n, 12) planes of triangles with what is added to their depths as the last element."""
    if state.polygon_offset is None:
        return planes
    inputs = {"planes": planes, "primitives": primitives.table, "window": window}
    return make("pipeline_offset", inputs, planes.shape, float32, offset=tuple(map(float, state.polygon_offset)))
