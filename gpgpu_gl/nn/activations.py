"""Activations as layers; each is the operator of that name."""

from __future__ import annotations

from gpgpu_gl.nn.module import Module
from gpgpu_gl.ops import elementwise
from gpgpu_gl.ops.softmax import log_softmax, softmax
from gpgpu_gl.tensor import Tensor


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, x: Tensor) -> Tensor:
        return elementwise.relu(x)


class LeakyReLU(Module):
    """x where positive, else negative_slope * x."""

    def __init__(self, negative_slope: float = 0.01) -> None:
        self.negative_slope = negative_slope

    def forward(self, x: Tensor) -> Tensor:
        return elementwise.leaky_relu(x, negative_slope=self.negative_slope)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}"


class GELU(Module):
    """x times the normal distribution's share below x; approximate: "none" or "tanh"."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        return elementwise.gelu(x, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, x: Tensor) -> Tensor:
        return elementwise.sigmoid(x)


class Tanh(Module):
    """Hyperbolic tangent."""

    def forward(self, x: Tensor) -> Tensor:
        return elementwise.tanh(x)


class Softmax(Module):
    """exp(x) / sum(exp(x)) along the axis dim."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        return softmax(x, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """The logarithm of Softmax."""

    def forward(self, x: Tensor) -> Tensor:
        return log_softmax(x, self.dim)


class Identity(Module):
    """x itself."""

    def forward(self, x: Tensor) -> Tensor:
        return x
