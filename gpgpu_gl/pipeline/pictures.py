"""A picture of every stage of a trace. Pictures are (height, width, 3) bytes with row 0 at the top."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.pipeline.hardware import srgb_encode
from gpgpu_gl.pipeline.merge import Frame
from gpgpu_gl.pipeline.texture import Texture
from gpgpu_gl.pipeline.trace import Trace

Picture = np.ndarray
_NIGHT, _GRID, _FRONT, _BACK, _CUT, _GONE = (
    (18, 20, 26),
    (60, 64, 76),
    (120, 200, 255),
    (90, 100, 130),
    (255, 180, 60),
    (220, 70, 80),
)


def _up(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows[::-1])


def image(frame: Frame | Trace, target: int = 0) -> Picture:
    """A colour target as people see it: linear targets of floats are shown as they are, clamped to [0, 1]."""
    colors = frame.frame.colors if isinstance(frame, Trace) else frame.colors
    rgb = colors[target].numpy()[..., :3].astype(np.float32)
    if isinstance(frame, Trace) and frame.state.format_of(target) == "srgb8_alpha8":
        rgb = srgb_encode(rgb)
    return _up(np.rint(np.clip(np.nan_to_num(rgb), 0, 1) * 255).astype(np.uint8))


def heat(values: np.ndarray, top: float | None = None) -> Picture:
    """Numbers as colours, from black over violet, red and yellow to white; rows go up in `values`."""
    t = np.clip(values / (top or max(float(np.nanmax(values)), 1e-9)), 0, 1)[..., None]
    stops = np.array([[10, 10, 16], [70, 20, 110], [200, 40, 80], [250, 160, 40], [255, 255, 230]], float)
    at = t * (len(stops) - 1)
    low = np.minimum(at.astype(int), len(stops) - 2)
    rgb = stops[low[..., 0]] + (stops[low[..., 0] + 1] - stops[low[..., 0]]) * (at - low)
    return _up(rgb.astype(np.uint8))


def _outlines(
    size: tuple[int, int], shapes: list[tuple[np.ndarray, tuple[int, int, int]]], frame: np.ndarray | None = None
) -> Picture:
    """Closed outlines of (n, 2) points in pixels, y up."""
    canvas = Image.new("RGB", size, _NIGHT)
    draw = ImageDraw.Draw(canvas)
    for points, color in [*([(frame, _GRID)] if frame is not None else []), *shapes]:
        flat = [(float(np.clip(x, -1e4, 1e4)), float(np.clip(size[1] - 1 - y, -1e4, 1e4))) for x, y in points]
        draw.line([*flat, flat[0]] if len(flat) > 2 else flat, fill=color)
        if len(flat) == 1:
            draw.point(flat, fill=color)
    return np.asarray(canvas)


def _view(trace: Trace, clip: np.ndarray) -> np.ndarray:
    """Clip positions as pixels of a picture that shows twice the view volume in each direction."""
    width, height = trace.size
    w = np.where(np.abs(clip[..., 3:]) < 1e-3, 1e-3, clip[..., 3:])
    return (clip[..., :2] / w / 2 * 0.5 + 0.5) * [width, height]


_EDGE = np.array([[-1, -1, 0, 1], [1, -1, 0, 1], [1, 1, 0, 1], [-1, 1, 0, 1]], float)


def vertices(trace: Trace) -> Picture:
    """Clip space before clipping: every primitive, and the view volume's border; primitives behind the viewer are red."""
    clip = trace.vertices.clip
    shapes = []
    for corners in trace.assembled.corners:
        behind = (clip[corners, 3] <= 0).any()
        shapes.append((_view(trace, clip[corners]), _GONE if behind else _BACK))
    return _outlines(trace.size, shapes, _view(trace, _EDGE))


def clip(trace: Trace) -> Picture:
    """What clipping left: untouched primitives are blue, pieces of cut ones yellow, and what is gone is red."""
    positions = trace.clipped.vertices.clip
    source = trace.clipped.source
    left, counts = np.unique(source, return_counts=True)
    gone = np.setdiff1d(np.arange(len(trace.assembled)), left)
    shapes = [(_view(trace, positions[trace.assembled.corners[i]]), _GONE) for i in gone]
    pieces = dict(zip(left.tolist(), counts.tolist(), strict=True))
    for i, corners in enumerate(trace.clipped.primitives.corners):
        new = pieces[int(source[i])] > 1 or (corners >= len(trace.vertices)).any()
        shapes.append((_view(trace, positions[corners]), _CUT if new else _FRONT))
    return _outlines(trace.size, shapes, _view(trace, _EDGE))


def window(trace: Trace) -> Picture:
    """Window positions after culling: front faces are blue, back faces grey."""
    shapes = []
    for corners, front in zip(trace.primitives.corners, trace.front, strict=True):
        shapes.append((trace.window[corners, :2], _FRONT if front else _BACK))
    return _outlines(trace.size, shapes)


def _scatter(trace: Trace, values: np.ndarray, covered_only: bool = True, fill: float = 0.0) -> np.ndarray:
    """(H, W, ...) from (quads, 4, ...): at each pixel the nearest fragment's value, helpers left out or not."""
    width, height = trace.size
    q = trace.quads_found
    out = np.full((height + 1, width + 1, *values.shape[2:]), fill, np.float32)
    nearest = np.full((height + 1, width + 1), np.inf, np.float32)
    z = trace.packed(trace.fragcoord)[..., 2]
    covered = np.asarray(trace.covered().any(2))
    for s in range(4):
        x, y = np.minimum(q.x + (s & 1), width), np.minimum(q.y + (s >> 1), height)
        use = covered[:, s] if covered_only else np.ones(len(q), bool)
        order = np.argsort(-z[:, s], kind="stable")
        order = order[use[order]]
        out[y[order], x[order]] = values[order, s]
        nearest[y[order], x[order]] = z[order, s]
    return out[:height, :width]


def coverage(trace: Trace) -> Picture:
    """How many samples of each pixel some primitive covers, edges of partly covered pixels darker."""
    share = trace.covered().mean(2)
    return heat(_scatter(trace, share[..., None])[..., 0], 1.0)


def quads(trace: Trace) -> Picture:
    """Pixels that are shaded: covered ones green, helpers that only complete a quad orange."""
    covered = np.asarray(trace.covered().any(2))
    colors = np.where(covered[..., None], np.array([60, 150, 90], np.float32), np.array([240, 150, 40], np.float32))
    everything = _scatter(trace, colors, covered_only=False)
    real = _scatter(trace, np.where(covered[..., None], colors, 0))
    checker = (np.indices(real.shape[:2]) // 2).sum(0) % 2
    out = np.where(real.any(-1, keepdims=True), real * (0.8 + 0.2 * checker[..., None]), everything)
    return _up(out.astype(np.uint8))


def barycentric(trace: Trace) -> Picture:
    """The three perspective-correct weights as red, green and blue."""
    weights = np.clip(trace.packed(trace.barycentric)[..., :3], 0, 1)
    return _up((_scatter(trace, weights) * 255).astype(np.uint8))


def depth(trace: Trace) -> Picture:
    """The depth buffer, near is bright; spread over the range that occurs."""
    values = trace.depth.numpy()
    written = values[values < values.max()] if (values < values.max()).any() else values
    low, high = float(written.min()), float(written.max())
    return heat(np.where(values > high, 0, 1.02 - (values - low) / max(high - low, 1e-9)), 1.1)


def overdraw(trace: Trace) -> Picture:
    """Fragments at each pixel."""
    return heat(trace.overdraw.numpy())


def inputs(trace: Trace) -> Picture:
    """The first input of the fragment shader with at least two components, its fraction as colour."""
    for name, place in trace.pipeline.link.names:
        if place.startswith("f"):
            values = trace.packed_input(name)[..., :3]
            return _up((_scatter(trace, values - np.floor(values)) * 255).astype(np.uint8))
    return np.zeros((trace.size[1], trace.size[0], 3), np.uint8)


def mip(trace: Trace) -> Picture:
    """The level of detail of the first texture at the first two-component input: red is level 0, blue far up."""
    textures = [t for t in trace.uniforms.values() if isinstance(t, Texture) and t.kind in ("2d", "array")]
    slots = trace.pipeline.link.floats
    pairs = [
        name
        for name, place in trace.pipeline.link.names
        if place.startswith("f") and slots[int(place.split(":")[1])].count == 2
    ]
    if not textures or not pairs:
        return np.zeros((trace.size[1], trace.size[0], 3), np.uint8)
    height, width = textures[0].array().shape[-3:-1]
    uv = trace.packed_input(pairs[0])[..., :2] * [width, height]
    dx, dy = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    rho = np.maximum(np.linalg.norm(dx, axis=-1), np.linalg.norm(dy, axis=-1))
    level = np.clip(np.log2(np.maximum(rho, 1e-9)), 0, np.log2(max(width, height)))
    hues = np.array(
        [[230, 60, 50], [240, 180, 40], [90, 200, 80], [60, 190, 220], [60, 90, 230], [150, 60, 200], [120, 120, 120]],
        float,
    )
    at = np.minimum(level, len(hues) - 1.001)
    colors = hues[at.astype(int)] + (hues[at.astype(int) + 1] - hues[at.astype(int)]) * (at % 1)[:, None]
    return _up(_scatter(trace, np.repeat(colors[:, None], 4, 1)).astype(np.uint8))


def difference(mine: Frame, theirs: Frame, scale: float = 0.0) -> Picture:
    """The largest difference of the first target's channels; white is `scale`, by default the largest there is."""
    apart = np.abs(mine.colors[0].numpy().astype(np.float64) - theirs.colors[0].numpy()).max(-1)
    return heat(apart, scale or None)


STAGES: Mapping[str, Callable[[Trace], Picture]] = {
    "vertices": vertices,
    "clip": clip,
    "window": window,
    "coverage": coverage,
    "quads": quads,
    "barycentric": barycentric,
    "inputs": inputs,
    "mip": mip,
    "depth": depth,
    "overdraw": overdraw,
    "final": image,
}


def picture(trace: Trace, stage: str, hardware: Frame | None = None) -> Picture:
    """The picture of one stage: a name from STAGES, or "hardware" and "difference" with the hardware's frame."""
    if stage in STAGES:
        return STAGES[stage](trace)
    if hardware is not None and stage == "hardware":
        return image(hardware)
    if hardware is not None and stage == "difference":
        return difference(trace.frame, hardware, 1 / 255)
    raise GpgpuError(f"there is no stage {stage!r}; there are {', '.join([*STAGES, 'hardware', 'difference'])}")


def enlarged(picture_: Picture, factor: int) -> Any:
    """The picture as a Pillow image, every pixel a square of `factor`."""
    made = Image.fromarray(picture_)
    return made.resize((made.width * factor, made.height * factor), Image.Resampling.NEAREST)
