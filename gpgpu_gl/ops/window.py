"""The geometry of windows that slide over images: convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.ops.pointwise import is_integer
from gpgpu_gl.tensor import Tensor

Pair = int | Sequence[int]
Padding = int | str | Sequence[int] | Sequence[Sequence[int]]

# Steps that an invocation's loops may take in all: Mesa's software renderer leaves them after 32,768, without a word.
LONGEST_LOOP = 16384


@dataclass(frozen=True, slots=True)
class Geometry:
    """Sizes along (rows, columns): the image, the window, its steps, and padding (above, left), (below, right)."""

    image: tuple[int, int]
    window: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    border: tuple[int, int]
    end: tuple[int, int]

    @property
    def reach(self) -> tuple[int, int]:
        """Pixels from a window's first tap to its last, both counted."""
        return tuple(d * (k - 1) + 1 for d, k in zip(self.dilation, self.window, strict=True))  # type: ignore[return-value]

    @property
    def result(self) -> tuple[int, int]:
        """Number of windows."""
        sizes = zip(self.image, self.border, self.end, self.reach, self.stride, strict=True)
        return tuple((n + b + e - r) // s + 1 for n, b, e, r, s in sizes)  # type: ignore[return-value]

    @property
    def uniforms(self) -> dict[str, Any]:
        """What lib/window.glsl reads."""
        return {
            "image": self.image,
            "result": self.result,
            "window": self.window,
            "stride": self.stride,
            "dilation": self.dilation,
            "border": self.border,
        }


def pair(value: Any, name: str, least: int) -> tuple[int, int]:
    """A number or two numbers as (rows, columns). Raises ShapeError for anything else or below `least`."""
    both = (value, value) if is_integer(value) else value
    if isinstance(both, str) or not isinstance(both, Sequence) or len(both) != 2 or not all(map(is_integer, both)):
        raise ShapeError(f"{name} is a whole number or a pair of them (rows, columns), not {value!r}")
    if min(both) < least:
        raise ShapeError(f"{name} {value!r} is too small: at least {least}")
    return int(both[0]), int(both[1])


def geometry(
    what: str, image: tuple[int, int], window: tuple[int, int], stride: Pair, dilation: Pair, padding: Padding
) -> Geometry:
    """The geometry of an operation whose shapes `what` describes in errors.

    padding: a number, (rows, columns), ((above, below), (left, right)), "valid" (none) or "same" (as many windows as
    the image side divided by the stride, rounded up; the odd pixel of padding goes to the end, as TensorFlow's).
    Raises ShapeError where no window fits.
    """
    steps, spread = pair(stride, "stride", 1), pair(dilation, "dilation", 1)
    reach = tuple(d * (k - 1) + 1 for d, k in zip(spread, window, strict=True))
    if padding == "same":
        total = [max((-(-n // s) - 1) * s + r - n, 0) for n, s, r in zip(image, steps, reach, strict=True)]
        border = (total[0] // 2, total[1] // 2)
        end = (total[0] - border[0], total[1] - border[1])
    elif padding == "valid":
        border = end = (0, 0)
    elif isinstance(padding, str):
        raise ShapeError(f'padding is a number, a pair, "same" or "valid", not {padding!r}')
    elif isinstance(padding, Sequence) and len(padding) == 2 and all(isinstance(p, Sequence) for p in padding):
        above, left = pair(padding[0], "padding", 0), pair(padding[1], "padding", 0)
        border, end = (above[0], left[0]), (above[1], left[1])
    else:
        border = end = pair(padding, "padding", 0)
    made = Geometry(image, window, steps, spread, border, end)
    for axis, side in enumerate(("rows", "columns")):
        padded = image[axis] + border[axis] + end[axis]
        if padded < reach[axis]:
            raise ShapeError(
                f"{what}: the image has {padded} {side} with padding {padding!r}, but one window needs {reach[axis]} "
                f"(dilation * (kernel - 1) + 1); pad more or use a smaller kernel"
            )
    return made


def check_float(name: str, x: Tensor) -> None:
    """Raises DTypeError unless x is a tensor of floats."""
    if not isinstance(x, Tensor):
        raise DTypeError(f"{name} needs a tensor, not {type(x).__name__}: use tensor(x)")
    if x.dtype.kind != "f":
        raise DTypeError(f"{name} needs float tensors; one is {x.dtype}: use astype('float32')")


def check_images(name: str, x: Tensor) -> None:
    """Raises unless x is a batch of float images (N, H, W, C)."""
    check_float(name, x)
    if x.ndim != 4:
        raise ShapeError(f"{name} needs images of shape (N, H, W, C); this tensor has shape {x.shape}")
