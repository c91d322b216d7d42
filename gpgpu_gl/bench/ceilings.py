"""What the device can do at best, measured on one path: the denominators of every other figure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.bench.timing import median_ms
from gpgpu_gl.dtypes import float32
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.ops.create import copy, full
from gpgpu_gl.tensor import Tensor, device, engine, new, tensor

SIDE = 256  # texels on a side of the register and fetch kernels
FLOATS = 4 << 20


@dataclass(frozen=True)
class Ceilings:
    """gflops: multiply-adds in registers (two operations each); looped_gflops: the same, one of each chain a step of a
    loop, which then takes longer than they do. gfetches: texels read from a small texture, in 1e9 a second. read, written:
    GB/s of passes that only read a large texture or only fill one. launch_ms: one pass of 8 x 8 texels. upload, readback:
    GB/s."""

    gflops: float
    looped_gflops: float
    gfetches: float
    read: float
    written: float
    launch_ms: float
    upload: float
    readback: float


def measure(seconds: float = 0.6) -> Ceilings:
    """The ceilings of the default device on its current path."""
    current, finish = engine(), device().ctx.finish
    out = new((SIDE, SIDE, 4), float32)

    def madd(chains: int, unrolled: int) -> float:
        steps = -(-8000 // (chains * unrolled))
        defines = {"CHAINS": chains, "UNROLLED": unrolled}
        p = Pass("ceiling_madd", {}, (out.operand,), defines, {"x": 0.5, "y": 1.0, "steps": steps})
        ms = median_ms(lambda: current.run(p), finish, seconds / 2)
        return SIDE * SIDE * steps * unrolled * chains * 4 * 2 / ms / 1e6

    def fetches(x: Tensor, width: int, height: int, lines: tuple[int, int]) -> float:
        """Texels in 1e9 a second, of width x height invocations that each read a whole line of x's texture."""
        small = new((height, width, 4), float32)
        steps = x.layout.width // 16
        p = Pass("ceiling_fetch", {"x": x.operand}, (small.operand,), {}, {"steps": steps, "lines": lines})
        ms = median_ms(lambda: current.run(p), finish, seconds)
        return width * height * steps * 16 / ms / 1e6

    gfetches = fetches(tensor(np.ones((SIDE, SIDE, 4), np.float32)), SIDE, SIDE, (0, 1))
    host = np.random.default_rng(0).random((2048, FLOATS // 2048), np.float32)
    big = tensor(host)
    read = fetches(big, big.texture.height // 64, 64, (64, 1)) * 16
    fill_ms = median_ms(lambda: full(host.shape, 1.0), finish, seconds)
    small = tensor(np.ones((8, 32), np.float32))
    launch_ms = median_ms(lambda: copy(small), finish, seconds)
    upload_ms = median_ms(lambda: tensor(host), finish, seconds)
    read_ms = median_ms(big.numpy, finish, seconds)
    return Ceilings(
        gflops=max(madd(*way) for way in ((2, 64), (3, 16), (3, 64), (8, 16))),  # which is best differs by compiler
        looped_gflops=max(madd(chains, 1) for chains in (4, 8, 12)),
        gfetches=gfetches,
        read=read,
        written=FLOATS * 4 / fill_ms / 1e6,
        launch_ms=launch_ms,
        upload=FLOATS * 4 / upload_ms / 1e6,
        readback=FLOATS * 4 / read_ms / 1e6,
    )
