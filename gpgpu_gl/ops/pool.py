"""Pooling over windows of images."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from gpgpu_gl.dtypes import float32
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.create import zeros
from gpgpu_gl.ops.elementwise import astype
from gpgpu_gl.ops.window import LONGEST_LOOP, Geometry, Pair, check_images, geometry, pair
from gpgpu_gl.tensor import Tensor, device, engine, new

# A window's sides along an axis where it has a single pixel.
_NOTHING = {"window": 1, "stride": 1, "border": 0, "end": 0}
LARGEST_DISJOINT = 16  # pixels of a window whose comparisons are written out one by one


def _pool(
    kernel: str,
    tensors: dict[str, Tensor],
    sides: tuple[int, int],
    geo: Geometry,
    defines: dict[str, Any] | None = None,
) -> Tensor:
    """Runs a pooling kernel whose output has `sides` pixels."""
    first = next(iter(tensors.values()))
    shape = (first.shape[0], *sides, first.shape[3])
    if first.size == 0:
        return zeros(shape, first.dtype)
    out = new(shape, first.dtype)
    inputs = {name: t.operand for name, t in tensors.items()}
    found = dict(defines or {})
    if kernel in ("max_pool2d", "max_pool2d_vjp") and _disjoint(geo, tensors):
        kernel = kernel.replace("pool2d", "pool2d_disjoint")
        found |= {"KY": geo.window[0], "KX": geo.window[1]}
    view, tile = None, (1, 1)
    channels = first.layout.columns
    if kernel == "max_pool2d_disjoint_vjp" and device().path == "compute" and _covers(geo):
        # A texel of channels of a whole window an invocation: its pixels are fetched once instead of once for each of them.
        found["APART"] = channels
        view = (1, shape[0] * geo.image[0], geo.image[1] * channels)
        tile = geo.window
    # A comparison or addition for each element of each window.
    flop = float(math.prod((shape[0], *geo.result, *geo.window, shape[3])))
    engine().run(Pass(kernel, inputs, (out.operand,), found, geo.uniforms, view, tile, flop=flop))
    return out


def _covers(geo: Geometry) -> bool:
    """Whether the windows cover the image."""
    return all(n == k * o for n, k, o in zip(geo.image, geo.window, geo.result, strict=True))


def _disjoint(geo: Geometry, tensors: dict[str, Tensor]) -> bool:
    """Whether shaders/lib/disjoint.glsl holds: small disjoint windows, and whole rows of images in a line of x."""
    if geo.stride != geo.window or geo.border != (0, 0) or math.prod(geo.window) > LARGEST_DISJOINT:
        return False
    row = geo.image[1] * tensors["x"].layout.columns
    return all(t.layout.width % row == 0 for name, t in tensors.items() if name != "g")


@op("max_pool2d", lambda g, out, x, geo: _max_pool2d_vjp(g, x, geo=geo))
def _max_pool2d(x: Tensor, geo: Geometry) -> Tensor:
    """max_pool2d with its geometry worked out."""
    return _pool("max_pool2d", {"x": x}, geo.result, geo)


# Where x is largest does not move with it, so that neither of these two has a gradient with respect to x.
@op("max_pool2d_vjp", lambda u, out, g, x, geo: _max_pool2d_pick(u, x, geo=geo), lambda u, out, g, x, geo: None)
def _max_pool2d_vjp(g: Tensor, x: Tensor, geo: Geometry) -> Tensor:
    """Each window's gradient at the pixel where x is largest in it, added up."""
    return _pool("max_pool2d_vjp", {"g": g, "x": x}, geo.image, geo)


@op("max_pool2d_pick", lambda g, out, u, x, geo: _max_pool2d_vjp(g, x, geo=geo), lambda g, out, u, x, geo: None)
def _max_pool2d_pick(u: Tensor, x: Tensor, geo: Geometry) -> Tensor:
    """For each window the pixel of u where x is largest."""
    return _pool("max_pool2d", {"u": u, "x": x}, geo.result, geo, {"PICK": 1})


@op("avg_pool2d", lambda g, out, x, geo, include: _avg_pool2d_vjp(g, geo=geo, include=include))
def _avg_pool2d(x: Tensor, geo: Geometry, include: bool) -> Tensor:
    """avg_pool2d with its geometry worked out."""
    return _pool("avg_pool2d", {"x": x}, geo.result, geo, {"INCLUDE_PAD": int(include)})


@op("avg_pool2d_vjp", lambda u, out, g, geo, include: _avg_pool2d(u, geo=geo, include=include))
def _avg_pool2d_vjp(g: Tensor, geo: Geometry, include: bool) -> Tensor:
    """Each window's gradient shared equally between its pixels, added up."""
    return _pool("avg_pool2d_vjp", {"g": g}, geo.image, geo, {"INCLUDE_PAD": int(include)})


def _geometry(name: str, x: Tensor, kernel_size: Pair, stride: Pair | None, padding: Pair) -> Geometry:
    check_images(name, x)
    window = pair(kernel_size, "kernel_size", 1)
    border = pair(padding, "padding", 0)
    what = f"{name} of images {x.shape} with windows of {window[0]} x {window[1]}"
    if any(2 * b > k for b, k in zip(border, window, strict=True)):
        raise ShapeError(
            f"{what}: padding {padding!r} is more than half a window, so that a window could lie outside the image"
        )
    return geometry(what, (x.shape[1], x.shape[2]), window, window if stride is None else stride, 1, border)


def _parts(geo: Geometry) -> list[Geometry]:
    """The geometry, or for very large windows one along rows and one along columns, which make the same together."""
    if math.prod(geo.window) <= LONGEST_LOOP:
        return [geo]
    (height, _), (_, width) = geo.image, geo.result
    rows = replace(geo, **{name: (value, getattr(geo, name)[1]) for name, value in _NOTHING.items()})
    columns = replace(geo, **{name: (getattr(geo, name)[0], value) for name, value in _NOTHING.items()}, image=(height, width))
    return [rows, columns]


def max_pool2d(x: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0) -> Tensor:
    """The largest pixel of each window, channel by channel, as PyTorch's max_pool2d but channels last.

    x (N, H, W, C); result (N, OH, OW, C) with OH = (H + 2 * padding - kernel_size) // stride + 1; stride is by default
    the window's size. The padding never wins. NaN counts as largest; the gradient goes to the first of equal pixels.
    Raises ShapeError, DTypeError.
    """
    geo = _geometry("max_pool2d", x, kernel_size, stride, padding)
    for part in _parts(geo):  # the first of the largest in rows, then of these, is the first of all
        x = _max_pool2d(x, geo=part)
    return x


def avg_pool2d(
    x: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window, channel by channel, as PyTorch's avg_pool2d but channels last.

    x (N, H, W, C); result (N, OH, OW, C) as max_pool2d's. count_include_pad: the padding counts as zeros; otherwise
    it takes no part. Raises ShapeError, DTypeError.
    """
    parts = _parts(_geometry("avg_pool2d", x, kernel_size, stride, padding))
    means = x if len(parts) == 1 else astype(x, float32)  # between two parts float16 would round once more
    for part in parts:  # all rows of a window have as many pixels inside the image
        means = _avg_pool2d(means, geo=part, include=bool(count_include_pad))
    return astype(means, x.dtype)
