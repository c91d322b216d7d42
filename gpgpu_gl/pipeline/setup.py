"""Interpolation set-up: barycentric weights and depth of every primitive as planes over the window.

The planes come from unsnapped positions. They are computed in float64 and anchored at each tile, so that the float32
steps inside a tile lose nothing; what a device loses by anchoring at the window's corner is its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.pipeline.bins import TILE, Pairs


@dataclass
class Planes:
    """anchor: (n, 2) a window position. value: (n, 4) the three weights and the depth there. slope: (n, 4, 2) their
    change per pixel in x and y. inverse_w: (n, 3) 1/w at the corners."""

    anchor: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    inverse_w: np.ndarray

    def at(self, pairs: Pairs) -> np.ndarray:
        """(pairs, 4) float32: weights and depth at the centre of the first pixel of each pair's tile."""
        place = np.stack([pairs.x * TILE + 0.5, pairs.y * TILE + 0.5], -1)
        which = pairs.primitive
        way = place - self.anchor[which]
        slope = self.slope[which]
        return (self.value[which] + slope[..., 0] * way[:, :1] + slope[..., 1] * way[:, 1:]).astype(np.float32)

    def rows(self) -> np.ndarray:
        """(n, 12) float32 for the kernels: slopes in x and y of each plane, then 1/w of the corners."""
        return np.concatenate([self.slope.reshape(-1, 8), self.inverse_w, np.zeros((len(self.anchor), 1))], 1).astype(
            np.float32
        )


def triangle_planes(window: np.ndarray) -> Planes:
    """Planes of triangles with (n, 3, 4) window positions x, y, depth, 1/w."""
    p = window.astype(np.float64)
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    with np.errstate(all="ignore"):  # a sliver may have an area on the grid and none off it
        inverse = np.where(area != 0, 1 / area, 0)[:, None]
    weights = (
        np.stack([np.roll(y, -1, 1) - np.roll(y, -2, 1), np.roll(x, -2, 1) - np.roll(x, -1, 1)], -1)
        * inverse[..., None]
    )
    value = np.concatenate([np.tile([1.0, 0.0, 0.0], (len(p), 1)), z[:, :1]], 1)
    depth = (weights * z[..., None]).sum(1, keepdims=True)
    return Planes(p[:, 0, :2], value, np.concatenate([weights, depth], 1), p[..., 3])


def line_planes(window: np.ndarray, samples: int = 1) -> Planes:
    """Planes of lines with (n, 2, 4) window positions: linear along the major axis, as section 14.5.1 allows; along the
    line itself with several samples."""
    p = window.astype(np.float64)
    d = p[:, 1, :2] - p[:, 0, :2]
    with np.errstate(all="ignore"):
        if samples > 1:
            along = np.where((d != 0).any(1, keepdims=True), d / (d**2).sum(1, keepdims=True), 0)
        else:
            major = np.abs(d) == np.abs(d).max(1, keepdims=True)
            major[:, 1] &= ~major[:, 0]
            along = np.where(major & (d != 0), 1 / d, 0)
    slope = np.stack([-along, along, np.zeros_like(along), along * (p[:, 1, 2] - p[:, 0, 2])[:, None]], 1)
    value = np.concatenate([np.tile([1.0, 0.0, 0.0], (len(p), 1)), p[:, 0, 2:3]], 1)
    return Planes(p[:, 0, :2], value, slope, p[:, [0, 1, 1], 3])


def point_planes(window: np.ndarray, sides: np.ndarray, bits: int) -> Planes:
    """Planes of points with (n, 4) window positions: one value all over, and gl_PointCoord for the other two weights.

    gl_PointCoord runs over a square of the size that was snapped (sides, in subpixels), around the position that was not.
    """
    p, one = window.astype(np.float64), np.ones(len(window))
    slope = np.zeros((len(p), 4, 2))
    slope[:, 1, 0], slope[:, 2, 1] = (1 << bits) / sides, -(1 << bits) / sides
    return Planes(p[:, :2], np.stack([one, one / 2, one / 2, p[:, 2]], -1), slope, p[:, [3, 3, 3]])
