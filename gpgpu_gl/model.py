"""The small CNN that `gpgpu-gl train` trains."""

from __future__ import annotations

from gpgpu_gl import nn
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.ops.elementwise import relu
from gpgpu_gl.ops.pool import max_pool2d
from gpgpu_gl.ops.shape import reshape
from gpgpu_gl.tensor import Tensor


class SmallCNN(nn.Module):
    """Two 5 x 5 convolutions with max pooling, then two linear layers.

    height, width, channels: of an input image; classes: outputs. Images are (N, height, width, channels), the result
    is logits, (N, classes). For 28 x 28 x 1 and 10 classes: 215,370 parameters.
    """

    def __init__(self, height: int = 28, width: int = 28, channels: int = 1, classes: int = 10) -> None:
        super().__init__()
        if height < 4 or width < 4:
            raise ShapeError(f"images of {height} x {width}: the network halves them twice and needs at least 4 x 4")
        self.features = (height // 4) * (width // 4) * 32
        self.conv1 = nn.Conv2d(channels, 16, 5, padding="same")
        self.conv2 = nn.Conv2d(16, 32, 5, padding="same")
        self.linear1 = nn.Linear(self.features, 128)
        self.linear2 = nn.Linear(128, classes)
        for layer in (self.conv1, self.conv2, self.linear1, self.linear2):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)

    def forward(self, images: Tensor) -> Tensor:
        x = max_pool2d(relu(self.conv1(images)), 2)
        x = max_pool2d(relu(self.conv2(x)), 2)
        x = reshape(x, (x.shape[0], self.features))
        return self.linear2(relu(self.linear1(x)))
