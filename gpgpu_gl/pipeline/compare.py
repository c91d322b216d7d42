"""Compares a frame of the emulator with the hardware's, by tolerances that each have a reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.pipeline.hardware import srgb_encode
from gpgpu_gl.pipeline.merge import Frame
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.pipeline.trace import Trace

# Interpolated values: Mesa's own planes, anchored at the window's corner in float32, are up to 2e-5 off float64.
RELATIVE = 4e-5


@dataclass(frozen=True)
class Difference:
    """Pixels outside the tolerance in any colour target, in depth and in stencil; the largest difference of each.

    allowed: pixels that are equal only by what is allowed to colours that went through 8 bits.
    """

    color: int
    depth: int
    stencil: int
    largest_color: float
    largest_depth: float
    allowed: int
    where: np.ndarray  # (H, W) the largest colour difference over its tolerance

    @property
    def equal(self) -> bool:
        """Whether no pixel is outside the tolerances."""
        return self.color == self.depth == self.stencil == 0

    def __str__(self) -> str:
        if self.equal:
            rounded = f"; {self.allowed} pixels rounded otherwise in 8 bits" if self.allowed else ""
            return f"equal (largest difference: colour {self.largest_color:.2g}, depth {self.largest_depth:.2g}{rounded})"
        return f"differs: colour in {self.color} pixels, depth in {self.depth}, stencil in {self.stencil}"


def compare(trace: Trace, theirs: Frame, state: State, levels: float = 0.0) -> Difference:
    """The differences of a trace's frame and the hardware's.

    levels: how far colours may be apart, in steps of 1/255, because they come from 8-bit textures: Mesa's software
    rasteriser filters those in 8-bit fixed point, where a difference of 1e-6 in a coordinate can give the next level. In
    8-bit targets one level for each blend at that pixel comes on top (at least one in all), as devices round blends and
    encode sRGB in their own ways; with several samples the mean over them, and one level for the resolve.
    """
    mine = trace.frame
    shape = mine.depth.shape
    over, allowed = np.zeros(shape), np.zeros(shape, bool)
    blends = trace.overdraw.numpy().astype(np.float64)[..., None] / state.samples + (state.samples > 1)
    largest = 0.0
    for i, (a, b) in enumerate(zip(mine.colors, theirs.colors, strict=True)):
        x, y = a.numpy().astype(np.float64), b.numpy().astype(np.float64)
        if state.format_of(i) == "srgb8_alpha8":
            x, y = (np.concatenate([srgb_encode(v[..., :3]), v[..., 3:]], -1) for v in (x, y))
        close = RELATIVE * np.maximum(np.abs(y), 1)
        if a.dtype.kind == "i":
            tolerance = np.full_like(y, 0.5)
        elif state.format_of(i) == "rgba32f":
            tolerance = np.maximum(close, levels / 255 * 1.001)
        else:
            tolerance = np.maximum(levels + (blends if state.blend_of(i) else 0), 1) / 255 * 1.001 + 0 * y
        apart = np.abs(x - y)
        apart[(x == y) | (np.isnan(x) & np.isnan(y))] = 0
        largest = max(largest, float(np.nan_to_num(apart, nan=np.inf).max()))
        over = np.maximum(over, np.nan_to_num(apart / tolerance, nan=np.inf).max(-1))
        allowed |= ((apart > close) & (apart <= tolerance)).any(-1)
    depth = np.abs(mine.depth.numpy().astype(np.float64) - theirs.depth.numpy())
    stencil = mine.stencil.numpy() != theirs.stencil.numpy()
    return Difference(
        int((over > 1).sum()), int((depth > RELATIVE).sum()), int(stencil.sum()), largest, float(depth.max()),
        int((allowed & (over <= 1)).sum()), over,
    )
