"""A plain NumPy twin of the small CNN that the library trains, written apart from it, to compare losses with.

conv 1-16 5x5 same, relu, max-pool 2, conv 16-32 5x5 same, relu, max-pool 2, linear 1568-128, relu, linear 128-10;
softmax cross-entropy, mean over the batch; Adam as in PyTorch. Channels last: images (N, H, W, C),
convolution weights (KH, KW, C_in, C_out), linear weights (in, out).
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

SHAPES: dict[str, tuple[int, ...]] = {
    "conv1.weight": (5, 5, 1, 16),
    "conv1.bias": (16,),
    "conv2.weight": (5, 5, 16, 32),
    "conv2.bias": (32,),
    "linear1.weight": (1568, 128),
    "linear1.bias": (128,),
    "linear2.weight": (128, 10),
    "linear2.bias": (10,),
}


def he_normal(rng: np.random.Generator, dtype: type = np.float32) -> dict[str, np.ndarray]:
    """Starting parameters: weights normal with variance 2 / fan_in, biases zero."""
    params: dict[str, np.ndarray] = {}
    for name, shape in SHAPES.items():
        fan_in = int(np.prod(shape[:-1]))
        scale = np.sqrt(2 / fan_in) if name.endswith("weight") else 0.0
        params[name] = (rng.standard_normal(shape) * scale).astype(dtype)
    return params


def windows(x: np.ndarray, size: int) -> np.ndarray:
    """(N, H, W, C) zero-padded to (N, H, W, size * size * C): the window around each pixel, row-major, channels last."""
    pad = size // 2
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    view = sliding_window_view(padded, (size, size), axis=(1, 2))  # (N, H, W, C, size, size)
    return view.transpose(0, 1, 2, 4, 5, 3).reshape(*x.shape[:3], -1)


def conv(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return windows(x, weight.shape[0]) @ weight.reshape(-1, weight.shape[-1]) + bias


def conv_gradients(x: np.ndarray, weight: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of conv() by weight and bias."""
    size, _, c_in, c_out = weight.shape
    dw = windows(x, size).reshape(-1, size * size * c_in).T @ dy.reshape(-1, c_out)
    return dw.reshape(weight.shape), dy.sum(axis=(0, 1, 2))


def conv_input_gradient(weight: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """The gradient of conv() by x: a convolution with the weight turned about."""
    turned = weight[::-1, ::-1].transpose(0, 1, 3, 2).reshape(-1, weight.shape[2])
    return windows(dy, weight.shape[0]) @ turned


def pool_windows(x: np.ndarray) -> np.ndarray:
    """(N, H, W, C) to (N, H/2, W/2, 4, C): the four pixels of each 2 x 2 window, row-major."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // 2, w // 2, 4, c)


def max_pool(x: np.ndarray) -> np.ndarray:
    return pool_windows(x).max(axis=3)


def max_pool_gradient(x: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """The whole gradient goes to the first of equal maxima, in row-major order."""
    n, h, w, c = x.shape
    first = pool_windows(x).argmax(axis=3)[:, :, :, np.newaxis]
    spread = np.where(np.arange(4).reshape(4, 1) == first, dy[:, :, :, np.newaxis], np.zeros((), dy.dtype))
    return spread.reshape(n, h // 2, w // 2, 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean loss of (N, K) logits, and its gradient."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    gradient = np.exp(log_p)
    gradient[rows, labels] -= 1
    return -float(log_p[rows, labels].mean()), gradient / len(labels)


class Twin:
    """The network with its Adam state; params are copied and keep their dtype (float32, or float64 to check it)."""

    def __init__(self, params: dict[str, np.ndarray], betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8):
        shapes = {name: array.shape for name, array in params.items()}
        if shapes != SHAPES:
            raise ValueError(f"parameters have shapes {shapes}, expected {SHAPES}")
        self.params = {name: array.copy() for name, array in params.items()}
        self.m = {name: np.zeros_like(array) for name, array in params.items()}
        self.v = {name: np.zeros_like(array) for name, array in params.items()}
        self.betas, self.eps, self.steps = betas, eps, 0

    def forward(self, images: np.ndarray) -> np.ndarray:
        """Logits (N, 10) of images (N, 28, 28, 1)."""
        p = self.params
        self.c1 = conv(images, p["conv1.weight"], p["conv1.bias"])
        self.r1 = np.maximum(self.c1, 0)
        self.p1 = max_pool(self.r1)
        self.c2 = conv(self.p1, p["conv2.weight"], p["conv2.bias"])
        self.r2 = np.maximum(self.c2, 0)
        self.flat = max_pool(self.r2).reshape(len(images), -1)
        self.l1 = self.flat @ p["linear1.weight"] + p["linear1.bias"]
        self.r3 = np.maximum(self.l1, 0)
        return self.r3 @ p["linear2.weight"] + p["linear2.bias"]

    def gradients(self, images: np.ndarray, labels: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        """The mean loss and its gradient by each parameter."""
        p, g = self.params, {}
        loss, d = cross_entropy(self.forward(images), labels)
        g["linear2.weight"], g["linear2.bias"] = self.r3.T @ d, d.sum(axis=0)
        d = (d @ p["linear2.weight"].T) * (self.l1 > 0)
        g["linear1.weight"], g["linear1.bias"] = self.flat.T @ d, d.sum(axis=0)
        d = (d @ p["linear1.weight"].T).reshape(-1, 7, 7, 32)
        d = max_pool_gradient(self.r2, d) * (self.c2 > 0)
        g["conv2.weight"], g["conv2.bias"] = conv_gradients(self.p1, p["conv2.weight"], d)
        d = max_pool_gradient(self.r1, conv_input_gradient(p["conv2.weight"], d)) * (self.c1 > 0)
        g["conv1.weight"], g["conv1.bias"] = conv_gradients(images, p["conv1.weight"], d)
        return loss, g

    def step(self, images: np.ndarray, labels: np.ndarray, lr: float) -> float:
        """One Adam step on the batch; the loss before it."""
        loss, gradients = self.gradients(images, labels)
        self.steps += 1
        beta1, beta2 = self.betas
        correction1, correction2 = 1 - beta1**self.steps, 1 - beta2**self.steps
        for name, g in gradients.items():
            m, v = self.m[name], self.v[name]
            m += (1 - beta1) * (g - m)
            v += (1 - beta2) * (g * g - v)
            self.params[name] -= lr / correction1 * m / (np.sqrt(v) / np.sqrt(correction2) + self.eps)
        return loss
