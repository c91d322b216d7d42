"""What the device can do at best, measured on one path: the denominators of every other figure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.bench.timing import median_ms
from gpgpu_gl.dtypes import float32
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.ops.create import copy
from gpgpu_gl.tensor import device, engine, new, tensor

SIDE = 256  # texels on a side of the register and fetch kernels
FLOATS = 4 << 20


@dataclass(frozen=True)
class Ceilings:
    """gflops: multiply-adds in registers (two operations each). gfetches: texels read, in 1e9 a second. gbytes: read
    and written by a copy, in 1e9 bytes a second. launch_ms: one pass of 8 x 8 texels. upload, readback: GB/s."""

    gflops: float
    gfetches: float
    gbytes: float
    launch_ms: float
    upload: float
    readback: float


def measure(seconds: float = 0.6) -> Ceilings:
    """The ceilings of the default device on its current path."""
    current, finish = engine(), device().ctx.finish
    out = new((SIDE, SIDE, 4), float32)

    def madd(chains: int) -> float:
        steps = 2000 // chains * 4
        p = Pass("ceiling_madd", {}, (out.operand,), {"CHAINS": chains}, {"x": 0.5, "y": 1.0, "steps": steps})
        ms = median_ms(lambda: current.run(p), finish, seconds / 2)
        return SIDE * SIDE * steps * chains * 4 * 2 / ms / 1e6

    x = tensor(np.random.default_rng(0).random((SIDE, SIDE, 4), np.float32))
    steps = SIDE // 4
    fetch = Pass("ceiling_fetch", {"x": x.operand}, (out.operand,), {}, {"steps": steps})
    fetch_ms = median_ms(lambda: current.run(fetch), finish, seconds)

    host = np.random.default_rng(0).random((1024, FLOATS // 1024), np.float32)
    big = tensor(host)
    copy_ms = median_ms(lambda: copy(big), finish, seconds)
    small = tensor(np.ones((8, 32), np.float32))
    launch_ms = median_ms(lambda: copy(small), finish, seconds)
    upload_ms = median_ms(lambda: tensor(host), finish, seconds)
    read_ms = median_ms(big.numpy, finish, seconds)
    return Ceilings(
        gflops=max(madd(chains) for chains in (2, 4, 8, 12)),
        gfetches=SIDE * SIDE * steps * 4 / fetch_ms / 1e6,
        gbytes=FLOATS * 4 * 2 / copy_ms / 1e6,
        launch_ms=launch_ms,
        upload=FLOATS * 4 / upload_ms / 1e6,
        readback=FLOATS * 4 / read_ms / 1e6,
    )
