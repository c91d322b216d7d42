"""Normalising layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.nn.module import Module, Parameter
from gpgpu_gl.ops.create import ones, zeros
from gpgpu_gl.ops.norm import batch_norm, layer_norm
from gpgpu_gl.tensor import Tensor, engine


class BatchNorm2d(Module):
    """Mean 0 and variance 1 for each channel of images (N, H, W, num_features), then times weight, plus bias.

    In training by the batch's own mean and biased variance, while running_mean and running_var (unbiased) move towards
    them by the share `momentum` (None: they become the plain averages over all batches, which num_batches_tracked,
    on the host, counts). In evaluation by the running ones. All are (num_features).
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        if num_features < 1:
            raise ShapeError(f"BatchNorm2d: num_features must be at least 1, not {num_features}")
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(ones(num_features)) if affine else None
        self.bias = Parameter(zeros(num_features)) if affine else None
        track = track_running_stats
        self.running_mean: Tensor | None
        self.running_var: Tensor | None
        self.num_batches_tracked: np.ndarray | None
        self.register_buffer("running_mean", zeros(num_features) if track else None)
        self.register_buffer("running_var", ones(num_features) if track else None)
        self.register_buffer("num_batches_tracked", np.zeros((), np.int64) if track else None)

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim != 4 or x.shape[3] != self.num_features:
            raise ShapeError(
                f"BatchNorm2d({self.num_features}) needs images of shape (N, H, W, {self.num_features}), not {x.shape}"
            )
        batches = self.num_batches_tracked
        momentum: float | Callable[[], float] = 0.0 if self.momentum is None else self.momentum
        if self.training and batches is not None:

            def count() -> None:
                batches[...] += 1

            engine().host(count)
            if self.momentum is None:
                momentum = lambda: 1 / float(batches)  # noqa: E731  # asked for again whenever recorded passes are replayed
        return batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, self.training, momentum, self.eps
        )

    def extra_repr(self) -> str:
        names = ("num_features", "eps", "momentum", "affine", "track_running_stats")
        return ", ".join(str(self.num_features) if n == names[0] else f"{n}={getattr(self, n)}" for n in names)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes, whose sides are normalized_shape, then times weight, plus bias."""

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True
    ) -> None:
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        if not shape or min(shape) < 1:
            raise ShapeError(f"LayerNorm: normalized_shape needs sides of at least 1, not {normalized_shape}")
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.weight = Parameter(ones(shape)) if elementwise_affine else None
        self.bias = Parameter(zeros(shape)) if elementwise_affine and bias else None

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
