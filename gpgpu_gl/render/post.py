"""Effects on finished pictures (H, W, 4), as tensors: each is a few convolutions and elementwise operators."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.ops.conv import conv2d
from gpgpu_gl.ops.create import ones
from gpgpu_gl.ops.elementwise import abs as abs_
from gpgpu_gl.ops.elementwise import clip, maximum, sqrt, where
from gpgpu_gl.ops.shape import concat, getitem, reshape
from gpgpu_gl.render.image import buffers
from gpgpu_gl.render.nodes import Node
from gpgpu_gl.tensor import Tensor, tensor


def _check(picture: Tensor) -> Tensor:
    if picture.ndim != 3 or picture.dtype.kind != "f":
        raise ShapeError(f"an effect needs a picture of floats (H, W, channels), not {picture.dtype} of shape {picture.shape}")
    return reshape(picture, (1, *picture.shape))


def convolve(picture: Tensor, kernel: ArrayLike) -> Tensor:
    """Each channel of a picture (H, W, C) correlated with a kernel (KH, KW), by the library's conv2d; zeros beyond the border."""
    x = _check(picture)
    k = np.asarray(kernel, np.float32)
    if k.ndim != 2 or not k.size:
        raise ShapeError(f"a kernel needs two axes, not shape {k.shape}")
    channels = picture.shape[2]
    weight = tensor(np.repeat(k[:, :, None, None], channels, axis=3))
    return reshape(conv2d(x, weight, padding="same", groups=channels), picture.shape)


@lru_cache(maxsize=64)
def gaussian(sigma: float) -> np.ndarray:
    """A Gaussian's values at whole pixels out to three sigma, of sum 1."""
    reach = max(1, math.ceil(3 * sigma))
    k = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(sigma, 1e-6)) ** 2)
    return k / k.sum()


def _spread(picture: Tensor, sigma: float) -> Tensor:
    k = gaussian(float(sigma))
    return convolve(convolve(picture, k[None, :]), k[:, None])


def blur(picture: Tensor, sigma: float) -> Tensor:
    """A Gaussian blur of sigma pixels, first along rows, then along columns; the border does not darken."""
    weight = _spread(ones((*picture.shape[:2], 1)), sigma)
    return _spread(picture, sigma) / weight


def bloom(picture: Tensor, threshold: float = 1.0, sigma: float = 6.0, strength: float = 0.6) -> Tensor:
    """What is brighter than the threshold glows into its surroundings."""
    return picture + blur(maximum(picture - threshold, 0.0), sigma) * strength


SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)


def edges(picture: Tensor) -> Tensor:
    """(H, W, C): length of the gradient by Sobel's kernels."""
    return sqrt(convolve(picture, SOBEL).square() + convolve(picture, SOBEL.T).square())


def sharpen(picture: Tensor, amount: float = 1.0, sigma: float = 1.5) -> Tensor:
    """Adds what a blur takes away."""
    return picture + (picture - blur(picture, sigma)) * amount


def emboss(picture: Tensor) -> Tensor:
    """As if lit from the upper left."""
    return convolve(picture, [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])


def ambient_occlusion(picture: Tensor, distance: Tensor, radius: float = 8.0, reach: float = 0.5, strength: float = 1.0) -> Tensor:
    """Darkens what lies behind its surroundings: "unsharp masking the depth buffer" (T. Luft, C. Colditz, O. Deussen, 2006).

    distance (H, W, 1): along the view, 0 for nothing; radius: of the surroundings, in pixels; reach: differences in depth
    that darken fully, in world units.
    """
    far = where(distance > 0, distance, distance * 0 + 1e3)
    nearer = blur(clip(far, 0.0, 100.0), radius)
    behind = clip((clip(far, 0.0, 100.0) - nearer) / reach, 0.0, 1.0)
    factor = where(distance > 0, 1 - behind * strength, distance * 0 + 1)
    return picture * factor


def depth_of_field(picture: Tensor, distance: Tensor, focus: float, aperture: float = 2.0, layers: int = 3) -> Tensor:
    """Blurs what is out of focus. distance (H, W, 1), focus: in world units; aperture: pixels of blur for a whole
    focal distance off. The circle of confusion chooses between `layers` blurred pictures."""
    off = where(distance > 0, abs_(1 - focus / maximum(distance, 1e-3)), distance * 0 + 1)
    level = clip(off * aperture, 0.0, float(layers))
    out, step = picture, 1.6
    for layer in range(layers):
        soft = blur(picture, step * (layer + 1))
        out = out + (soft - out) * clip(level - float(layer), 0.0, 1.0)
    return out


def outline(scene: Node, width: int, height: int, threshold: float = 0.4) -> Tensor:
    """A drawing of a scene (H, W, 4) in lines: edges of its normals and depths, black on white."""
    seen = buffers(scene, width, height)
    normal = edges(seen["normal"]).sum(axis=2, keepdims=True)
    distance = getitem(seen["position"], (..., slice(3, 4)))
    jump = edges(distance) / maximum(distance, 0.5)
    ink = clip((maximum(normal * 0.25, jump * 2.0) - threshold) * 4.0, 0.0, 1.0)
    paper = 1 - ink
    return concat([paper, paper, paper, paper * 0 + 1], axis=2)
