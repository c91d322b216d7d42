"""Running a stage's kernel on tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpgpu_gl.gl.passes import Defines, Pass
from gpgpu_gl.tensor import Tensor, engine, new


def run(
    kernel: str, inputs: Mapping[str, Tensor], outputs: Sequence[Tensor], defines: Defines | None = None, **uniforms: Any
) -> None:
    """One pass of a kernel, tensors by the names of its samplers, over outputs of one size."""
    operands = {name: t.operand for name, t in inputs.items()}
    engine().run(Pass(kernel, operands, tuple(t.operand for t in outputs), defines or {}, uniforms))


def make(
    kernel: str,
    inputs: Mapping[str, Tensor],
    shape: tuple[int, ...],
    dtype: np.dtype,
    defines: Defines | None = None,
    **uniforms: Any,
) -> Tensor:
    """The one output of a pass of a kernel, as a new tensor."""
    out = new(shape, dtype)
    run(kernel, inputs, [out], defines, **uniforms)
    return out
