"""Moving a camera by mouse and keys: orbit, pan, zoom, fly."""

from __future__ import annotations

import math

import numpy as np

from gpgpu_gl.render.camera import Camera, OrthographicCamera
from gpgpu_gl.render.nodes import rotation_matrix

# key: direction of flight in the camera's own axes (right, up, back)
FLIGHT = {"w": (0, 0, -1), "s": (0, 0, 1), "a": (-1, 0, 0), "d": (1, 0, 0), "e": (0, 1, 0), "q": (0, -1, 0)}


class Controls:
    """Moves a camera around a target: the point that it looks at, `distance` before it."""

    def __init__(self, camera: Camera, distance: float | None = None) -> None:
        self.camera = camera
        self.start = camera.translation.copy(), camera.rotation.copy(), getattr(camera, "height", 0.0)
        self.distance = float(np.linalg.norm(camera.translation)) if distance is None else distance
        self.distance = max(self.distance, 1e-3)

    @property
    def axes(self) -> np.ndarray:
        """Right, up and back of the camera as columns."""
        return rotation_matrix(self.camera.rotation)

    @property
    def target(self) -> np.ndarray:
        return self.camera.translation - self.axes[:, 2] * self.distance

    def orbit(self, dx: float, dy: float) -> None:
        """Turns about the target by fractions of the window: a whole width is half a turn."""
        target = self.target
        offset = self.camera.translation - target
        azimuth = math.atan2(offset[0], offset[2]) - dx * math.pi
        height = math.asin(np.clip(offset[1] / self.distance, -1, 1)) + dy * math.pi
        height = float(np.clip(height, -1.55, 1.55))  # not over the poles, where up would turn round
        flat = math.cos(height) * self.distance
        away = np.array([math.sin(azimuth) * flat, math.sin(height) * self.distance, math.cos(azimuth) * flat])
        self.camera.translation = target + away
        self.camera.look_at(target)

    def pan(self, dx: float, dy: float) -> None:
        """Moves sideways by fractions of the window, so that what is grabbed stays under the pointer."""
        high = getattr(self.camera, "height", None)
        if high is None:
            high = 2 * self.distance * math.tan(math.radians(getattr(self.camera, "fov_y", 45.0)) / 2)
        axes = self.axes
        self.camera.translation = self.camera.translation + (-dx * axes[:, 0] + dy * axes[:, 1]) * high

    def zoom(self, steps: float) -> None:
        """Goes nearer (positive) or away; each step is a tenth of the distance."""
        factor = 0.9**steps
        if isinstance(self.camera, OrthographicCamera):
            self.camera.height *= factor
            return
        target = self.target
        self.distance *= factor
        self.camera.translation = target + self.axes[:, 2] * self.distance

    def fly(self, keys: set[str], seconds: float) -> None:
        """Moves along the camera's axes while keys of FLIGHT are held: the distance to the target in a second."""
        way = np.sum([FLIGHT[k] for k in keys if k in FLIGHT] or [(0, 0, 0)], axis=0)
        self.camera.translation = self.camera.translation + self.axes @ way * self.distance * seconds

    def reset(self) -> None:
        self.camera.translation, self.camera.rotation = self.start[:2]
        if isinstance(self.camera, OrthographicCamera):
            self.camera.height = self.start[2]
        self.distance = max(float(np.linalg.norm(self.camera.translation)), 1e-3)
