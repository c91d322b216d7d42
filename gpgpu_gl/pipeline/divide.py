"""Perspective divide (OpenGL 4.6, section 13.8), in float32 as devices do."""

from __future__ import annotations

from gpgpu_gl.dtypes import float32
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.tensor import Tensor


def divide(positions: Tensor) -> Tensor:
    """(n, 4) clip positions to (n, 4) normalised device coordinates x, y, z and 1/w."""
    return make("pipeline_divide", {"positions": positions}, positions.shape, float32)
