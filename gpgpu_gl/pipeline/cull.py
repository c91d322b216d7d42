"""Facing and culling (OpenGL 4.6, section 14.6.1), on positions snapped to the subpixel grid."""

from __future__ import annotations

import numpy as np

from gpgpu_gl.pipeline.state import State


def snap(window: np.ndarray, bits: int) -> np.ndarray:
    """(..., 2) window positions as integers in units of 2**-bits pixel, rounded to nearest even."""
    return np.rint(window[..., :2] * np.float32(1 << bits)).astype(np.int64)


def area(snapped: np.ndarray) -> np.ndarray:
    """(n,) twice the signed areas of (n, 3, 2) triangles; positive is counter-clockwise with y up."""
    a, b, c = snapped[:, 0], snapped[:, 1], snapped[:, 2]
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])


def facing(areas: np.ndarray, state: State) -> np.ndarray:
    """(n,) whether each triangle shows its front. The upper left origin turns the picture, not the geometry."""
    counter = areas > 0
    turned = (state.front_face == "cw") != (state.clip_origin == "upper_left")
    return counter != turned


def cull(areas: np.ndarray, front: np.ndarray, state: State) -> np.ndarray:
    """(n,) which triangles go on: those with an area and with a face that is not culled."""
    kept = areas != 0
    if state.cull == "front_and_back":
        return np.zeros_like(kept)
    if state.cull is not None:
        kept &= front if state.cull == "back" else ~front
    return kept
