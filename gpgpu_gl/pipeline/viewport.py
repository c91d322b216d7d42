"""Viewport transform (OpenGL 4.6, section 13.8.1), in float32 as devices do."""

from __future__ import annotations

import numpy as np

from gpgpu_gl.dtypes import float32
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import Tensor

F = np.float32


def viewport(ndc: Tensor, state: State, size: tuple[int, int]) -> Tensor:
    """(n, 4) window positions: x and y in pixels from the lower left, depth, 1/w."""
    x, y, width, height = state.viewport or (0, 0, *size)
    near, far = (F(min(max(v, 0.0), 1.0)) for v in state.depth_range)
    up = F(-1) if state.clip_origin == "upper_left" else F(1)
    zero_to_one = state.clip_depth == "zero_to_one"
    halves = (F(width) / F(2), up * F(height) / F(2), far - near if zero_to_one else (far - near) / F(2))
    centre = (F(width) / F(2) + F(x), F(height) / F(2) + F(y), near if zero_to_one else (near + far) / F(2))
    sides, middle = tuple(map(float, halves)), tuple(map(float, centre))
    return make("pipeline_viewport", {"ndc": ndc}, ndc.shape, float32, size=sides, centre=middle)
