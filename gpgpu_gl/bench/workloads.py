"""The workloads of the benchmark: each as it is written with this library, with NumPy and with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Run = Callable[[], Any]


@dataclass(frozen=True)
class Workload:
    """One row. flop, read and written (bytes): what it needs at least. ours, numpy, torch: make the function to time."""

    name: str
    flop: float
    read: float
    written: float
    ours: Callable[[], Run]
    numpy: Callable[[], Run] | None = None
    torch: Callable[[], Run] | None = None
    quick: bool = True


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


# --- matrix products ----------------------------------------------------------------------------


def matmul(m: int, k: int, n: int, batch: int = 1, quick: bool = True) -> Workload:
    """(batch, m, k) @ (batch, k, n)."""
    lead = (batch,) if batch > 1 else ()
    a, b = _random(*lead, m, k), _random(*lead, k, n)

    def ours() -> Run:
        from gpgpu_gl import matmul as product
        from gpgpu_gl import tensor

        x, y = tensor(a), tensor(b)
        return lambda: product(x, y)

    def torch() -> Run:
        import torch as t

        x, y = t.from_numpy(a), t.from_numpy(b)
        return lambda: x @ y

    name = f"matmul {m}x{k}x{n}" if batch == 1 else f"matmul {batch} x {m}x{k}x{n}"
    flop, read, written = 2.0 * batch * m * k * n, 4.0 * (a.size + b.size), 4.0 * batch * m * n
    return Workload(name, flop, read, written, ours, lambda: lambda: a @ b, torch, quick)


# --- convolutions -------------------------------------------------------------------------------


def convolution(side: int, batch: int, c_in: int, c_out: int, size: int) -> list[Workload]:
    """Forward, input gradient and weight gradient of a "same" convolution."""
    x, w, g = _random(batch, side, side, c_in), _random(size, size, c_in, c_out), _random(batch, side, side, c_out)
    flop = 2.0 * batch * side * side * c_in * c_out * size * size

    def ours(which: str) -> Run:
        from gpgpu_gl import conv2d, tensor
        from gpgpu_gl.ops.conv import conv2d_input_grad, conv2d_weight_grad

        tx, tw, tg = tensor(x), tensor(w), tensor(g)
        if which == "forward":
            return lambda: conv2d(tx, tw, padding="same")
        leaf_x, leaf_w = tensor(x, requires_grad=True), tensor(w, requires_grad=True)
        out = conv2d(leaf_x, leaf_w, padding="same")
        assert out.node is not None
        options = out.node.attributes
        if which == "input gradient":
            return lambda: conv2d_input_grad(tg, tw, **options)
        return lambda: conv2d_weight_grad(tx, tg, **options)

    def numpy(which: str) -> Run:
        from gpgpu_gl.numpy_cnn import windows

        turned = w[::-1, ::-1].transpose(0, 1, 3, 2).reshape(-1, c_in)
        flat = w.reshape(-1, c_out)
        if which == "forward":
            return lambda: windows(x, size) @ flat
        if which == "input gradient":
            return lambda: windows(g, size) @ turned
        return lambda: windows(x, size).reshape(-1, size * size * c_in).T @ g.reshape(-1, c_out)

    def torch(which: str) -> Run:
        import torch as t

        def images(a: np.ndarray) -> Any:
            return t.from_numpy(np.ascontiguousarray(a.transpose(0, 3, 1, 2)))

        tx, tg = images(x), images(g)
        tw = t.from_numpy(np.ascontiguousarray(w.transpose(3, 2, 0, 1)))
        if which == "forward":
            return lambda: t.nn.functional.conv2d(tx, tw, padding=size // 2)
        if which == "input gradient":
            return lambda: t.nn.grad.conv2d_input(tx.shape, tw, tg, padding=size // 2)
        return lambda: t.nn.grad.conv2d_weight(tx, tw.shape, tg, padding=size // 2)

    def row(which: str) -> Workload:
        name = f"conv {size}x{size} {c_in}-{c_out} {side}x{side} batch {batch} {which}"
        written = {"forward": g, "input gradient": x, "weight gradient": w}[which].size
        read = x.size + w.size + g.size - written
        return Workload(name, flop, 4.0 * read, 4.0 * written, lambda: ours(which), lambda: numpy(which), lambda: torch(which))

    return [row(which) for which in ("forward", "input gradient", "weight gradient")]


def in_pairs(convolutions: list[Workload], side: int) -> list[Workload]:
    """Forward and input gradient of a convolution with three columns, on images so wide, in pairs of columns (on compute)."""

    def forced(operator: str, run: Run) -> Run:
        from gpgpu_gl.tensor import engine

        tuner = engine().tuner

        def only() -> Any:
            before = tuner.forced
            tuner.forced = before | {operator: (side, 1, 1)}
            try:
                return run()
            finally:
                tuner.forced = before

        return only

    def row(operator: str, of: Workload) -> Workload:
        return replace(of, name=f"{of.name} in pairs", ours=lambda: forced(operator, of.ours()), numpy=None, torch=None)

    return [row(operator, of) for operator, of in zip(("conv2d", "conv2d_input_grad"), convolutions, strict=False)]


# --- memory-bound passes ------------------------------------------------------------------------


def elementwise() -> Workload:
    """relu(x * 2 + y) on 4M floats, compiled to one pass."""
    x, y = _random(2048, 2048), _random(2048, 2048)

    def ours() -> Run:
        from gpgpu_gl import compile as captured
        from gpgpu_gl import relu, tensor

        tx, ty = tensor(x), tensor(y)
        run = captured(lambda p, q: relu(p * 2 + q))
        return lambda: run(tx, ty)

    def torch() -> Run:
        import torch as t

        tx, ty = t.from_numpy(x), t.from_numpy(y)
        return lambda: t.relu(tx * 2 + ty)

    n = float(x.size)
    return Workload("relu(x*2+y) 4M", 3 * n, 8 * n, 4 * n, ours, lambda: lambda: np.maximum(x * 2 + y, 0), torch)


def row_operators() -> list[Workload]:
    """A sum over axis 0 and a softmax of 4096 x 1000."""
    x = _random(4096, 1000)

    def ours(name: str) -> Run:
        from gpgpu_gl import softmax, tensor
        from gpgpu_gl import sum as total

        tx = tensor(x)
        return (lambda: total(tx, axis=0)) if name == "sum" else (lambda: softmax(tx, axis=1))

    def numpy(name: str) -> Run:
        def softmax() -> np.ndarray:
            e = np.exp(x - x.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)

        return (lambda: x.sum(axis=0)) if name == "sum" else softmax

    def torch(name: str) -> Run:
        import torch as t

        tx = t.from_numpy(x)
        return (lambda: tx.sum(0)) if name == "sum" else (lambda: t.softmax(tx, 1))

    def workload(title: str, name: str, flop: float, written: float) -> Workload:
        return Workload(title, flop * x.size, 4.0 * x.size, written, lambda: ours(name), lambda: numpy(name), lambda: torch(name))

    return [
        workload("sum over axis 0 of 4096x1000", "sum", 1.0, 4.0 * x.shape[1]),
        workload("softmax 4096x1000", "softmax", 4.0, 4.0 * x.size),
    ]
