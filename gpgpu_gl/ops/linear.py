"""Matrix products."""

from __future__ import annotations

import math
from typing import Any

from gpgpu_gl.dtypes import float32, result_type
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.elementwise import as_tensor
from gpgpu_gl.ops.pointwise import broadcast_shapes
from gpgpu_gl.ops.reduce import reduce, unbroadcast
from gpgpu_gl.ops.shape import broadcast_to, reshape
from gpgpu_gl.tensor import Tensor, device, engine, new

SHARED = (8, 2, 0)  # the tiles of matmul_shared.glsl, which blocks of BLOCK tiles compute together
BLOCK = (32, 8)
# Variants by path: rows and columns of texels of a tile, and the parts that K is split into (summed afterwards).
VARIANTS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "compute": (*((r, c, s) for r, c in ((24, 4), (16, 4), (16, 2), (8, 2), (4, 1)) for s in (1, 2, 4, 8, 16)), SHARED),
    "fragment": tuple((r, c, s) for r, c in ((8, 1), (4, 2), (4, 1)) for s in (1, 2, 4, 8, 16)),
}
FEW_TILES = 64  # fewer leave lanes idle: take smaller tiles, then split K
WORTH_COMPILING = 1 << 26  # multiply-adds from which the largest tile, a third of a second to compile on a CPU, pays for itself
SHORT_K = 128  # a share of K that is not worth a further split


def _default(groups: int, m: int, n4: int, k: int) -> tuple[int, int, int]:
    """A sound choice without measuring: the largest tile that the output fills, K split where even small ones do not."""
    if device().path == "compute" and not device().software and m >= BLOCK[1] * SHARED[0] and n4 >= BLOCK[0]:
        return SHARED
    variants = [v for v in VARIANTS[device().path] if v != SHARED]
    largest = 64 if groups * m * n4 * 4 * k >= WORTH_COMPILING else 16
    tiles = list(dict.fromkeys((r, c) for r, c, _ in variants if r * c <= largest))
    rows, cols = tiles[-1]
    for r, c in tiles:
        if groups * -(-m // r) * -(-n4 // c) >= FEW_TILES:
            rows, cols = r, c
            break
    count = groups * -(-m // rows) * -(-n4 // cols)
    shares = 1
    while shares < 16 and count * shares < FEW_TILES and k // (shares * 2) >= SHORT_K:
        shares *= 2
    return rows, cols, shares


def product(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """(..., M, K) @ (..., K, N), each stored transposed where said; batch axes equal, or none on one side."""
    m, k = (a.shape[-1], a.shape[-2]) if transpose_a else (a.shape[-2], a.shape[-1])
    n = b.shape[-2] if transpose_b else b.shape[-1]
    batch = a.shape[:-2] if len(a.shape) >= len(b.shape) else b.shape[:-2]
    dtype = result_type(a.dtype, b.dtype)
    groups = math.prod(batch)
    if k == 0:
        from gpgpu_gl.ops.create import zeros

        return zeros((*batch, m, n), dtype)
    out = new((*batch, m, n), dtype)
    if out.size == 0:
        return out
    n4 = out.layout.columns
    defines = {"TRANSPOSE_A": int(transpose_a), "TRANSPOSE_B": int(transpose_b), "K_TAIL": k % 4}
    uniforms = {
        "k_size": k,
        "n_size": n,
        "a_rows": a.shape[-2] if a.ndim > 2 else 0,
        "b_rows": b.shape[-2] if b.ndim > 2 else 0,
    }
    inputs = {"a": a.operand, "b": b.operand}
    flop = 2.0 * groups * m * k * n

    def run(variant: tuple[int, int, int]) -> Tensor:
        rows, cols, shares = variant
        if variant == SHARED:
            flips = {name: defines[name] for name in ("TRANSPOSE_A", "TRANSPOSE_B")}
            tile, view = (rows, cols), (groups, m, n4)
            engine().run(Pass("matmul_shared", inputs, (out.operand,), flips, uniforms, view, tile, flop=flop, block=BLOCK))
            return out
        target = out if shares == 1 else new((*batch, shares, m, n), float32)
        shared = defines | {"SHARES": shares}
        view = (groups * shares, m, n4)
        engine().run(Pass("matmul", inputs, (target.operand,), shared, uniforms, view, (rows, cols), flop=flop))
        return target if shares == 1 else reduce(target, "sum", len(batch), False, dtype)

    shape = (groups, m, k, n, int(transpose_a), int(transpose_b))
    variants = [v for v in VARIANTS[device().path] if v[2] <= 1 or k // v[2] >= 32]
    return run(engine().tuner.pick("matmul", shape, variants, _default(groups, m, n4, k), run))


def _vjp_a(g: Tensor, out: Tensor, a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    found = _matmul(b, g, transpose_a=transpose_b, transpose_b=True) if transpose_a else _matmul(g, b, transpose_b=not transpose_b)
    return unbroadcast(found, a.shape)


def _vjp_b(g: Tensor, out: Tensor, a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    if transpose_b:
        return unbroadcast(_matmul(g, a, transpose_a=True, transpose_b=transpose_a), b.shape)
    return unbroadcast(_matmul(a, g, transpose_a=not transpose_a), b.shape)


@op("matmul", _vjp_a, _vjp_b)
def _matmul(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """The product of two tensors of two axes or more, broadcasting over the leading ones."""
    inner_a = a.shape[-2] if transpose_a else a.shape[-1]
    inner_b = b.shape[-1] if transpose_b else b.shape[-2]
    if inner_a != inner_b:
        shown_a = (*a.shape[:-2], a.shape[-1], a.shape[-2]) if transpose_a else a.shape
        shown_b = (*b.shape[:-2], b.shape[-1], b.shape[-2]) if transpose_b else b.shape
        raise ShapeError(
            f"matmul of shapes {shown_a} and {shown_b}: the last axis of the first ({inner_a}) must equal "
            f"the second last of the second ({inner_b})"
        )
    batch_a, batch_b = a.shape[:-2], b.shape[:-2]
    if batch_a == batch_b or not batch_a or not batch_b:
        if batch_a and not batch_b and not transpose_a:
            flat = product(reshape(a, (math.prod(a.shape[:-1]), a.shape[-1])), b, False, transpose_b)
            return reshape(flat, (*a.shape[:-1], flat.shape[-1]))
        return product(a, b, transpose_a, transpose_b)
    batch = broadcast_shapes(batch_a, batch_b)
    return product(
        broadcast_to(a, (*batch, *a.shape[-2:])), broadcast_to(b, (*batch, *b.shape[-2:])), transpose_a, transpose_b
    )


def matmul(a: Any, b: Any) -> Tensor:
    """The matrix product, as NumPy's: batched over leading axes, which broadcast; one axis stands for a vector.

    A view made by `.T` or `.mT` is read in place, without a transposing pass. float32 and float16 (summed in
    float32); ints raise DTypeError. Raises ShapeError where the inner sides differ.
    """
    a, b = as_tensor(a), as_tensor(b)
    for x in (a, b):
        if x.dtype.kind != "f":
            raise DTypeError(f"matmul needs float tensors; one is {x.dtype}: use astype('float32')")
        if x.ndim == 0:
            raise ShapeError(f"matmul of shapes {a.shape} and {b.shape}: a scalar has no axis to sum over; use *")
    row, column = a.ndim == 1, b.ndim == 1
    if row:
        a = reshape(a, (1, a.shape[0]))
    transpose_a, transpose_b = a.transpose_of is not None, b.transpose_of is not None
    a, b = a.transpose_of if a.transpose_of is not None else a, b.transpose_of if b.transpose_of is not None else b
    if column:
        b, transpose_b = reshape(b, (1, b.shape[0])), True
    out = _matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    if row and column:
        return reshape(out, ())
    if row:
        return reshape(out, (*out.shape[:-2], out.shape[-1]))
    return reshape(out, out.shape[:-1]) if column else out
