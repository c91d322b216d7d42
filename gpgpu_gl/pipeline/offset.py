"""Polygon offset (OpenGL 4.6, section 14.6.5): factor * m + units * r, m the largest depth slope."""

from __future__ import annotations

import numpy as np

from gpgpu_gl.pipeline.state import State


def polygon_offset(depth: np.ndarray, slope: np.ndarray, state: State) -> np.ndarray:
    """(n,) what is added to the depths of (n, 3) corners; slope: (n, 2) depth per pixel in x and y.

    For a 32-bit float depth buffer r is 2**(e - 23), e the exponent of the largest depth in the triangle.
    """
    if state.polygon_offset is None:
        return np.zeros(len(depth))
    factor, units = state.polygon_offset
    exponent = np.frexp(np.abs(depth).max(1, initial=0))[1] - 1
    smallest = np.ldexp(1.0, exponent - 23)
    return factor * np.abs(slope).max(1, initial=0) + units * smallest
