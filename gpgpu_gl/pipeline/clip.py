"""Clipping against the view volume and the user's planes (OpenGL 4.6, section 13.7), in float32 as devices do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpgpu_gl.dtypes import float32, int32
from gpgpu_gl.ops.create import zeros
from gpgpu_gl.ops.shape import concat, getitem
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.expand import Expansion, expand
from gpgpu_gl.pipeline.glsl import INTERPOLATIONS, Slot
from gpgpu_gl.pipeline.stage import make, run
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.pipeline.vertex import Vertices
from gpgpu_gl.tensor import Tensor, new


@dataclass(frozen=True)
class Clipped:
    """vertices: those given and, behind them, the corners of primitives that were cut. primitives: what is left, polygons
    cut into fans. verdicts: (n, 4) int32 for each primitive before clipping, as pipeline_clip_count.glsl has them."""

    vertices: Vertices
    primitives: Primitives
    verdicts: Tensor

    @cached_property
    def _counts(self) -> np.ndarray:
        return np.bincount(self.verdicts.numpy()[:, 0], minlength=4)

    @property
    def cut(self) -> int:
        """Primitives that clipping changed."""
        return int(self._counts[1])

    @property
    def rejected(self) -> int:
        """Primitives wholly outside."""
        return int(self._counts[2])

    @property
    def dropped(self) -> int:
        """Primitives with a position that is no finite number, or is (0, 0, 0, 0)."""
        return int(self._counts[3])

    @property
    def source(self) -> np.ndarray:
        """(n,) the primitive before clipping, of each that is left."""
        return self.primitives.source


def clip(vertices: Vertices, primitives: Primitives, state: State, slots: Sequence[Slot] = ()) -> Clipped:
    """Cuts primitives at the planes. Outputs of new vertices are linear in clip space.

    slots: of the vertices' floats; those with noperspective are linear in the window instead.
    """
    straight = any(slot.interpolation == "noperspective" for slot in slots)
    volume = 4 if state.depth_clamp else 6
    defines: dict[str, str | int] = {
        "SIDES": primitives.sides,
        "VOLUME": volume,
        "USER": state.clip_distances,
        "STRAIGHT": int(straight),
        "ZERO_TO_ONE": int(state.clip_depth == "zero_to_one"),
    }
    inputs = {"primitives": primitives.table, "positions": vertices.positions}
    if state.clip_distances:  # distances that the shader does not write are 0, which is inside
        written = vertices.distances is not None
        inputs["distances"] = vertices.distances if written else zeros((len(vertices), 8))  # type: ignore[assignment]
    verdicts = make("pipeline_clip_count", inputs, (len(primitives), 4), int32, defines)
    left, corners = (expand(getitem(verdicts, (slice(None), column))) for column in (1, 2))
    table = _primitives(primitives, verdicts, left, corners, len(vertices), state)
    if not len(corners):
        return Clipped(vertices, Primitives(table, primitives.sides), verdicts)
    made = [new((len(corners), 4), float32) for _ in range(3 if straight else 2)]
    run("pipeline_clip", inputs | {"owner": corners.owner, "ends": corners.ends}, made, defines)
    grown = replace(
        vertices,
        positions=concat([vertices.positions, made[0]]),
        float_table=_values(vertices.float_table, made, corners, primitives, slots),
        int_table=vertices.int_table,  # integers are flat: the provoking vertex, which was given, has them
    )
    return Clipped(grown, Primitives(table, primitives.sides), verdicts)


def _primitives(
    primitives: Primitives, verdicts: Tensor, left: Expansion, corners: Expansion, vertices: int, state: State
) -> Tensor:
    inputs = {
        "primitives": primitives.table, "verdicts": verdicts, "owner": left.owner, "ends": left.ends,
        "corner_ends": corners.ends,
    }  # fmt: skip
    defines: dict[str, str | int] = {"SIDES": primitives.sides, "PROVOKING_LAST": int(state.provoking == "last")}
    return make("pipeline_clip_primitives", inputs, (len(left), 8), int32, defines, vertices=vertices)


def _values(
    table: Tensor | None, made: Sequence[Tensor], corners: Expansion, primitives: Primitives, slots: Sequence[Slot]
) -> Tensor | None:
    """The vertices' outputs with those of the new corners behind them."""
    if table is None:
        return None
    modes = ", ".join(str(INTERPOLATIONS[slot.interpolation]) for slot in slots)
    straight = len(made) > 2
    defines: dict[str, str | int] = {"SLOTS": len(slots), "MODES": modes, "STRAIGHT": int(straight)}
    inputs = {"shares": made[1], "owner": corners.owner, "primitives": primitives.table, "table": table}
    if straight:
        inputs["straight"] = made[2]
    return concat([table, make("pipeline_clip_values", inputs, (len(corners), table.shape[1]), float32, defines)])
