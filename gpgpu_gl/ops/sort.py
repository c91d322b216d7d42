"""Sorting and searching."""

from __future__ import annotations

from gpgpu_gl.dtypes import int32, result_type
from gpgpu_gl.errors import GpgpuError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.arguments import one_axis
from gpgpu_gl.ops.create import zeros
from gpgpu_gl.ops.elementwise import astype
from gpgpu_gl.ops.shape import along_last
from gpgpu_gl.tensor import Tensor, engine, new


@op("searchsorted")
def _searchsorted(x: Tensor, values: Tensor, right: bool) -> Tensor:
    out = new(values.shape, int32)
    inputs = {"x": x.operand, "values": values.operand}
    engine().run(Pass("searchsorted", inputs, (out.operand,), {"RIGHT": int(right)}))
    return out


def searchsorted(x1: Tensor, x2: Tensor, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where elements of x2 would go in x1 so that it stays sorted, as int32 of x2's shape (array API).

    x1: one axis, ascending, NaN last; sorter: the order that makes it so. side: "left" of equal elements or "right". The
    two are compared in the dtype of their result_type. Raises ShapeError and GpgpuError for other arguments.
    """
    if x1.ndim != 1:
        raise ShapeError(f"searchsorted looks in a tensor of one axis, not in shape {x1.shape}")
    if side not in ("left", "right"):
        raise GpgpuError(f"side is {side!r}; choose left or right")
    dtype = result_type(x1.dtype, x2.dtype)
    if sorter is not None:
        from gpgpu_gl.ops.take import take

        x1 = take(x1, sorter, axis=0)
    if x1.size == 0:
        return zeros(x2.shape, int32)
    return _searchsorted(astype(x1, dtype), astype(x2, dtype), right=side == "right")


@op("argsort")
def _argsort(x: Tensor, descending: bool) -> Tensor:
    """Along the last axis: a stable merge sort, of which every pass makes the sorted runs twice as long."""
    keys, places = new(x.shape, int32), new(x.shape, int32)
    outputs = (keys.operand, places.operand)
    engine().run(Pass("argsort_runs", {"x": x.operand}, outputs, {"DESCENDING": int(descending)}))
    run = 4
    while run < x.shape[-1] and x.size:
        inputs = {"keys": keys.operand, "places": places.operand}
        keys, places = new(x.shape, int32), new(x.shape, int32)
        engine().run(Pass("argsort_merge", inputs, (keys.operand, places.operand), uniforms={"run": run}))
        run *= 2
    return places


def argsort(x: Tensor, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places of an axis' elements in sorted order, as int32. Always stable. NaN is larger than all numbers.

    Raises ShapeError for a tensor without axes.
    """
    return along_last(lambda t: _argsort(t, descending=bool(descending)), x, one_axis(axis, x.ndim))


@op("reorder", lambda g, out, x, order: _reorder(g, _argsort(order, descending=False)), None)
def _reorder(x: Tensor, order: Tensor) -> Tensor:
    out = new(x.shape, x.dtype)
    engine().run(Pass("reorder", {"x": x.operand, "order": order.operand}, (out.operand,)))
    return out


def sort(x: Tensor, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements of an axis in sorted order, equal ones in the order they had. NaN is larger than all numbers.

    Differentiable: every gradient goes back to where its element came from. Raises ShapeError for a tensor without axes.
    """
    at = one_axis(axis, x.ndim)
    return along_last(lambda t: _reorder(t, _argsort(t.detach(), descending=bool(descending))), x, at)
