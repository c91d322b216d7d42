"""The dtypes that a texture can hold and how GLSL sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from gpgpu_gl.errors import DTypeError

float32 = np.dtype(np.float32)
float16 = np.dtype(np.float16)
int32 = np.dtype(np.int32)
bool_ = np.dtype(np.bool_)


@dataclass(frozen=True, slots=True)
class Format:
    """How one dtype is stored: moderngl's name, NumPy's dtype of a channel, GLSL's words for it."""

    gl: str
    channel: np.dtype
    bytes: int
    sampler: str
    texel: str
    scalar: str
    image: str
    qualifier: str


# A bool is a normalised byte, 0.0 or 1.0 in the shader, so that masks multiply without a conversion.
FORMATS: dict[np.dtype, Format] = {
    float32: Format("f4", float32, 16, "sampler2D", "vec4", "float", "image2D", "rgba32f"),
    float16: Format("f2", float16, 8, "sampler2D", "vec4", "float", "image2D", "rgba16f"),
    int32: Format("i4", int32, 16, "isampler2D", "ivec4", "int", "iimage2D", "rgba32i"),
    bool_: Format("f1", np.dtype(np.uint8), 4, "sampler2D", "vec4", "float", "image2D", "rgba8"),
}


def as_dtype(dtype: DTypeLike) -> np.dtype:
    """The library's dtype of that name. Raises DTypeError for one that textures cannot hold."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found not in FORMATS:
        names = ", ".join(str(d) for d in FORMATS)
        raise DTypeError(f"dtype {found or repr(dtype)} is not supported; use one of {names}")
    return found


def result_type(*dtypes: np.dtype) -> np.dtype:
    """The dtype of a result: bool < int32 < float16 < float32, as the array API promotes.

    An int32 with a float gives that float (the array API leaves the mix open; there is no float64 here).
    """
    order = (bool_, int32, float16, float32)
    return order[max(order.index(d) for d in dtypes)]
