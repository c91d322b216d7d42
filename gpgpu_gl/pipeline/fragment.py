"""Fragment shading: the user's fragment shader over fragments packed as quads, on the device's own shader cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.dtypes import float32, int32
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.pipeline.program import Uniforms
from gpgpu_gl.pipeline.quads import Quads
from gpgpu_gl.tensor import Tensor, engine, new

SAMPLERS = ("em_coord", "em_weights", "em_float_slots", "em_int_slots", "em_quads", "em_primitives")
_LAYOUTS = {
    "em_float_slots": "em_float_layout",
    "em_int_slots": "em_int_layout",
    "em_quads": "em_quad_layout",
    "em_primitives": "em_primitive_layout",
}


def shade_fragments(
    program: Any,
    vao: Any,
    uniforms: Uniforms,
    quads: Quads,
    inputs: Mapping[str, Tensor],
    kinds: list[str],
    flip: float,
) -> tuple[list[Tensor], Tensor]:
    """([height, width, 4] of each output by location, and (alive, depth, 0, 1)) of the packed fragments.

    inputs: tensors by the names in SAMPLERS. kinds: "float" or "int" for each location. A discarded fragment has
    alive = 0, and its colours are 0.
    """
    e = engine()
    shape = (*quads.shape, 4)
    colors = [new(shape, int32 if kind == "int" else float32) for kind in kinds]
    alive = new(shape, float32)
    targets = [t.storage for t in (*colors, alive)]
    e.barrier([t.storage for t in inputs.values()], moderngl.TEXTURE_FETCH_BARRIER_BIT)
    e.barrier(targets, moderngl.FRAMEBUFFER_BARRIER_BIT)
    gl = raw()
    unit = uniforms.apply(program)
    for name in SAMPLERS:
        if name in program and name in inputs:
            inputs[name].storage.texture.use(unit)
            gl.glBindSampler(unit, 0)
            program[name].value = unit
            unit += 1
            if name in _LAYOUTS and _LAYOUTS[name] in program:
                program[_LAYOUTS[name]].value = inputs[name].layout.uniform
    if "em_flip" in program:
        program["em_flip"].value = flip
    e.framebuffers.of(targets).use()
    zero, whole = np.zeros(4, np.float32), np.zeros(4, np.int32)
    for i, kind in enumerate([*kinds, "float"]):
        (gl.glClearBufferiv if kind == "int" else gl.glClearBufferfv)(gl.GL_COLOR, i, whole if kind == "int" else zero)
    vao.render(moderngl.TRIANGLES, vertices=3)
    uniforms.unbind()
    return colors, alive
