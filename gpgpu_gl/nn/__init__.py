"""Layers, losses and starting values, with PyTorch's names; images are channels last. Functions are in gpgpu_gl itself."""

from gpgpu_gl import bind as _bind  # binds the operators to Tensor
from gpgpu_gl.nn import init
from gpgpu_gl.nn.activations import GELU, Identity, LeakyReLU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from gpgpu_gl.nn.layers import AvgPool2d, Conv2d, Dropout, Embedding, Flatten, Linear, MaxPool2d
from gpgpu_gl.nn.losses import BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from gpgpu_gl.nn.module import Module, ModuleList, Parameter, Sequential
from gpgpu_gl.nn.norm import BatchNorm2d, LayerNorm

__all__ = [
    "GELU",
    "AvgPool2d",
    "BCEWithLogitsLoss",
    "BatchNorm2d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "Identity",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "init",
]
