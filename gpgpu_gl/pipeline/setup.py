"""Interpolation set-up: barycentric weights and depth of every primitive as planes over the window.

The planes come from unsnapped positions, which OpenGL asks for. They are anchored at each tile, where the weights are
computed without a loss, so that the float32 steps inside a tile lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpgpu_gl.dtypes import float32
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.bins import Pairs
from gpgpu_gl.pipeline.edges import figure, own_size
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import Tensor


@dataclass(frozen=True)
class Planes:
    """table: (n, 12) the change per pixel in x and y of the three weights and of the depth, then 1/w at the corners and the
    polygon offset. anchors: (pairs, 4) weights and depth at the centre of the first pixel of each pair's tile."""

    table: Tensor
    anchors: Tensor

    @cached_property
    def slope(self) -> np.ndarray:
        """(n, 4, 2) the change per pixel in x and y of the weights and of the depth, on the host."""
        return self.table.numpy()[:, :8].reshape(-1, 4, 2)


def find_planes(primitives: Primitives, window: Tensor, sizes: Tensor | None, state: State, bits: int) -> Tensor:
    """The (n, 12) planes of primitives with (vertices, 4) window positions: slopes, 1/w, and 0 for the polygon offset."""
    own = own_size(state, sizes)
    inputs = {"primitives": primitives.table, "window": window}
    if own and sizes is not None:
        inputs["sizes"] = sizes
    defines: dict[str, str | int] = {"FIGURE": figure(state), "OWN_SIZE": int(own)}
    size = float(state.point_size or 1.0)
    return make("pipeline_setup", inputs, (len(primitives), 12), float32, defines, bits=bits, size=size)


def anchor(
    table: Tensor, pairs: Pairs, primitives: Primitives, window: Tensor, state: State, profile: Profile
) -> Planes:
    """The planes with their values at the tile of every pair."""
    inputs = {"pairs": pairs.table, "primitives": primitives.table, "window": window, "planes": table}
    uniforms: dict[str, int | float] = {"bits": profile.subpixel_bits}
    if state.primitive != "triangles":
        ahead = profile.lines_ahead if state.primitive == "lines" else profile.points_ahead
        uniforms["centre"] = 1.0 if ahead and state.samples > 1 else 0.5
    anchors = make("pipeline_anchor", inputs, (len(pairs), 4), float32, {"FIGURE": figure(state)}, **uniforms)
    return Planes(table, anchors)
