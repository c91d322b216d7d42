"""Lights. An intensity of 1 lights a white matt surface that faces the light fully, at distance 1 for those with a place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpgpu_gl.render.camera import Camera, OrthographicCamera, PerspectiveCamera
from gpgpu_gl.render.color import Color, linear
from gpgpu_gl.render.nodes import Node


class Light(Node):
    """Base of all lights: color, intensity. It shines along its -z axis, where it has a direction."""

    kind = -1
    shadow = False

    def __init__(self, color: Color = 1.0, intensity: float = 1.0, **node: Any) -> None:
        super().__init__(**node)
        self.color = linear(color)
        self.intensity = float(intensity)

    @property
    def radiance(self) -> np.ndarray:
        return np.array(self.color) * self.intensity


class AmbientLight(Light):
    """The same light from all sides."""


class _Aimed(Light):
    """A light with a direction. shadow: it casts shadows, through a depth map of shadow_size x shadow_size texels."""

    def __init__(
        self, position: ArrayLike, target: ArrayLike, shadow: bool, shadow_size: int, **light: Any
    ) -> None:
        super().__init__(translation=position, **light)
        self.look_at(target)
        self.shadow = shadow
        self.shadow_size = shadow_size

    @property
    def direction(self) -> np.ndarray:
        """Where it shines, in the world, of unit length."""
        d = -self.world_matrix()[:3, 2]
        return d / np.linalg.norm(d)

    def shadow_camera(self, low: np.ndarray, high: np.ndarray) -> Camera:
        """The camera that sees what the light reaches of the box from low to high."""
        raise NotImplementedError


class DirectionalLight(_Aimed):
    """Parallel light from far away, from `position` towards `target` (only the direction counts)."""

    kind = 0

    def __init__(
        self,
        position: ArrayLike = (1, 2, 1.5),
        target: ArrayLike = (0, 0, 0),
        shadow: bool = False,
        shadow_size: int = 1024,
        **light: Any,
    ) -> None:
        super().__init__(position, target, shadow, shadow_size, **light)

    def shadow_camera(self, low: np.ndarray, high: np.ndarray) -> Camera:
        centre, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2 + 1e-6
        eye = centre - self.direction * radius * 2
        up = (0, 0, 1) if abs(self.direction[1]) > 0.99 else (0, 1, 0)
        return OrthographicCamera(height=2 * radius, position=eye, target=centre, near=radius, far=3 * radius, up=up)


class PointLight(Light):
    """Light from a point in all directions, falling off with the square of the distance; nothing beyond `range`."""

    kind = 1

    def __init__(self, position: ArrayLike = (0, 0, 0), range: float = 0.0, **light: Any) -> None:  # noqa: A002
        super().__init__(translation=position, **light)
        self.range = float(range)


class SpotLight(_Aimed):
    """Light from a point in a cone. angle: between its axis and its edge, in degrees; penumbra: soft part of it, 0 to 1."""

    kind = 2

    def __init__(
        self,
        position: ArrayLike = (0, 3, 0),
        target: ArrayLike = (0, 0, 0),
        angle: float = 30.0,
        penumbra: float = 0.2,
        range: float = 0.0,  # noqa: A002
        shadow: bool = False,
        shadow_size: int = 1024,
        **light: Any,
    ) -> None:
        super().__init__(position, target, shadow, shadow_size, **light)
        self.angle, self.penumbra, self.range = float(angle), float(penumbra), float(range)

    @property
    def cosines(self) -> tuple[float, float]:
        """Of the inner and the outer angle."""
        outer = math.radians(self.angle)
        return math.cos(outer * (1 - self.penumbra)), math.cos(outer)

    def shadow_camera(self, low: np.ndarray, high: np.ndarray) -> Camera:
        eye = self.world_position()
        reach = float(np.linalg.norm(np.maximum(np.abs(low - eye), np.abs(high - eye)))) + 1e-6
        up = (0, 0, 1) if abs(self.direction[1]) > 0.99 else (0, 1, 0)
        return PerspectiveCamera(
            fov_y=min(2 * self.angle + 1, 170),
            position=eye,
            target=eye + self.direction,
            near=reach * 0.01,
            far=reach,
            up=up,
        )
