"""Tensors as float textures, neural networks as OpenGL passes, and the pipeline that runs both.

    import gpgpu_gl as gg
    x = gg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = (x @ x.T).relu().sum()
    y.backward()
    x.grad.numpy()
"""

from typing import Any

from gpgpu_gl import bind as _bind  # binds the operators to Tensor
from gpgpu_gl.autograd import backward, grad, gradients, value_and_grad
from gpgpu_gl.capture import compile
from gpgpu_gl.dtypes import bool_, float16, float32, int32
from gpgpu_gl.errors import (
    ContextLost,
    DeviceError,
    DTypeError,
    FileError,
    GpgpuError,
    NonFiniteLoss,
    OutOfTextureMemory,
    ShaderError,
    ShapeError,
)
from gpgpu_gl.gl.context import Device, device, use
from gpgpu_gl.op import Op, enable_grad, is_grad_enabled, no_grad
from gpgpu_gl.ops.conv import conv2d
from gpgpu_gl.ops.create import arange, copy, full, ones, ones_like, zeros, zeros_like
from gpgpu_gl.ops.elementwise import (
    abs,
    add,
    astype,
    ceil,
    clip,
    cos,
    divide,
    equal,
    erf,
    exp,
    expm1,
    floor,
    floor_divide,
    gelu,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    leaky_relu,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    power,
    reciprocal,
    relu,
    remainder,
    round,
    rsqrt,
    sigmoid,
    sign,
    sin,
    softplus,
    sqrt,
    square,
    subtract,
    tanh,
    trunc,
    where,
)
from gpgpu_gl.ops.linear import matmul
from gpgpu_gl.ops.losses import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    l1_loss,
    mse_loss,
    nll_loss,
)
from gpgpu_gl.ops.norm import batch_norm, layer_norm, std, var
from gpgpu_gl.ops.pool import avg_pool2d, max_pool2d
from gpgpu_gl.ops.random import (
    Generator,
    bernoulli,
    default_generator,
    dropout,
    manual_seed,
    normal,
    permutation,
    randint,
    random_bits,
    uniform,
)
from gpgpu_gl.ops.reduce import all, any, argmax, argmin, max, mean, min, prod, sum
from gpgpu_gl.ops.scan import cumulative_sum, nonzero, repeat, searchsorted
from gpgpu_gl.ops.shape import (
    broadcast_to,
    concat,
    expand_dims,
    flip,
    pad,
    permute_dims,
    reshape,
    squeeze,
    stack,
)
from gpgpu_gl.ops.softmax import log_softmax, logsumexp, softmax
from gpgpu_gl.ops.sort import argsort, sort
from gpgpu_gl.ops.take import one_hot, take
from gpgpu_gl.profile import profile
from gpgpu_gl.tensor import Tensor, from_texture, tensor

__version__ = "0.1.0"
__all__ = [name for name in dir() if not name.startswith("_")]


def __getattr__(name: str) -> Any:
    """Imports the layers above at first use."""
    if name in ("data", "io", "nn", "optim", "pipeline", "render"):
        import importlib

        return importlib.import_module(f"gpgpu_gl.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
