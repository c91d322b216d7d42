"""Polygon offset (OpenGL 4.6, section 14.6.5): factor * m + units * r, m the largest depth slope."""

from __future__ import annotations

from gpgpu_gl.dtypes import float32
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import Tensor, engine, new


def polygon_offset(planes: Tensor, primitives: Primitives, window: Tensor, state: State) -> Tensor:
    """The (n, 12) planes of triangles with what is added to their depths as the last element."""
    if state.polygon_offset is None:
        return planes
    out = new(planes.shape, float32)
    inputs = {"planes": planes.operand, "primitives": primitives.table.operand, "window": window.operand}
    uniforms = {"offset": tuple(map(float, state.polygon_offset))}
    engine().run(Pass("pipeline_offset", inputs, (out.operand,), uniforms=uniforms))
    return out
