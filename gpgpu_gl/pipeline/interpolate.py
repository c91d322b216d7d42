"""Interpolation (OpenGL 4.6, section 14.9): window position, weights, and inputs of every packed fragment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpgpu_gl.dtypes import float32
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.glsl import INTERPOLATIONS, Slot
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.pipeline.quads import Quads
from gpgpu_gl.pipeline.setup import Planes
from gpgpu_gl.pipeline.stage import make, run
from gpgpu_gl.tensor import Tensor, new


def place_fragments(quads: Quads, planes: Planes, points: bool) -> tuple[Tensor, Tensor]:
    """(height, width, 4) x, y, depth, 1/w and weights of the packed fragments. Depth is not clamped yet."""
    shape = (*quads.shape, 4)
    coord, weights = new(shape, float32), new(shape, float32)
    inputs = {"quads": quads.table, "planes": planes.anchors, "primitives": planes.table}
    defines = {"POINTS": int(points)}
    run("pipeline_fragments", inputs, [coord, weights], defines, count=len(quads), columns=quads.columns)
    return coord, weights


def interpolate(
    quads: Quads,
    weights: Tensor,
    primitives: Primitives,
    values: Tensor,
    slots: Sequence[Slot],
    planes: Planes,
    points: bool,
    profile: Profile,
) -> Tensor:
    """(fragments, 4 * slots): the inputs of the packed fragments, counted row by row.

    values: (vertices, 4 * slots) what the vertices wrote, floats or int32. With several samples centroid inputs are taken
    at the first sample that is covered, where not all are.
    """
    modes = ", ".join("1" if points else str(INTERPOLATIONS[slot.interpolation]) for slot in slots)
    inputs = {
        "quads": quads.table, "weights": weights, "corners": primitives.table, "table": values, "primitives": planes.table,
    }  # fmt: skip
    defines: dict[str, str | int] = {"SLOTS": len(slots), "MODES": modes, "INTEGERS": int(values.dtype.kind == "i")}
    shape = (quads.shape[0] * quads.shape[1], 4 * len(slots))
    uniforms: dict[str, Any] = {"count": len(quads), "columns": quads.columns}
    if quads.samples > 1 and any(slot.centroid for slot in slots):
        defines |= {"CENTROID": 1, "CENTRE_W": int(profile.centre_w)}
        defines["CENTROIDS"] = ", ".join(str(int(slot.centroid)) for slot in slots)
        inputs |= {"coverage": quads.coverage, "anchors": planes.anchors}
        uniforms["places"] = [(x - 0.5, y - 0.5) for x, y in profile.samples]
    return make("pipeline_interpolate", inputs, shape, values.dtype, defines, **uniforms)
