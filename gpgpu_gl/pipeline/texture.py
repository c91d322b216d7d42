"""Textures and samplers for users' shaders, the same objects for the emulator and the hardware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.errors import GpgpuError, ShapeError
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.tensor import Tensor

FILTERS = (
    "nearest", "linear", "nearest_mipmap_nearest", "linear_mipmap_nearest", "nearest_mipmap_linear", "linear_mipmap_linear",
)  # fmt: skip
WRAPS = ("repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border")
KINDS = ("2d", "array", "cube", "3d", "shadow")


@dataclass(frozen=True, eq=False)
class Texture:
    """An image for a sampler uniform, with its sampling state.

    data: (H, W, C) for "2d", (layers, H, W, C) for "array" and "3d", (6, H, W, C) for "cube" in OpenGL's order of
    faces, (H, W) depths for "shadow"; row 0 is at t = 0. Bytes are normalised to [0, 1]; floats stay floats; other
    integers are for isampler uniforms. Tensors are taken as they are. C is 1 to 4.
    mipmap: levels are made by the driver from level 0 (always where the filter needs them).
    lod: (lowest, highest, bias). border: the colour beyond the edge with wrap "clamp_to_border".
    compare: of a shadow sampler, such as "lequal".
    """

    data: Any
    min_filter: str = "linear_mipmap_linear"
    mag_filter: str = "linear"
    wrap: str | tuple[str, str] = "repeat"
    kind: str = "2d"
    lod: tuple[float, float, float] = (-1000.0, 1000.0, 0.0)
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    compare: str = "lequal"

    def __post_init__(self) -> None:
        wraps = (self.wrap,) if isinstance(self.wrap, str) else self.wrap
        for name, values, known in (
            ("min_filter", (self.min_filter,), FILTERS),
            ("mag_filter", (self.mag_filter,), FILTERS[:2]),
            ("wrap", wraps, WRAPS),
            ("kind", (self.kind,), KINDS),
        ):
            for value in values:
                if value not in known:
                    raise GpgpuError(f"Texture.{name} is {value!r}; choose one of {', '.join(known)}")

    def array(self) -> np.ndarray:
        """The image on the host, with a channel axis. Raises ShapeError for a shape that the kind cannot have."""
        data = self.data.numpy() if isinstance(self.data, Tensor) else np.asarray(self.data)
        rank = {"2d": 3, "shadow": 2}.get(self.kind, 4)
        if self.kind == "2d" and data.ndim == 2:
            data = data[..., None]
        if data.ndim != rank or data.size == 0 or (rank > 2 and not 1 <= data.shape[-1] <= 4):
            raise ShapeError(f"a {self.kind} texture cannot have the shape {data.shape}; see Texture's documentation")
        if self.kind == "cube" and (data.shape[0] != 6 or data.shape[1] != data.shape[2]):
            raise ShapeError(f"a cube texture has six square faces, not the shape {data.shape}")
        if data.dtype == np.uint8 and self.kind != "shadow":
            return np.ascontiguousarray(data)
        return np.ascontiguousarray(data, np.int32 if data.dtype.kind in "iu" else np.float32)


class Bound:
    """A texture and a sampler object in OpenGL, released by `release`."""

    def __init__(self, ctx: moderngl.Context, texture: Texture) -> None:
        self.texture = _upload(ctx, texture)
        gl = raw()
        self.sampler = int(gl.glGenSamplers(1))
        wraps = (texture.wrap, texture.wrap) if isinstance(texture.wrap, str) else texture.wrap
        integers = getattr(self.texture, "dtype", "f4")[0] in "iu"
        least, most = ("nearest", "nearest") if integers else (texture.min_filter, texture.mag_filter)
        for name, value in (
            ("MIN_FILTER", getattr(gl, f"GL_{least.upper()}")),
            ("MAG_FILTER", getattr(gl, f"GL_{most.upper()}")),
            ("WRAP_S", getattr(gl, f"GL_{wraps[0].upper()}")),
            ("WRAP_T", getattr(gl, f"GL_{wraps[1].upper()}")),
            ("WRAP_R", getattr(gl, f"GL_{wraps[1].upper()}")),
            ("COMPARE_MODE", gl.GL_COMPARE_REF_TO_TEXTURE if texture.kind == "shadow" else gl.GL_NONE),
            ("COMPARE_FUNC", getattr(gl, f"GL_{texture.compare.upper()}")),
        ):
            gl.glSamplerParameteri(self.sampler, getattr(gl, f"GL_TEXTURE_{name}"), value)
        for name, number in zip(("MIN_LOD", "MAX_LOD", "LOD_BIAS"), texture.lod, strict=True):
            gl.glSamplerParameterf(self.sampler, getattr(gl, f"GL_TEXTURE_{name}"), number)
        gl.glSamplerParameterfv(self.sampler, gl.GL_TEXTURE_BORDER_COLOR, texture.border)

    def use(self, unit: int) -> None:
        """Binds both to a texture unit."""
        self.texture.use(unit)
        raw().glBindSampler(unit, self.sampler)

    def release(self) -> None:
        """Frees both."""
        raw().glDeleteSamplers(1, [self.sampler])
        self.texture.release()


def _upload(ctx: moderngl.Context, texture: Texture) -> Any:
    made: Any
    data = texture.array()
    kind = {"u": "f1", "f": "f4", "i": "i4"}[data.dtype.kind]
    channels = data.shape[-1]
    if texture.kind == "shadow":
        made = ctx.depth_texture(data.shape[::-1], np.ascontiguousarray(data).tobytes(), alignment=4)
    elif texture.kind == "2d":
        made = ctx.texture((data.shape[1], data.shape[0]), channels, data.tobytes(), dtype=kind, alignment=1)
    elif texture.kind == "cube":
        made = ctx.texture_cube((data.shape[2], data.shape[1]), channels, data.tobytes(), dtype=kind, alignment=1)
    elif texture.kind == "array":
        size = (data.shape[2], data.shape[1], data.shape[0])
        made = ctx.texture_array(size, channels, data.tobytes(), dtype=kind, alignment=1)
    else:
        size = (data.shape[2], data.shape[1], data.shape[0])
        made = ctx.texture3d(size, channels, data.tobytes(), dtype=kind, alignment=1)
    if "mipmap" in texture.min_filter and kind != "i4" and texture.kind != "shadow":
        made.build_mipmaps()
    return made
