"""Running sums along an axis."""

from __future__ import annotations

from typing import Any

from gpgpu_gl.dtypes import as_dtype, bool_, float16, float32, int32
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.arguments import one_axis
from gpgpu_gl.ops.create import zeros
from gpgpu_gl.ops.elementwise import astype
from gpgpu_gl.ops.shape import along_last, concat, flip
from gpgpu_gl.tensor import Tensor, engine, new

BLOCK = 32  # texels of the last axis that one pass sums up


@op("cumulative_sum", lambda g, out, x: flip(_cumulative_sum(flip(g, -1)), -1))
def _cumulative_sum(x: Tensor) -> Tensor:
    """Along the last axis. Blocks are summed side by side, then their totals, level by level, and these are added."""
    out = new(x.shape, x.dtype)
    defines: dict[str, str | int] = {"BLOCK": BLOCK}
    # Half precision would round the sums of blocks once more than the sums themselves.
    sums = new(x.shape, float32) if x.dtype == float16 else out
    engine().run(Pass("cumulative_sum", {"x": x.operand}, (sums.operand,), defines, flop=float(x.size)))
    blocks = -(-x.shape[-1] // (4 * BLOCK)) if x.size else 1
    if blocks > 1:
        totals = new((*x.shape[:-1], blocks - 1), sums.dtype)
        engine().run(Pass("cumulative_sum_blocks", {"sums": sums.operand}, (totals.operand,), defines))
        inputs = {"sums": sums.operand, "totals": _cumulative_sum(totals).operand}
        out = new(x.shape, x.dtype)
        engine().run(Pass("cumulative_sum_add", inputs, (out.operand,), defines, flop=float(x.size)))
        return out
    return sums if sums.dtype == x.dtype else astype(sums, x.dtype)


def cumulative_sum(x: Tensor, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
    """Sums from the start of an axis up to and with each element, as the array API's.

    axis: may be left out for tensors of one axis. dtype: of the result; bool adds up to int32. include_initial: puts a 0
    before the sums, which makes the axis longer by one. float16 is added up in float32. Raises ShapeError for a tensor
    without axes, and where the axis is needed.
    """
    if x.ndim == 0 or (axis is None and x.ndim != 1):
        raise ShapeError(f"cumulative_sum of a tensor of shape {x.shape} needs an axis" + " to sum along" * (x.ndim == 0))
    at = one_axis(0 if axis is None else axis, x.ndim)
    wanted = as_dtype(dtype) if dtype is not None else int32 if x.dtype == bool_ else x.dtype
    sums = along_last(lambda t: _cumulative_sum(t), astype(x, wanted), at)
    if not include_initial:
        return sums
    first = zeros((*x.shape[:at], 1, *x.shape[at + 1 :]), wanted)
    return concat([first, sums], axis=at)
