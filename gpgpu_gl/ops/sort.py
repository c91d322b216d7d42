"""Sorting along an axis: a stable merge sort in which every element of the result looks for where it comes from."""

from __future__ import annotations

import math

from gpgpu_gl.dtypes import int32
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.arguments import one_axis
from gpgpu_gl.ops.shape import permute_dims
from gpgpu_gl.tensor import Tensor, engine, new

RUN = 16  # texels that are sorted by rank before runs are merged


def _workspace(texels: int) -> Tensor:
    """An int32 tensor of so many texels at least; its texture is as wide as a power of two where the device's allow that."""
    side = engine().device.max_texture_size
    width = 1 << (min(max(math.isqrt(texels - 1), 1), side).bit_length() - 1)
    height = -(-texels // width)
    return new((height, 4 * width) if height <= side else (4 * texels,), int32)


@op("argsort")
def _argsort(x: Tensor, descending: bool) -> Tensor:
    """The order of the elements along the last axis."""
    out = new(x.shape, int32)
    if x.size == 0:
        return out
    columns, texels = x.layout.columns, x.layout.texels
    keys, rank = _workspace(texels), _workspace(texels)
    width = keys.layout.width
    shifted = {"SHIFTED": int(width & (width - 1) == 0)}
    uniforms = {"columns": columns, "shift": width.bit_length() - 1}

    def run(kernel: str, inputs: dict[str, Tensor], outputs: tuple[Tensor, ...], **defines: int) -> None:
        operands = {name: t.operand for name, t in inputs.items()}
        compared = float(x.size) if kernel in ("sort_rank", "sort_merge") else 0.0  # once each at least
        engine().run(Pass(kernel, operands, tuple(o.operand for o in outputs), defines, uniforms, flop=compared))

    def results(last: bool) -> tuple[Tensor, ...]:
        return (out,) if last else (_workspace(texels), _workspace(texels))

    run("sort_keys", {"x": x}, (keys,), DESCENDING=int(descending))
    run("sort_rank", {"keys": keys}, (rank,), RUN=RUN, **shifted)
    found = results(columns <= RUN)
    run("sort_place", {"keys": keys, "rank": rank}, found, RUN=RUN, LAST=int(columns <= RUN), **shifted)
    length = RUN
    while length < columns:
        keys, index = found
        uniforms = uniforms | {"run": length}
        length *= 2
        found = results(columns <= length)
        run("sort_merge", {"keys": keys, "index": index}, found, LAST=int(columns <= length), **shifted)
    return out


@op("permuted", lambda g, out, x, order: _permuted(g, _argsort(order, descending=False)), None)
def _permuted(x: Tensor, order: Tensor) -> Tensor:
    """x's elements along the last axis in an order, a permutation for each row. Its gradient goes by the inverse one."""
    out = new(x.shape, x.dtype)
    engine().run(Pass("permuted", {"x": x.operand, "order": order.operand}, (out.operand,)))
    return out


def _to_last(axis: int, rank: int) -> tuple[int, ...]:
    """The axes with one of them and the last one exchanged; the same exchange puts them back."""
    axes = list(range(rank))
    axes[axis], axes[-1] = axes[-1], axes[axis]
    return tuple(axes)


def argsort(x: Tensor, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The indices along an axis, int32, that put the elements in order.

    Equal elements stay in their order (-0 equals 0), also where descending or not `stable`. NaN counts as the largest
    number: it comes last, or first where descending. Raises ShapeError for an axis that is not there. No gradient.
    """
    axes = _to_last(one_axis(axis, x.ndim), x.ndim)
    return permute_dims(_argsort(permute_dims(x, axes), descending=bool(descending)), axes)


def sort(x: Tensor, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis: x taken by argsort(x), which says more."""
    axes = _to_last(one_axis(axis, x.ndim), x.ndim)
    rows = permute_dims(x, axes)
    return permute_dims(_permuted(rows, _argsort(rows, descending=bool(descending))), axes)
