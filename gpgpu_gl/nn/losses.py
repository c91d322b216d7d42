"""Losses as modules; each is the operator of gpgpu_gl.ops.losses that its docstring names."""

from __future__ import annotations

from typing import Any

from gpgpu_gl.nn.module import Module
from gpgpu_gl.ops import losses
from gpgpu_gl.tensor import Tensor


class _Loss(Module):
    def __init__(self, reduction: str = "mean") -> None:
        losses.check_reduction(reduction)
        self.reduction = reduction

    def extra_repr(self) -> str:
        return "" if self.reduction == "mean" else f"reduction={self.reduction!r}"


class CrossEntropyLoss(_Loss):
    """cross_entropy(logits, target)."""

    def __init__(self, label_smoothing: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.label_smoothing = label_smoothing

    def forward(self, logits: Tensor, target: Any) -> Tensor:
        return losses.cross_entropy(logits, target, self.label_smoothing, self.reduction)


class NLLLoss(_Loss):
    """nll_loss(log_probabilities, labels)."""

    def forward(self, log_probabilities: Tensor, labels: Any) -> Tensor:
        return losses.nll_loss(log_probabilities, labels, self.reduction)


class MSELoss(_Loss):
    """mse_loss(x, target)."""

    def forward(self, x: Tensor, target: Any) -> Tensor:
        return losses.mse_loss(x, target, self.reduction)


class L1Loss(_Loss):
    """l1_loss(x, target)."""

    def forward(self, x: Tensor, target: Any) -> Tensor:
        return losses.l1_loss(x, target, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """binary_cross_entropy_with_logits(logits, target)."""

    def forward(self, logits: Tensor, target: Any) -> Tensor:
        return losses.binary_cross_entropy_with_logits(logits, target, self.reduction)
