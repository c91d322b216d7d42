"""Layers with parameters or windows. Images are channels last: (N, H, W, C)."""

from __future__ import annotations

import math
from typing import Any

from gpgpu_gl.dtypes import float32
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.nn import init
from gpgpu_gl.nn.module import Module, Parameter
from gpgpu_gl.ops.conv import conv2d
from gpgpu_gl.ops.linear import matmul
from gpgpu_gl.ops.pool import avg_pool2d, max_pool2d
from gpgpu_gl.ops.random import Generator, dropout
from gpgpu_gl.ops.shape import reshape
from gpgpu_gl.ops.take import take
from gpgpu_gl.ops.window import Padding, Pair
from gpgpu_gl.tensor import Tensor, new


def _positive(layer: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ShapeError(f"{layer}: {name} must be at least 1, not {size}")


def _as_pytorch(weight: Parameter, bias: Parameter | None, generator: Generator | None) -> None:
    """Both even over [-b, b), b = 1 / sqrt(fan in): the values that PyTorch's linear and convolution layers start with."""
    init.kaiming_uniform_(weight, a=math.sqrt(5), generator=generator)
    if bias is not None:
        bound = 1 / math.sqrt(init.fans(weight)[0])
        init.uniform_(bias, -bound, bound, generator)


class Linear(Module):
    """y = x @ weight + bias: x (..., in_features) to y (..., out_features).

    weight: (in_features, out_features), PyTorch's transposed; bias: (out_features). generator: for the starting values.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, generator: Generator | None = None) -> None:
        _positive("Linear", in_features=in_features, out_features=out_features)
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(new((in_features, out_features), float32))
        self.bias = Parameter(new((out_features,), float32)) if bias else None
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draws new starting values."""
        _as_pytorch(self.weight, self.bias, generator)

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim == 0 or x.shape[-1] != self.in_features:
            raise ShapeError(
                f"Linear({self.in_features}, {self.out_features}) of a tensor of shape {x.shape}: its last axis must "
                f"have {self.in_features} elements"
            )
        y = matmul(x, self.weight)
        return y if self.bias is None else y + self.bias

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Conv2d(Module):
    """Convolution of images (N, H, W, in_channels) to (N, OH, OW, out_channels).

    weight: (KH, KW, in_channels / groups, out_channels), bias: (out_channels). kernel_size, stride, dilation: a number
    or (rows, columns); padding: these, pairs (before, after), "valid" or "same". generator: for the starting values.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Pair,
        stride: Pair = 1,
        padding: Padding = 0,
        dilation: Pair = 1,
        groups: int = 1,
        bias: bool = True,
        generator: Generator | None = None,
    ) -> None:
        rows, columns = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        _positive("Conv2d", in_channels=in_channels, out_channels=out_channels, kernel_size=min(rows, columns), groups=groups)
        if in_channels % groups or out_channels % groups:
            raise ShapeError(f"Conv2d: groups={groups} must divide in_channels={in_channels} and out_channels={out_channels}")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, (rows, columns)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.weight = Parameter(new((rows, columns, in_channels // groups, out_channels), float32))
        self.bias = Parameter(new((out_channels,), float32)) if bias else None
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draws new starting values."""
        _as_pytorch(self.weight, self.bias, generator)

    def forward(self, x: Tensor) -> Tensor:
        return conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        defaults = {"padding": 0, "dilation": 1, "groups": 1}
        parts += [f"{name}={getattr(self, name)!r}" for name, usual in defaults.items() if getattr(self, name) != usual]
        return ", ".join(parts if self.bias is not None else [*parts, "bias=False"])


class MaxPool2d(Module):
    """The largest pixel of each window, channel by channel; stride is by default the window's size."""

    def __init__(self, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0) -> None:
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding

    def forward(self, x: Tensor) -> Tensor:
        return max_pool2d(x, self.kernel_size, self.stride, self.padding)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(MaxPool2d):
    """The mean of each window, channel by channel; stride is by default the window's size."""

    def __init__(
        self, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0, count_include_pad: bool = True
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self.count_include_pad = count_include_pad

    def forward(self, x: Tensor) -> Tensor:
        return avg_pool2d(x, self.kernel_size, self.stride, self.padding, self.count_include_pad)


class Flatten(Module):
    """Axes from start_dim to end_dim as one, row-major: of images (N, H, W, C) the order is H, W, C, not PyTorch's C, H, W."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Tensor) -> Tensor:
        start, end = (d + x.ndim if d < 0 else d for d in (self.start_dim, self.end_dim))
        if not 0 <= start <= end < x.ndim:
            raise ShapeError(f"Flatten from axis {self.start_dim} to {self.end_dim} of a tensor of shape {x.shape}")
        return reshape(x, (*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :]))

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Embedding(Module):
    """A table of vectors looked up by number: int32 of any shape (...) to (..., embedding_dim).

    weight: (num_embeddings, embedding_dim), standard normal at the start. A number out of range gives NaN where it is on
    the device, ShapeError where it is on the host.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, generator: Generator | None = None) -> None:
        _positive("Embedding", num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = Parameter(new((num_embeddings, embedding_dim), float32))
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draws new starting values."""
        init.normal_(self.weight, generator=generator)

    def forward(self, indices: Any) -> Tensor:
        return take(self.weight, indices, axis=0)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"


class Dropout(Module):
    """In training: elements zeroed with probability p, the others divided by 1 - p. generator: by default the default one."""

    def __init__(self, p: float = 0.5, generator: Generator | None = None) -> None:
        if not 0 <= p <= 1:
            raise ShapeError(f"a probability is from 0 to 1, not {p}")
        self.p, self.generator = p, generator

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, self.training, self.generator)

    def extra_repr(self) -> str:
        return f"p={self.p}"
