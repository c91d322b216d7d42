"""Cameras: nodes that look along their -z axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.render.nodes import Node


class Camera(Node):
    """Base of both cameras. position and target are in the parent's coordinates; near and far in world units."""

    def __init__(
        self,
        position: ArrayLike = (0, 0, 5),
        target: ArrayLike | None = None,
        near: float = 0.1,
        far: float = 100.0,
        up: ArrayLike = (0, 1, 0),
        **node: Any,
    ) -> None:
        super().__init__(translation=position, **node)
        self.near, self.far = float(near), float(far)
        if target is not None:
            self.look_at(target, up)

    def box(self, aspect: float) -> tuple[int, float, float, float, float]:
        """Kind (0 perspective, 1 orthographic) and its four numbers, as the kernel scene_matrices takes them."""
        raise NotImplementedError

    def check(self) -> None:
        """Raises GpgpuError where near and far enclose nothing."""
        if not (math.isfinite(self.near) and math.isfinite(self.far) and self.near < self.far):
            raise GpgpuError(f"a camera needs near < far, both finite; got near={self.near}, far={self.far}")

    def projection(self, aspect: float) -> np.ndarray:
        """The projection as NumPy, 4 x 4, for use on the host."""
        kind, a, b, c, d = self.box(aspect)
        n, f = self.near, self.far
        m = np.zeros((4, 4))
        if kind == 0:
            m[0, 0], m[1, 1] = 1 / math.tan(a / 2) / b, 1 / math.tan(a / 2)
            m[2, 2], m[2, 3], m[3, 2] = (f + n) / (n - f), 2 * f * n / (n - f), -1
        else:
            m[0, 0], m[1, 1], m[2, 2], m[3, 3] = 2 / (b - a), 2 / (d - c), -2 / (f - n), 1
            m[:3, 3] = -(b + a) / (b - a), -(d + c) / (d - c), -(f + n) / (f - n)
        return m

    def view(self) -> np.ndarray:
        """World to view as NumPy, 4 x 4; the camera's scale is left out."""
        world = np.array(self.world_matrix())
        axes = world[:3, :3] / np.linalg.norm(world[:3, :3], axis=0)
        view = np.eye(4)
        view[:3, :3], view[:3, 3] = axes.T, -axes.T @ world[:3, 3]
        return view

    @property
    def forward(self) -> np.ndarray:
        """The direction in which the camera looks, in the world."""
        return -self.view()[2, :3]


class PerspectiveCamera(Camera):
    """fov_y: opening angle from bottom to top, in degrees."""

    def __init__(self, fov_y: float = 45.0, **camera: Any) -> None:
        super().__init__(**camera)
        self.fov_y = float(fov_y)

    def box(self, aspect: float) -> tuple[int, float, float, float, float]:
        if not 0 < self.fov_y < 180 or self.near <= 0:
            raise GpgpuError(f"a perspective camera needs 0 < fov_y < 180 and near > 0; got {self.fov_y}, {self.near}")
        return 0, math.radians(self.fov_y), aspect, 0.0, 0.0


class OrthographicCamera(Camera):
    """height: of the box that is seen, in world units; its width follows from the picture."""

    def __init__(self, height: float = 2.0, **camera: Any) -> None:
        super().__init__(**camera)
        self.height = float(height)

    def box(self, aspect: float) -> tuple[int, float, float, float, float]:
        if not self.height > 0:
            raise GpgpuError(f"an orthographic camera needs height > 0; got {self.height}")
        y = self.height / 2
        return 1, -y * aspect, y * aspect, -y, y


def fitting(low: np.ndarray, high: np.ndarray, aspect: float = 1.5, direction: ArrayLike = (0.5, 0.4, 1.0)) -> PerspectiveCamera:
    """A perspective camera that sees the box from low to high, from that direction."""
    centre, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-6)
    d = np.asarray(direction, dtype=np.float64)
    half = math.radians(45 / 2)
    if aspect < 1:
        half = math.atan(math.tan(half) * aspect)
    away = radius / math.sin(half)
    return PerspectiveCamera(
        fov_y=45.0,
        position=centre + d / np.linalg.norm(d) * away,
        target=centre,
        near=max(away - 2 * radius, away * 0.01),
        far=away + 20 * radius,
    )
