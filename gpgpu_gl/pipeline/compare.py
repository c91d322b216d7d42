"""Compares a frame of the emulator with the hardware's, by tolerances that each have a reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.pipeline.hardware import srgb_encode
from gpgpu_gl.pipeline.merge import Frame
from gpgpu_gl.pipeline.state import State

# Interpolated values: Mesa's own planes, anchored at the window's corner in float32, are up to 2e-5 off float64.
RELATIVE = 4e-5


@dataclass(frozen=True)
class Difference:
    """Pixels outside the tolerance in any colour target, in depth and in stencil; the largest difference of each."""

    color: int
    depth: int
    stencil: int
    largest_color: float
    largest_depth: float
    where: np.ndarray  # (H, W) the largest colour difference over its tolerance
    levels: int = 0  # pixels that are equal only by the levels that 8-bit textures and targets are allowed

    @property
    def equal(self) -> bool:
        """Whether no pixel is outside the tolerances."""
        return self.color == self.depth == self.stencil == 0

    def __str__(self) -> str:
        if self.equal:
            by = f"; {self.levels} pixels by levels of 8 bits" if self.levels else ""
            return f"equal (largest difference: colour {self.largest_color:.2g}, depth {self.largest_depth:.2g}{by})"
        return f"differs: colour in {self.color} pixels, depth in {self.depth}, stencil in {self.stencil}"


def compare(mine: Frame, theirs: Frame, state: State, levels: float = 0.0) -> Difference:
    """The differences of two frames. levels: the tolerance of colours that went through 8 bits, in steps of 1/255."""
    shape = mine.depth.shape
    over, strict = np.zeros(shape), np.zeros(shape)
    largest = 0.0
    for i, (a, b) in enumerate(zip(mine.colors, theirs.colors, strict=True)):
        x, y = a.numpy().astype(np.float64), b.numpy().astype(np.float64)
        if state.format_of(i) == "srgb8_alpha8":
            x, y = (np.concatenate([srgb_encode(v[..., :3]), v[..., 3:]], -1) for v in (x, y))
        exact = state.format_of(i) == "rgba32f" and not levels
        least = 0.5 if a.dtype.kind == "i" else RELATIVE * np.maximum(np.abs(y), 1)
        tolerance = least if exact or a.dtype.kind == "i" else max(levels, 1.0) / 255 * 1.001
        apart = np.abs(x - y)
        apart[(x == y) | (np.isnan(x) & np.isnan(y))] = 0
        largest = max(largest, float(np.nan_to_num(apart, nan=np.inf).max()))
        over = np.maximum(over, np.nan_to_num(apart / tolerance, nan=np.inf).max(-1))
        strict = np.maximum(strict, np.nan_to_num(apart / least, nan=np.inf).max(-1))
    depth = np.abs(mine.depth.numpy().astype(np.float64) - theirs.depth.numpy())
    stencil = mine.stencil.numpy() != theirs.stencil.numpy()
    return Difference(
        int((over > 1).sum()), int((depth > RELATIVE).sum()), int(stencil.sum()), largest, float(depth.max()), over,
        int(((strict > 1) & (over <= 1)).sum()),
    )  # fmt: skip
