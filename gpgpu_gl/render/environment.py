"""Environments: light from all around, as a picture in equirectangular projection."""

from __future__ import annotations

import math
import os
import weakref
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike
from PIL import Image

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.render.color import Color, decode, linear
from gpgpu_gl.render.gpu import Gpu
from gpgpu_gl.render.state import BLEND, CULL_FACE, DEPTH_TEST, FRAMEBUFFER_SRGB
from gpgpu_gl.render.texture import read_picture

LAYERS = 6  # roughnesses that are filtered beforehand
WIDTH = 256  # of a layer; twice its height


class Environment:
    """Light from all around.

    picture: (H, 2 H, 3) of linear floats, or sRGB uint8, or a PIL image: longitude along x with -z in the middle,
    latitude from straight up to straight down. intensity multiplies it.
    irradiance: nine spherical harmonics (3 numbers each) of what a matt surface gets, for a normal in the shader's order.
    """

    def __init__(self, picture: Any, intensity: float = 1.0) -> None:
        array = np.asarray(picture.convert("RGB") if isinstance(picture, Image.Image) else picture)
        if array.ndim != 3 or array.shape[2] not in (3, 4) or 0 in array.shape:
            raise ShapeError(f"an environment needs a picture (H, 2 H, 3), not {array.shape}")
        light = decode(array[..., :3] / 255.0) if array.dtype == np.uint8 else array[..., :3].astype(np.float64)
        if not np.isfinite(light).all():
            raise ShapeError("an environment's picture holds numbers that are not finite")
        self.light = np.ascontiguousarray(light, dtype=np.float32)
        self.intensity = float(intensity)
        self.irradiance = [tuple(float(c) for c in row) for row in irradiance(self.light)]

    @classmethod
    def load(cls, path: str | os.PathLike[str], intensity: float = 1.0) -> Environment:
        """The environment in a picture file. Raises FileError where it cannot be read."""
        return cls(read_picture(path), intensity)

    @classmethod
    def gradient(cls, up: Color = "#6fa0d8", horizon: Color = "#e8eef4", down: Color = "#50483c", sun: ArrayLike | None = None,
                 sun_intensity: float = 30.0, intensity: float = 1.0) -> Environment:  # fmt: skip
        """A plain sky over plain ground, with a soft sun in the direction `sun`, if that is given."""
        height = WIDTH // 2
        theta = (np.arange(height) + 0.5) / height * np.pi
        phi = ((np.arange(WIDTH) + 0.5) / WIDTH - 0.5) * 2 * np.pi
        y = np.cos(theta)[:, None, None]
        sky = np.array(linear(horizon)) + (np.array(linear(up)) - np.array(linear(horizon))) * np.clip(y, 0, 1) ** 0.5
        light = np.where(y > 0, sky, np.array(linear(down)) * (0.6 + 0.4 * np.clip(-y, 0, 1))) * np.ones((height, WIDTH, 1))
        if sun is not None:
            d = np.asarray(sun, float) / np.linalg.norm(sun)
            s = np.sin(theta)[:, None]
            toward = s * np.sin(phi) * d[0] + np.cos(theta)[:, None] * d[1] - s * np.cos(phi) * d[2]
            light = light + sun_intensity * (np.exp((toward - 1) * 900) + 0.02 * np.exp((toward - 1) * 30))[..., None]
        return cls(light.astype(np.float32), intensity)


def irradiance(light: np.ndarray) -> np.ndarray:
    """(9, 3): the picture's first spherical harmonics times the cosine's (R. Ramamoorthi, P. Hanrahan, 2001), over pi.

    Folded with the basis' constants, so that a shader only multiplies by 1, y, z, x, xy, yz, 3zz-1, xz, xx-yy.
    """
    height, width = light.shape[:2]
    theta = (np.arange(height) + 0.5) / height * np.pi
    phi = ((np.arange(width) + 0.5) / width - 0.5) * 2 * np.pi
    area = np.sin(theta)[:, None] * (np.pi / height) * (2 * np.pi / width)
    s = np.sin(theta)[:, None]
    x, y, z = s * np.sin(phi), np.cos(theta)[:, None] + 0 * phi, -s * np.cos(phi)
    basis = np.stack([x * 0 + 1, y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y])
    norm = np.array([0.282095, 0.488603, 0.488603, 0.488603, 1.092548, 1.092548, 0.315392, 1.092548, 0.546274])
    cosine = np.array([math.pi] + [2 * math.pi / 3] * 3 + [math.pi / 4] * 5)
    coefficients = np.einsum("nhw,hwc,hw->nc", basis, light.astype(np.float64), area)
    return coefficients * (norm**2 * cosine / math.pi)[:, None]


class Layers:
    """The texture array of one environment, and what releases it."""

    def __init__(self, texture: Any) -> None:
        self.texture = texture

    def release(self) -> None:
        self.texture.release()


def prefiltered(gpu: Gpu, environment: Environment) -> Any:
    """The environment's layers, from sharp to fully rough, filtered at first use (which sets GL state of its own)."""
    found = gpu.environments.get(environment)
    if found is not None:
        return found.texture
    height, width = environment.light.shape[:2]
    rgba = np.concatenate([environment.light, np.ones((height, width, 1), np.float32)], axis=2)
    source = gpu.ctx.texture((width, height), 4, rgba.astype(np.float16).tobytes(), dtype="f2")
    source.build_mipmaps()
    source.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    source.repeat_x, source.repeat_y = True, False
    layers = gpu.ctx.texture_array((WIDTH, WIDTH // 2, LAYERS), 4, dtype="f2")
    layers.filter = (moderngl.LINEAR, moderngl.LINEAR)
    layers.repeat_x, layers.repeat_y = True, False
    gl, ctx = raw(), gpu.ctx
    for switch in (BLEND, CULL_FACE, DEPTH_TEST, FRAMEBUFFER_SRGB):
        ctx.disable_direct(switch)
    before = gl.glGetIntegerv(gl.GL_DRAW_FRAMEBUFFER_BINDING), gl.glGetIntegerv(gl.GL_VIEWPORT)
    name = int(gl.glGenFramebuffers(1))
    gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, name)
    gl.glViewport(0, 0, WIDTH, WIDTH // 2)
    program = gpu.program("cover", "prefilter", {})
    program.bind("source", 0)
    program.set("size", (float(WIDTH), float(WIDTH // 2)))
    source.use(0)
    gpu.unsample(0)
    for layer in range(LAYERS):
        gl.glFramebufferTextureLayer(gl.GL_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, layers.glo, 0, layer)
        program.set("rough", layer / (LAYERS - 1))
        gpu.no_attributes(program).render(moderngl.TRIANGLES, vertices=3)
    gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, before[0])
    gl.glViewport(*before[1])
    gl.glDeleteFramebuffers(1, [name])
    source.release()
    found = gpu.environments[environment] = Layers(layers)
    weakref.finalize(environment, gpu.drop, found).atexit = False
    return layers
