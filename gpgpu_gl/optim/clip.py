"""Gradient clipping."""

from __future__ import annotations

from collections.abc import Iterable

from gpgpu_gl.dtypes import float32
from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.ops.create import zeros
from gpgpu_gl.ops.pointwise import pointwise
from gpgpu_gl.ops.reduce import reduce
from gpgpu_gl.tensor import Tensor, engine, new

AT_ONCE = 8  # tensors that one pass reads
FEW, MANY = 256, 4096  # partial sums, in texels; MANY for gradients of more than a million texels


def squared_norm(tensors: list[Tensor]) -> Tensor:
    """The sum of the squares of all elements of all tensors, a float32 scalar."""
    tensors = [t for t in tensors if t.size]
    if not tensors:
        return zeros(())
    count = MANY if sum(t.layout.texels for t in tensors) > 2**20 else FEW
    sums: Tensor | None = None
    for start in range(0, len(tensors), AT_ONCE):
        part = tensors[start : start + AT_ONCE]
        out = new((count, 4), float32)
        inputs = {f"x{n}": t.operand for n, t in enumerate(part)}
        uniforms = {f"x{n}_texels": t.layout.texels for n, t in enumerate(part)} | {"count": count}
        if sums is not None:
            inputs["carry"] = sums.operand
        defines = {"OPERANDS": len(part), "CARRIED": int(sums is not None)}
        flop = 2.0 * sum(t.size for t in part)
        engine().run(Pass("squared_norm", inputs, (out.operand,), defines, uniforms, flop=flop))
        sums = out
    return reduce(sums, "sum", None, False, float32)  # type: ignore[arg-type]


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float) -> Tensor:
    """Scales all gradients together so that their norm, as if they were one vector, is at most max_norm.

    Returns the norm before, a float32 scalar that stays on the device (NaN or infinite where a gradient is: then all
    become NaN or 0, as in PyTorch). Nothing is read back. Raises GpgpuError for a negative max_norm.
    """
    if not max_norm >= 0:
        raise GpgpuError(f"clip_grad_norm_: max_norm must be at least 0, not {max_norm}")
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    with_grad = [p for p in given if p.grad is not None]
    total = squared_norm([p.grad for p in with_grad if p.grad is not None])
    norm = pointwise("sqrt(x0)", (total,), float32, ("float",))
    for p in with_grad:
        g = p.grad
        if g is not None and g.size:
            expr = "x0 * minimum(x2 / (x1 + 1e-6), 1.0)"
            p.grad = pointwise(expr, (g, norm, float(max_norm)), g.dtype, ("float",) * 3)
    return norm
