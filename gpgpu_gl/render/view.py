"""What one drawing needs to know of a scene: its drawables, lights and cameras, numbered, and their matrices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.render.camera import Camera, fitting
from gpgpu_gl.render.environment import LAYERS, prefiltered
from gpgpu_gl.render.gpu import Gpu
from gpgpu_gl.render.light import AmbientLight, DirectionalLight, Light
from gpgpu_gl.render.mesh import Mesh, Points
from gpgpu_gl.render.nodes import Node, Scene
from gpgpu_gl.render.state import plain_state
from gpgpu_gl.render.table import WHOLE, Table
from gpgpu_gl.tensor import Tensor

TONES = {"none": 0, "reinhard": 1, "aces": 2}
MOST_SHADOWS = 4
MOST_LIGHTS = 32


@dataclass
class View:
    """One drawing under way: the scene's table, its drawables and lights, and what all its shaders get."""

    gpu: Gpu
    scene: Scene
    camera: Camera
    table: Table
    drawables: list[Mesh | Points]
    size: tuple[int, int]
    defines: dict[str, int] = field(default_factory=dict)
    lights: dict[str, int] = field(default_factory=dict)
    uniforms: dict[str, Any] = field(default_factory=dict)
    matrices: Any = None
    joints: dict[int, Tensor] = field(default_factory=dict)
    shadow_cameras: list[tuple[int, Light]] = field(default_factory=list)
    shadows: list[Any] = field(default_factory=list)  # depth textures
    ids: dict[int, int] = field(default_factory=dict)

    def number(self) -> None:
        """Gives the drawables their ids, from 1."""
        self.ids = {id(d): n for n, d in enumerate(self.drawables, start=1)}

    def bounds(self, casters: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The box around all that is drawn (casters: around what shadows need), in the world."""
        corners = [world_corners(self.table, d) for d in self.drawables if not casters or isinstance(d, Mesh)]
        if not corners:
            return np.full(3, -1.0), np.full(3, 1.0)
        every = np.concatenate(corners)
        return every.min(axis=0), every.max(axis=0)


def world_corners(table: Table, node: Mesh | Points) -> np.ndarray:
    """Corners (n, 3) of a box around a drawable, in the world."""
    m = table.world(node)
    return node.local_corners() @ m[:3, :3].T + m[:3, 3]


def find_camera(root: Node) -> Camera | None:
    return next((n for n in root.walk() if isinstance(n, Camera)), None)


def default_camera(root: Node, aspect: float) -> Camera:
    """A camera that sees all that is drawn below root."""
    table = Table()
    corners = [world_corners(table, n) for n in root.walk() if isinstance(n, (Mesh, Points))]
    every = np.concatenate(corners) if corners else np.array([[-1.0, -1, -1], [1, 1, 1]])
    return fitting(every.min(axis=0), every.max(axis=0), aspect)


def as_scene(root: Node) -> Scene:
    """The scene itself, or a scene's surroundings for any other node (which stays where it is)."""
    if isinstance(root, Scene):
        return root
    scene = Scene()
    scene.children = [root]  # not add(): the node keeps its own parent
    return scene


def view_of(
    gpu: Gpu, root: Node, camera: Camera | None, size: tuple[int, int], crop: tuple[float, float, float, float] = WHOLE
) -> View:
    """Numbers nodes, lights and cameras, and has the device compute the matrices."""
    plain_state(gpu.ctx, gpu.sampled)  # there may have been a drawing before, and the matrices are computed by a pass
    scene = as_scene(root)
    aspect = size[0] / size[1]
    if camera is None:
        camera = find_camera(root) or default_camera(root, aspect)
    table = Table()
    drawables: list[Mesh | Points] = []
    lights: list[Light] = []
    for node in scene.walk():
        table.slot(node)
        if isinstance(node, (Mesh, Points)):
            drawables.append(node)
        elif isinstance(node, Light):
            lights.append(node)
    view = View(gpu, scene, camera, table, drawables, size)
    for drawable in drawables:
        if isinstance(drawable, Mesh) and drawable.skin is not None:
            for joint in drawable.skin.joints:
                table.slot(joint)
    main = table.camera(camera, aspect)
    eye = table.world(camera)
    if not lights and scene.environment is None:
        key = DirectionalLight(position=eye[:3, :3] @ np.array([-0.5, 1.0, 1.2]), intensity=0.9)
        lights = [key, AmbientLight(intensity=0.12)]
        table.slot(key)
    view.shadow_cameras = _lights(view, lights)
    view.matrices = table.matrices(gpu, crop)
    for drawable in drawables:
        if isinstance(drawable, Mesh) and drawable.skin is not None:
            view.joints[id(drawable)] = table.joints(view.matrices, drawable.skin)
    view.uniforms |= {
        "view": table.view_slot(main),
        "viewport": (float(size[0]), float(size[1])),
        "eye": tuple(eye[:3, 3]),
        "forward": tuple(camera.forward),
        "exposure": float(scene.exposure),
    }
    if scene.tone not in TONES:
        raise GpgpuError(f"tone {scene.tone!r} is unknown: use one of {', '.join(TONES)}")
    if scene.fog is not None:
        view.defines["FOG"] = 1 if scene.fog.range is None else 2
        view.uniforms["fog_color"] = (*scene.fog.color, scene.fog.density)
        view.uniforms["fog_range"] = scene.fog.range or (0.0, 1.0)
    if scene.environment is not None:
        prefiltered(gpu, scene.environment)  # now, since it sets GL state of its own
        view.uniforms |= {
            "irradiance": scene.environment.irradiance,
            "environment_layers": float(LAYERS),
            "environment_intensity": float(scene.environment.intensity),
            "sky_blur": float(scene.sky_blur),
        }
    return view


def _lights(view: View, lights: list[Light]) -> list[tuple[int, Light]]:
    """Fills in the lights' uniforms; the cameras of those that cast shadows."""
    ambient = np.zeros(3)
    positions: list[tuple[float, ...]] = []
    directions: list[tuple[float, ...]] = []
    colors: list[tuple[float, ...]] = []
    inners: list[float] = []
    cameras: list[tuple[int, Light]] = []
    views, offsets = [], []
    for light in lights:
        if isinstance(light, AmbientLight):
            ambient += light.radiance
            continue
        if len(positions) == MOST_LIGHTS:
            raise GpgpuError(f"a scene may have {MOST_LIGHTS} lights besides ambient ones; put more into an environment")
        shadow = -1
        if light.shadow:
            if len(cameras) == MOST_SHADOWS:
                raise GpgpuError(f"{MOST_SHADOWS} lights may cast shadows; set shadow=False on the others")
            low, high = view.bounds(casters=True)
            camera = light.shadow_camera(low, high)  # type: ignore[attr-defined]
            shadow = len(cameras)
            eye = view.table.camera(camera, 1.0)
            cameras.append((eye, light))
            views.append(eye)
            offsets.append(1.5 * float(np.linalg.norm(high - low)) / light.shadow_size)  # type: ignore[attr-defined]
        inner, outer = getattr(light, "cosines", (1.0, -1.0))
        direction = getattr(light, "direction", np.array([0.0, -1.0, 0.0]))
        number = len(positions)
        reach = float(getattr(light, "range", 0.0))
        view.lights |= {
            f"LIGHT{number}_KIND": light.kind,
            f"LIGHT{number}_RANGED": int(reach > 0 and light.kind > 0),
            f"LIGHT{number}_SHADOW": shadow,
        }
        positions.append(tuple(light.world_position()))
        directions.append((*direction, outer))
        colors.append((*light.radiance, reach))
        inners.append(inner)
    view.lights |= {"LIGHTS": len(positions), "SHADOWS": len(cameras)}
    view.uniforms["ambient"] = tuple(ambient)
    if positions:
        view.uniforms |= {
            "light_position": positions, "light_direction": directions, "light_color": colors, "light_inner": inners,
        }  # fmt: skip
    if cameras:
        view.uniforms |= {"shadow_view": [view.table.view_slot(n) for n in views], "shadow_offset": offsets}
    return cameras
