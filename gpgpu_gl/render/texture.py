"""Textures of materials: pictures with mipmaps, or tensors as they are, without a copy."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, UnidentifiedImageError

from gpgpu_gl.errors import FileError, GpgpuError, ShapeError
from gpgpu_gl.tensor import Tensor

WRAPS = ("repeat", "clamp")
MOST_PIXELS = 1 << 28  # a picture that claims more is taken for a damaged or hostile file


class Texture:
    """A picture on a surface. Its first line is its top, where v = 0.

    data: a PIL image; an array (H, W), (H, W, 1, 3 or 4) of uint8, or of floats, which are linear light; or a float Tensor
    (H, W, 1, 3 or 4), whose texture is used as it is: what a pass writes into it is seen at once, without a copy. A
    list of arrays gives every mipmap, each half the size of the one before.
    srgb: uint8 data (or a tensor's values) are sRGB, as photographs are; False for normal and roughness maps.
    mipmaps, anisotropy: how it is seen from afar and at an angle (a tensor has no mipmaps). wrap: "repeat" or "clamp".
    smooth: interpolates between texels.
    """

    def __init__(
        self,
        data: Any,
        srgb: bool | None = None,
        mipmaps: bool = True,
        anisotropy: float = 8.0,
        wrap: str = "repeat",
        smooth: bool = True,
    ) -> None:
        if wrap not in WRAPS:
            raise GpgpuError(f"wrap {wrap!r} is unknown: use one of {', '.join(WRAPS)}")
        self.wrap, self.smooth, self.anisotropy = wrap, smooth, float(anisotropy)
        self.tensor: Tensor | None = None
        self.levels: list[np.ndarray] = []
        self.version = 0
        if isinstance(data, Tensor):
            _check_tensor(data)
            self.tensor, self.channels = data, data.shape[2]
            self.srgb, self.mipmaps = bool(srgb), False
            return
        levels = data if isinstance(data, list) and data and isinstance(data[0], np.ndarray) else [data]
        self.levels = [_pixels(level) for level in levels]
        self.channels = _channels(levels[0])
        self.srgb = self.levels[0].dtype == np.uint8 if srgb is None else srgb
        self.mipmaps = mipmaps
        for n, level in enumerate(self.levels):
            height, width = self.levels[0].shape[:2]
            wanted = max(1, height >> n), max(1, width >> n)
            if level.shape[:2] != wanted:
                raise ShapeError(f"mipmap {n} of a texture of {width} x {height} has shape {level.shape[:2]}, but needs {wanted}")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in texels."""
        height, width = self.tensor.shape[:2] if self.tensor is not None else self.levels[0].shape[:2]
        return width, height

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Texture:
        """The picture in a file (PNG, JPEG and what else Pillow reads). Raises FileError where it cannot be read."""
        return cls(read_picture(path), **options)

    @classmethod
    def load_or_mark(cls, path: str | os.PathLike[str], **options: Any) -> Texture:
        """As load(); a missing or broken file gives a magenta checkerboard, which is seen at once, and a warning."""
        try:
            return cls.load(path, **options)
        except FileError as error:
            warnings.warn(f"{error}. A magenta checkerboard takes its place", RuntimeWarning, stacklevel=2)
            return cls.broken()

    @classmethod
    def broken(cls) -> Texture:
        """The magenta checkerboard that stands for a texture that could not be read."""
        board = np.zeros((8, 8, 4), np.uint8)
        board[..., 3] = 255
        board[(np.indices((8, 8)).sum(axis=0) % 2).astype(bool)] = (255, 0, 255, 255)
        return cls(board, smooth=False)

    def update(self, data: ArrayLike) -> None:
        """Takes other pixels of the same size."""
        pixels = _pixels(data)
        if self.tensor is not None or pixels.shape != self.levels[0].shape:
            raise ShapeError("update() needs a picture of the texture's own size; write into a tensor by operators")
        self.levels = [pixels]
        self.version += 1


def read_picture(path: str | os.PathLike[str]) -> Image.Image:
    """A picture file, decoded. Raises FileError naming it where it is missing, broken or larger than 2^28 pixels."""
    try:
        with Image.open(path) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise FileError(f"{path}: {picture.width} x {picture.height} pixels are more than {MOST_PIXELS}; scale it down")
            picture.load()
            return picture
    except FileNotFoundError as error:
        raise FileError(f"{path}: there is no such picture") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: this picture cannot be read ({error}); save it again as PNG or JPEG") from error


def as_texture(value: Any, **options: Any) -> Texture | None:
    """A Texture as it is, a path as load(), anything else as Texture(value)."""
    if value is None or isinstance(value, Texture):
        return value
    if isinstance(value, (str, os.PathLike)):
        return Texture.load(value, **options)
    return Texture(value, **options)


def _check_tensor(t: Tensor) -> None:
    if t.ndim != 3 or t.shape[2] not in (1, 3, 4) or t.dtype.kind != "f" or 0 in t.shape:
        raise ShapeError(f"a tensor of shape {t.shape}, {t.dtype} is no texture: it needs floats (H, W, 1, 3 or 4)")
    storage = t.storage
    if (storage.height, storage.width) != t.shape[:2]:
        raise ShapeError(
            f"a tensor of shape {t.shape} lies in a texture of {storage.width} x {storage.height} texels, which is no picture "
            "of that size; take a copy() of it"
        )


def _channels(data: Any) -> int:
    if isinstance(data, Image.Image):
        return 4
    array = np.asarray(data)
    return 1 if array.ndim == 2 else array.shape[2]


def _pixels(data: Any) -> np.ndarray:
    """(H, W, 4), uint8 or float32."""
    if isinstance(data, Image.Image):
        return np.asarray(data.convert("RGBA"))
    array = np.asarray(data)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or 0 in array.shape or array.dtype.kind not in "uif":
        raise ShapeError(f"an array of shape {array.shape}, {array.dtype} is no picture: it needs (H, W) or (H, W, 1, 3 or 4)")
    if array.dtype != np.uint8:
        array = array.astype(np.float32)
    if array.shape[2] < 4:
        full = np.full((*array.shape[:2], 4), 255 if array.dtype == np.uint8 else 1, array.dtype)
        full[..., :3] = array
        array = full
    return np.ascontiguousarray(array)
