"""Vertex attributes and textures, differentiable through interpolation and sampling.

Which fragment is seen where is taken from a trace and stays fixed; what the fragments show is written again as tensor
operators, whose gradients reach the attributes of the vertices, the texels and the texture coordinates:

    seen = visible(trace)
    uv, normal = interpolate(seen, uvs), interpolate(seen, normals)
    picture = sample(image, uv) * shade(normal)
    ((picture - target) ** 2).mean().backward()
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.errors import GpgpuError, ShapeError
from gpgpu_gl.ops.elementwise import floor, multiply, subtract
from gpgpu_gl.ops.shape import expand_dims, getitem, reshape
from gpgpu_gl.ops.take import take
from gpgpu_gl.pipeline.trace import Trace
from gpgpu_gl.tensor import Tensor, tensor


@dataclass(frozen=True)
class Visible:
    """The fragment that is seen at each pixel. mask: (H, W, 1) 1 where there is one. corners: three (H * W,) int32
    tensors of rows of the vertices as they were given; weights: three (H * W, 1) perspective-correct weights."""

    size: tuple[int, int]
    mask: Tensor
    corners: tuple[Tensor, Tensor, Tensor]
    weights: tuple[Tensor, Tensor, Tensor]


def visible(trace: Trace) -> Visible:
    """Finds the last fragment that passed every test at each pixel of a single-sample draw of triangles.

    Weights of clipped triangles are over the three vertices before clipping. Raises GpgpuError for other primitives.
    """
    if trace.state.primitive != "triangles" or trace.state.samples != 1:
        raise GpgpuError("visible() needs a draw of triangles with one sample")
    width, height = trace.size
    winner = _winners(trace)
    seen = winner >= 0
    quad, pixel = np.maximum(winner, 0) // 4, np.maximum(winner, 0) % 4
    none = len(trace.quads_found) == 0
    share = np.zeros((height, width, 3)) if none else trace.packed(trace.barycentric)[quad, pixel, :3].astype(float)
    primitive = np.zeros((height, width), int) if none else trace.quads_found.primitive[quad]
    if none:
        original, rows = share, np.zeros((height, width, 3), int)
    else:
        original = (share[..., None, :] @ _in_source(trace)[primitive])[..., 0, :]
        rows = trace.assembled.corners[trace.source[primitive]]
    original[~seen] = 0
    flat = original.reshape(-1, 3).astype(np.float32)
    corners = rows.reshape(-1, 3).astype(np.int32)
    return Visible(
        trace.size,
        tensor(seen[..., None].astype(np.float32)),
        (tensor(corners[:, 0]), tensor(corners[:, 1]), tensor(corners[:, 2])),
        (tensor(flat[:, :1]), tensor(flat[:, 1:2]), tensor(flat[:, 2:])),
    )


def _winners(trace: Trace) -> np.ndarray:
    """(H, W) 4 * quad + pixel of the fragment that wrote last, -1 where none did; replays the depth test in order."""
    from gpgpu_gl.pipeline.history import _TESTS
    from gpgpu_gl.pipeline.state import COMPARE

    width, height = trace.size
    state, q = trace.state, trace.quads_found
    if state.stencils is not None or trace.onto is not None:
        raise GpgpuError(
            "visible() follows the depth test only, in a draw that starts from a clear target without stencil"
        )
    index = np.arange(4 * len(q)).reshape(-1, 4)
    x, y = q.x[:, None] + np.array([0, 1, 0, 1]), q.y[:, None] + np.array([0, 0, 1, 1])
    alive, depths = trace.living()
    use = trace.covered()[..., 0] & alive
    if state.scissor is not None:
        left, low, w, h = state.scissor
        use &= (x >= left) & (x < left + w) & (y >= low) & (y < low + h)
    place, index = (y * width + x)[use], index[use]
    z = np.clip(depths[use], 0, 1)
    order = np.argsort(place, kind="stable")  # within a pixel the quads are in drawing order already
    place, index, z = place[order], index[order], z[order]
    first = np.r_[True, place[1:] != place[:-1]] if len(place) else np.zeros(0, bool)
    starts = np.nonzero(first)[0]
    layer = np.arange(len(place)) - np.repeat(starts, np.diff(np.r_[starts, len(place)]))
    winner, depth = np.full(width * height, -1), np.full(width * height, np.float32(state.clear_depth), np.float32)
    for k in range(int(layer.max(initial=-1)) + 1):
        at = layer == k
        passes = np.ones(at.sum(), bool)
        if state.depth_test is not None:
            passes = np.broadcast_to(_TESTS[COMPARE.index(state.depth_test)](z[at], depth[place[at]]), passes.shape)
            if state.depth_write:
                depth[place[at][passes]] = z[at][passes]
        winner[place[at][passes]] = index[at][passes]
    return winner.reshape(height, width)


def _in_source(trace: Trace) -> np.ndarray:
    """(primitives, 3, 3): each corner after clipping as weights of the three vertices before it, which are linear in
    clip space."""
    before = trace.vertices.clip[trace.assembled.corners[trace.source]].astype(float)
    after = trace.clipped.vertices.clip[trace.primitives.corners].astype(float)
    out = np.tile(np.eye(3), (len(after), 1, 1))
    cut = (trace.primitives.corners != trace.assembled.corners[trace.source]).any(1)
    for i in np.nonzero(cut)[0]:
        out[i] = np.linalg.lstsq(before[i].T, after[i].T, rcond=None)[0].T
    return out


def interpolate(seen: Visible, values: Tensor) -> Tensor:
    """(H, W, C) from (vertices, C): values of the vertices at the visible fragments, 0 where there is none.

    Differentiable in `values`. Raises ShapeError unless there is a row for each vertex.
    """
    width, height = seen.size
    if values.ndim != 2:
        raise ShapeError(f"interpolate() takes (vertices, components), not the shape {values.shape}")
    a, b, c = (
        multiply(take(values, corner, axis=0), weight)
        for corner, weight in zip(seen.corners, seen.weights, strict=True)
    )
    return reshape(a + b + c, (height, width, values.shape[1]))


def sample(image: Tensor, uv: Tensor, wrap: str = "repeat") -> Tensor:
    """(..., C) from an image (H, W, C) and coordinates (..., 2): bilinear, row 0 at t = 0, as texture() without levels.

    wrap: "repeat" or "clamp_to_edge". Differentiable in the image and in the coordinates (within a cell of texels).
    """
    if image.ndim != 3 or uv.shape[-1] != 2:
        raise ShapeError(
            f"sample() takes an image (H, W, C) and coordinates (..., 2), not {image.shape} and {uv.shape}"
        )
    if wrap not in ("repeat", "clamp_to_edge"):
        raise GpgpuError(f"wrap is {wrap!r}; choose repeat or clamp_to_edge")
    height, width, channels = image.shape
    flat = reshape(uv, (-1, 2))
    s = subtract(multiply(getitem(flat, (slice(None), 0)), float(width)), 0.5)
    t = subtract(multiply(getitem(flat, (slice(None), 1)), float(height)), 0.5)
    low_s, low_t = floor(s.detach()), floor(t.detach())
    fs, ft = expand_dims(subtract(s, low_s), 1), expand_dims(subtract(t, low_t), 1)
    column, row = low_s.numpy().astype(np.int64), low_t.numpy().astype(np.int64)
    texels = reshape(image, (height * width, channels))

    def texel(right: int, up: int) -> Tensor:
        x, y = column + right, row + up
        x, y = (x % width, y % height) if wrap == "repeat" else (x.clip(0, width - 1), y.clip(0, height - 1))
        return take(texels, tensor((y * width + x).astype(np.int32)), axis=0)

    one_s, one_t = subtract(1.0, fs), subtract(1.0, ft)
    lower = multiply(texel(0, 0), one_s) + multiply(texel(1, 0), fs)
    upper = multiply(texel(0, 1), one_s) + multiply(texel(1, 1), fs)
    return reshape(multiply(lower, one_t) + multiply(upper, ft), (*uv.shape[:-1], channels))
