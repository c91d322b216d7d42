"""Rasterisation set-up: every primitive as a convex figure of up to four fixed-point edge functions.

An edge is a triple (c, dx, dy): a sample at (x, y), in subpixels, is inside where c + dx * y - dy * x >= 0. The tie rule
is part of c: an edge that does not own the samples on it has c less 1. All of it is exact, c in 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpgpu_gl.dtypes import int32
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.pipeline.stage import run
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import Tensor, new

TRIANGLE, LINE, RECTANGLE, POINT = range(4)


@dataclass(frozen=True)
class Edges:
    """c_low, c_high, dx, dy: (n, 4) int32, an edge to a column, c in two words. boxes: (n, 4) int32, the first and the last
    subpixel that may be inside: x, y, x, y."""

    c_low: Tensor
    c_high: Tensor
    dx: Tensor
    dy: Tensor
    boxes: Tensor

    def __len__(self) -> int:
        return self.c_low.shape[0]


def figure(state: State) -> int:
    """What is rasterised: with several samples a line is a rectangle."""
    if state.primitive == "lines":
        return LINE if state.samples == 1 else RECTANGLE
    return TRIANGLE if state.primitive == "triangles" else POINT


def own_size(state: State, sizes: Tensor | None) -> bool:
    """Whether the vertex shader sets the size of points."""
    return state.primitive == "points" and sizes is not None and state.point_size is None


def find_edges(primitives: Primitives, window: Tensor, sizes: Tensor | None, state: State, profile: Profile) -> Edges:
    """The edges of primitives with (vertices, 4) window positions; sizes: (vertices, 4) of points, where they have them.

    Sizes that the vertex shader sets end at the viewport's border where the device cuts them there.
    """
    out = [new((len(primitives), 4), int32) for _ in range(5)]
    bits, own = profile.subpixel_bits, own_size(state, sizes)
    inputs = {"primitives": primitives.table, "window": window}
    if own and sizes is not None:
        inputs["sizes"] = sizes
    border = own and state.viewport is not None and profile.cuts_points
    x, y, width, height = state.viewport or (0, 0, 0, 0)
    defines: dict[str, str | int] = {
        "FIGURE": figure(state), "LEFT": int(profile.left), "BOTTOM": int(profile.owns_bottom(state.clip_origin)),
        "EXACT_ENDS": int(profile.exact_ends), "HALVES_EVEN": int(profile.halves_even), "OWN_SIZE": int(own),
        "DROPS_LINES": int(profile.drops_lines), "BORDER": int(border),
    }  # fmt: skip
    uniforms = {
        "bits": bits, "size": float(state.point_size or 1.0), "first": 0.5 if state.samples == 1 else 0.0,
        "border": (x << bits, y << bits, (x + width) << bits, (y + height) << bits),
    }  # fmt: skip
    run("pipeline_edges", inputs, out, defines, **uniforms)
    return Edges(*out)
