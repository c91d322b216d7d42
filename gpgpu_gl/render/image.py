"""Pictures of scenes: for people (PIL, PNG), for NumPy, and as tensors without a copy."""

from __future__ import annotations

import io
import os
from typing import Any

import moderngl
import numpy as np
from PIL import Image

from gpgpu_gl.errors import GpgpuError, ShapeError
from gpgpu_gl.ops.shape import getitem, reshape
from gpgpu_gl.render import renderer
from gpgpu_gl.render.camera import Camera
from gpgpu_gl.render.color import decode, encode
from gpgpu_gl.render.gpu import Gpu, gpu
from gpgpu_gl.render.nodes import Node
from gpgpu_gl.render.state import BLEND, CULL_FACE, DEPTH_TEST, FRAMEBUFFER_SRGB
from gpgpu_gl.render.table import WHOLE
from gpgpu_gl.render.view import TONES, View, as_scene, default_camera, find_camera
from gpgpu_gl.tensor import Tensor

MOST_SIDE = 1 << 16
MOST_TILE = 8192  # pixels along a side that are drawn at once


class Picture:
    """A finished picture on the host: .array (H, W, 4) uint8 sRGB, .pil(), .save(path); notebooks show it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.array.shape[1], self.array.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array if dtype is None else self.array.astype(dtype)

    def pil(self) -> Image.Image:
        """As a PIL image: RGB, or RGBA where something is transparent."""
        if (self.array[..., 3] == 255).all():
            return Image.fromarray(self.array[..., :3])
        return Image.fromarray(self.array)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture in the format that the name's ending says."""
        self.pil().save(path)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.pil().save(buffer, "png")
        return buffer.getvalue()


def check_size(width: int, height: int) -> None:
    """Raises GpgpuError for sizes that no picture can have."""
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE):
        raise GpgpuError(f"a picture of {width} x {height} pixels: each side must be from 1 to {MOST_SIDE}")


def _samples(g: Gpu, samples: int) -> int:
    """What the device offers of the samples asked for: none, 2, 4, 8 ..."""
    if samples < 0:
        raise GpgpuError(f"samples={samples}: use 0 for none, or 2, 4 or 8")
    return 0 if samples < 2 else min(samples, g.ctx.max_samples)


def draw_display(
    g: Gpu, scene: Node, size: tuple[int, int], camera: Camera | None, samples: int, crop: Any = WHOLE
) -> tuple[Any, Any]:
    """Draws into the kept sRGB target of that size, first line at the top: its framebuffer and texture."""
    samples = _samples(g, samples)
    view = renderer.prepare(g, scene, camera, size, crop)
    framebuffer, texture = g.display(size)
    if samples:
        # OpenGL's versions disagree on how a blit resolves sRGB, so that the samples are linear, and encoded afterwards.
        several = g.multisampled(size, samples, "f2")
        renderer.draw(view, several, encode=False, flipped=True, clamp=True)
        single, resolved = g.linear(size)
        g.resolve(several, single)
        program = g.program("cover", "present", {})

        def bind() -> None:
            resolved.use(0)
            g.unsample(0)

        present(g, program, bind, framebuffer, size, 1.0)
    else:
        renderer.draw(view, framebuffer, encode=True, flipped=True)
    return framebuffer, texture


def image(scene: Node, width: int = 800, height: int = 600, camera: Camera | None = None, samples: int = 4) -> Picture:
    """A picture of a scene (or of any node) through a camera, by default the scene's first.

    samples: of multisampling, as many as the device offers; 0 for none. Sizes beyond the device's limit are drawn in tiles.
    Raises GpgpuError for sizes from outside 1 to 65536.
    """
    check_size(width, height)
    g = gpu()
    most = min(g.device.max_texture_size, *g.ctx.info["GL_MAX_VIEWPORT_DIMS"], MOST_TILE)
    if camera is None:
        camera = find_camera(scene) or default_camera(scene, width / height)
    out = np.empty((height, width, 4), np.uint8)
    with g.drawing():
        for top in range(0, height, most):
            for left in range(0, width, most):
                box = left, top, min(most, width - left), min(most, height - top)
                out[top : top + box[3], left : left + box[2]] = _tile(g, scene, (width, height), box, camera, samples)
    g.device.check()
    transparent = as_scene(scene).background is None
    return Picture(_unmultiplied(out) if transparent else out)


def _tile(g: Gpu, scene: Node, whole: tuple[int, int], box: tuple[int, ...], camera: Camera, samples: int) -> np.ndarray:
    _left, _top, width, height = box
    size = (width, height)
    framebuffer, _ = draw_display(g, scene, size, Framed(camera, whole), samples, crop_of(whole, box))
    data = framebuffer.read(components=4, alignment=1)
    return np.frombuffer(data, np.uint8).reshape(height, width, 4)


def crop_of(whole: tuple[int, int], box: tuple[int, ...]) -> tuple[float, float, float, float]:
    """Factors and offsets of clip space that make a part (left, top, width, height) of a picture fill the target."""
    left, top, width, height = box
    x, y = whole[0] / width, whole[1] / height
    return x, -y, (whole[0] - 2 * left) / width - 1, (whole[1] - 2 * top) / height - 1


class Framed(Camera):
    """A camera for a part of a picture: it keeps the whole picture's aspect."""

    def __init__(self, camera: Camera, whole: tuple[int, int]) -> None:
        self.__dict__.update(camera.__dict__)
        self._camera, self._aspect = camera, whole[0] / whole[1]

    def box(self, aspect: float) -> tuple[int, float, float, float, float]:
        return self._camera.box(self._aspect)


def _unmultiplied(array: np.ndarray) -> np.ndarray:
    """Colours divided by their coverage, as PNG stores them."""
    alpha = array[..., 3:] / 255.0
    edge = (alpha > 0) & (alpha < 1)
    if not edge.any():
        return array
    rgb = encode(decode(array[..., :3] / 255.0) / np.maximum(alpha, 1e-6))
    return np.where(edge, np.concatenate([np.round(rgb * 255), array[..., 3:]], axis=2), array).astype(np.uint8)


def tensor(
    scene: Node, width: int = 800, height: int = 600, camera: Camera | None = None, samples: int = 4,
    dtype: Any = np.float32, tone: bool = False,
) -> Tensor:  # fmt: skip
    """The picture as a Tensor (H, W, 4) of linear light, no copy: the texture that was drawn into.

    dtype: float32 or float16. tone: applies the scene's tone mapping and exposure.
    """
    check_size(width, height)
    g = gpu()
    kind = {np.dtype(np.float32): "f4", np.dtype(np.float16): "f2"}.get(np.dtype(dtype))
    if kind is None:
        raise GpgpuError(f"a picture cannot be a tensor of {np.dtype(dtype)}: use float32 or float16")
    size = (width, height)
    with g.drawing():
        out = g.picture((height, width, 4), dtype)
        view = renderer.prepare(g, scene, camera, size)
        with g.target([out], size) as target:
            samples = _samples(g, samples)
            mode = None if tone else 0
            if samples:
                several = g.multisampled(size, samples, kind)
                renderer.draw(view, several, encode=False, flipped=True, tone=mode)
                g.resolve(several, target)
            else:
                renderer.draw(view, target, encode=False, flipped=True, tone=mode)
    g.device.check()
    return out


def buffers(
    scene: Node, width: int = 800, height: int = 600, camera: Camera | None = None, crop: Any = WHOLE
) -> dict[str, Tensor]:
    """What is seen at each pixel, as Tensors without a copy and without multisampling.

    color (H, W, 4) linear light; normal (H, W, 3) in the world; position (H, W, 4): in the world, and the distance along
    the view; id (H, W, 3) int32: number of the drawable from 1 in the order of scene.walk() (0: nothing), primitive, instance.
    """
    return draw_buffers(scene, width, height, camera, crop)[0]


def draw_buffers(
    scene: Node, width: int, height: int, camera: Camera | None, crop: Any
) -> tuple[dict[str, Tensor], View]:
    """As buffers(), with the view that was drawn: its drawables and their ids."""
    check_size(width, height)
    g = gpu()
    size = (width, height)
    channels = {"color": (4, np.float32), "normal": (3, np.float32), "position": (4, np.float32), "id": (3, np.int32)}
    with g.drawing():
        out = {name: g.picture((height, width, n), dtype) for name, (n, dtype) in channels.items()}
        view = renderer.prepare(g, scene, camera, size, crop)
        view.number()
        with g.target(out.values(), size) as target:
            renderer.draw(view, target, encode=False, flipped=True, tone=0, ids=True)
    g.device.check()
    return out, view


def depth(scene: Node, width: int = 800, height: int = 600, camera: Camera | None = None) -> Tensor:
    """Distances along the view (H, W) as a Tensor; 0 where nothing is seen."""
    return getitem(buffers(scene, width, height, camera)["position"], (..., 3))


def picture(t: Tensor, tone: str = "none", exposure: float = 1.0) -> Picture:
    """A Tensor of linear light (H, W), (H, W, 1, 3 or 4) as a picture: tone mapped, sRGB, bytes. Made on the device."""
    g = gpu()
    with g.drawing():
        framebuffer, _ = draw_tensor(g, t, tone, exposure)
        height, width = t.shape[:2]
        data = framebuffer.read(components=4, alignment=1)
    g.device.check()
    return Picture(np.frombuffer(data, np.uint8).reshape(height, width, 4))


def draw_tensor(g: Gpu, t: Tensor, tone: str = "none", exposure: float = 1.0) -> tuple[Any, Any]:
    """Draws a tensor into the kept sRGB target of its size: its framebuffer and texture."""
    if t.ndim == 2:
        t = reshape(t, (*t.shape, 1)).copy()
    if t.ndim != 3 or t.shape[2] not in (1, 3, 4) or t.dtype.kind != "f" or 0 in t.shape:
        raise ShapeError(f"a tensor of shape {t.shape}, {t.dtype} is no picture: it needs floats (H, W) or (H, W, 1, 3 or 4)")
    if tone not in TONES:
        raise GpgpuError(f"tone {tone!r} is unknown: use one of {', '.join(TONES)}")
    size = (t.shape[1], t.shape[0])
    framebuffer, texture = g.display(size)
    program = g.program("cover", "present", {"TONE": TONES[tone], "CHANNELS": t.shape[2], "EXPOSED": 1})
    present(g, program, lambda: program.set("picture_layout", g.bind_tensor(0, t)), framebuffer, size, exposure)
    return framebuffer, texture


def present(g: Gpu, program: Any, bind: Any, framebuffer: Any, size: tuple[int, int], exposure: float, encode: bool = True) -> None:
    """Runs present.glsl over a whole framebuffer."""
    framebuffer.use()
    for switch in (BLEND, CULL_FACE, DEPTH_TEST):
        g.ctx.disable_direct(switch)
    g.ctx.enable_direct(FRAMEBUFFER_SRGB) if encode else g.ctx.disable_direct(FRAMEBUFFER_SRGB)
    program.bind("picture", 0)
    program.set("target_size", (float(size[0]), float(size[1])))
    program.set("exposure", exposure)
    bind()
    g.no_attributes(program).render(moderngl.TRIANGLES, vertices=3)
