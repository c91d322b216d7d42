"""Perspective divide and viewport transform (OpenGL 4.6, sections 13.6 and 13.8), in float32 as devices do."""

from __future__ import annotations

import numpy as np

from gpgpu_gl.pipeline.state import State

F = np.float32


def divide(clip: np.ndarray) -> np.ndarray:
    """(n, 4) clip positions to (n, 4) normalised device coordinates x, y, z and 1/w."""
    with np.errstate(all="ignore"):
        inverse = F(1) / clip[:, 3]
        return np.concatenate([clip[:, :3] * inverse[:, None], inverse[:, None]], 1).astype(F)


def viewport(ndc: np.ndarray, state: State, size: tuple[int, int]) -> np.ndarray:
    """(n, 4) window positions: x and y in pixels from the lower left, depth, 1/w."""
    x, y, width, height = state.viewport or (0, 0, *size)
    near, far = (F(min(max(v, 0.0), 1.0)) for v in state.depth_range)
    up = F(-1) if state.clip_origin == "upper_left" else F(1)
    zero_to_one = state.clip_depth == "zero_to_one"
    scale = np.array([F(width) / F(2), up * F(height) / F(2), far - near if zero_to_one else (far - near) / F(2)], F)
    shift = np.array([F(width) / F(2) + F(x), F(height) / F(2) + F(y), near if zero_to_one else (near + far) / F(2)], F)
    with np.errstate(all="ignore"):
        return np.concatenate([ndc[:, :3] * scale + shift, ndc[:, 3:]], 1).astype(F)
