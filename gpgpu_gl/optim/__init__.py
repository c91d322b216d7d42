"""Optimisers, learning-rate schedules and gradient clipping, with PyTorch's names, semantics and defaults."""

from gpgpu_gl import bind as _bind  # binds the operators to Tensor
from gpgpu_gl.optim.clip import clip_grad_norm_
from gpgpu_gl.optim.optimizer import Optimizer
from gpgpu_gl.optim.optimizers import SGD, Adam, AdamW, RMSprop
from gpgpu_gl.optim.schedules import CosineAnnealingLR, LinearLR, Schedule, SequentialLR, StepLR, warmup_cosine

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "CosineAnnealingLR",
    "LinearLR",
    "Optimizer",
    "RMSprop",
    "Schedule",
    "SequentialLR",
    "StepLR",
    "clip_grad_norm_",
    "warmup_cosine",
]
