"""Pictures that a kernel paints, pixel by pixel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.render.gpu import gpu
from gpgpu_gl.render.image import check_size
from gpgpu_gl.tensor import Tensor


def paint(
    kernel: str, size: tuple[int, int], inputs: Mapping[str, Tensor] | None = None, outputs: int = 1,
    defines: Mapping[str, int] | None = None, **uniforms: Any,
) -> Any:  # fmt: skip
    """Runs the point kernel shaders/kernels/KERNEL.glsl for every pixel of a width x height picture.

    The kernel's `point(ivec2 p)` gets the pixel, counted from the upper left, and writes o0 (and o1 ...). inputs: tensors by
    sampler name. uniforms: by name; numbers, tuples, or lists for arrays; `size` (width, height) is always set.
    Returns a Tensor (H, W, 4), or a tuple of `outputs`.
    Raises ShaderError with file:line where the kernel does not compile.
    """
    width, height = size
    check_size(width, height)
    if not 1 <= outputs <= 8:
        raise GpgpuError(f"a kernel writes 1 to 8 pictures, not {outputs}")
    g = gpu()
    with g.device.hosted_state():
        made = tuple(g.picture((height, width, 4), np.float32) for _ in range(outputs))
    operands = {name: t.operand for name, t in (inputs or {}).items()}
    values = dict(uniforms) | {"size": (float(width), float(height))}
    g.engine.run(Pass(kernel, operands, tuple(t.operand for t in made), dict(defines or {}), values))
    return made[0] if outputs == 1 else made
