"""Starting values of parameters, with PyTorch's names and rules. Each function fills a tensor and returns it.

The values are computed when the tensor is first used, so that those that others replace, such as a layer's own, cost nothing.

Fans are those of channels-last weights: linear (in, out), convolution (KH, KW, C_in / groups, C_out). The fan in is the
product of all sides but the last, the fan out that of all but the second last.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.ops import random
from gpgpu_gl.ops.create import full
from gpgpu_gl.ops.random import Generator
from gpgpu_gl.tensor import Tensor

GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
}


def _fill(t: Tensor, values: Callable[[], Tensor]) -> Tensor:
    t.defer(lambda: values().astype(t.dtype))
    return t


def constant_(t: Tensor, val: float) -> Tensor:
    """Fills with one number."""
    return _fill(t, lambda: full(t.shape, val, t.dtype))


def zeros_(t: Tensor) -> Tensor:
    """Fills with zeros."""
    return constant_(t, 0)


def ones_(t: Tensor) -> Tensor:
    """Fills with ones."""
    return constant_(t, 1)


def uniform_(t: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Numbers evenly spread over [a, b)."""
    return _fill(t, random.uniform_later(t.shape, a, b, generator)) if a < b else constant_(t, a)


def normal_(t: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normally distributed numbers."""
    return _fill(t, random.normal_later(t.shape, mean, std, generator))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before that activation grow; param: the slope of "leaky_relu" (0.01 by default)."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ShapeError(f"no gain is known for {nonlinearity!r}; choose leaky_relu, {', '.join(GAINS)}")
    return GAINS[nonlinearity]


def fans(t: Tensor) -> tuple[int, int]:
    """(fan in, fan out): inputs of one output, outputs of one input. Raises ShapeError below two axes."""
    if t.ndim < 2:
        raise ShapeError(f"fan in and fan out need a weight of two axes or more; this tensor has shape {t.shape}")
    window = math.prod(t.shape[:-2])
    return window * t.shape[-2], window * t.shape[-1]


def _kaiming(t: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ShapeError(f'mode is "fan_in" or "fan_out", not {mode!r}')
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fans(t)[mode == "fan_out"], 1))


def kaiming_uniform_(
    t: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Even over [-b, b), b = gain * sqrt(3 / fan); a: the slope of leaky_relu.

    K. He et al., "Delving deep into rectifiers", ICCV 2015. Raises ShapeError below two axes.
    """
    bound = math.sqrt(3) * _kaiming(t, a, mode, nonlinearity)
    return uniform_(t, -bound, bound, generator)


def kaiming_normal_(
    t: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal with standard deviation gain / sqrt(fan), as kaiming_uniform_. Raises ShapeError below two axes."""
    return normal_(t, 0.0, _kaiming(t, a, mode, nonlinearity), generator)


def _xavier(t: Tensor, gain: float) -> float:
    fan_in, fan_out = fans(t)
    return gain * math.sqrt(2 / max(fan_in + fan_out, 1))


def xavier_uniform_(t: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Even over [-b, b), b = gain * sqrt(6 / (fan in + fan out)).

    X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks", AISTATS 2010.
    Raises ShapeError below two axes.
    """
    bound = math.sqrt(3) * _xavier(t, gain)
    return uniform_(t, -bound, bound, generator)


def xavier_normal_(t: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with standard deviation gain * sqrt(2 / (fan in + fan out)). Raises ShapeError below two axes."""
    return normal_(t, 0.0, _xavier(t, gain), generator)
