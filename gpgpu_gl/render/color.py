"""Colours: names and hex strings are sRGB, as on screens; numbers are linear light, as in glTF."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from PIL import ImageColor

from gpgpu_gl.errors import GpgpuError

Color: TypeAlias = "str | ArrayLike"


def decode(x: np.ndarray) -> np.ndarray:
    """sRGB values in [0, 1] as linear light (IEC 61966-2-1)."""
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def encode(x: np.ndarray) -> np.ndarray:
    """Linear light in [0, 1] as sRGB values (IEC 61966-2-1)."""
    x = np.clip(x, 0, 1)
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def linear(color: Color) -> tuple[float, float, float]:
    """A colour as linear RGB: "#ff8800", "tomato", a grey number, or three (or four) linear numbers.

    Raises GpgpuError for anything else and for numbers that are not finite.
    """
    if isinstance(color, str):
        try:
            rgb = ImageColor.getrgb(color)[:3]
        except ValueError as error:
            raise GpgpuError(f"no colour is called {color!r}: use '#rrggbb', a CSS name, or three linear numbers") from error
        found = decode(np.array(rgb) / 255)
    else:
        array = np.asarray(color, dtype=np.float64)
        found = np.repeat(array, 3) if array.ndim == 0 else array
        if found.shape not in ((3,), (4,)) or not np.isfinite(found).all():
            raise GpgpuError(f"{color!r} is no colour: use '#rrggbb', a CSS name, or three finite linear numbers")
    r, g, b = (float(c) for c in found[:3])
    return r, g, b
