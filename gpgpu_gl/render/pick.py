"""Picking: what is seen at a pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.ops.shape import getitem
from gpgpu_gl.render.camera import Camera
from gpgpu_gl.render.image import Framed, crop_of, draw_buffers
from gpgpu_gl.render.mesh import InstancedMesh, Mesh, Points
from gpgpu_gl.render.nodes import Node
from gpgpu_gl.render.view import View, default_camera, find_camera

AROUND = 16  # pixels drawn on each side: a point whose centre lies outside of the drawing is not drawn at all


@dataclass
class Hit:
    """What is seen at a pixel.

    node: the mesh, points or lines; primitive: its triangle, point or segment; instance: of an InstancedMesh, else 0;
    position (3,): in the world; distance: along the camera's view; barycentrics (3,): weights of the triangle's vertices
    at the position, None for points and lines.
    """

    node: Mesh | Points
    primitive: int
    instance: int
    position: np.ndarray
    distance: float
    barycentrics: np.ndarray | None


def pick(scene: Node, x: int, y: int, width: int, height: int, camera: Camera | None = None) -> Hit | None:
    """What a picture of width x height shows at pixel (x, y), counted from its upper left; None for the background.

    Draws the pixel and a few around it. Raises GpgpuError for a pixel outside of the picture.
    """
    if not (0 <= x < width and 0 <= y < height):
        raise GpgpuError(f"pixel ({x}, {y}) is outside of a picture of {width} x {height}")
    if camera is None:
        camera = find_camera(scene) or default_camera(scene, width / height)
    side = 2 * AROUND + 1
    box = (x - AROUND, y - AROUND, side, side)
    found, view = draw_buffers(scene, side, side, Framed(camera, (width, height)), crop_of((width, height), box))
    number, primitive, instance = (int(v) for v in getitem(found["id"], (AROUND, AROUND)).numpy())
    if number == 0:
        return None
    *position, distance = (float(v) for v in getitem(found["position"], (AROUND, AROUND)).numpy())
    node = next(d for d in view.drawables if view.ids[id(d)] == number)
    at = np.array(position)
    weights = None
    if isinstance(node, Mesh) and not node.material.wireframe:
        weights = _barycentrics(_triangle(view, node, primitive, instance), at)
    return Hit(node, primitive, instance, at, distance, weights)


def _triangle(view: View, mesh: Mesh, primitive: int, instance: int) -> np.ndarray:
    """The corners (3, 3) of a triangle in the world."""
    corners = mesh.geometry.indices[primitive]
    p = np.concatenate([mesh.geometry.positions[corners], np.ones((3, 1))], axis=1)
    if mesh.skin is not None and mesh.geometry.joints is not None and mesh.geometry.weights is not None:
        joints = view.joints[id(mesh)].numpy().astype(np.float64)
        m = np.einsum("vj,vjrc->vrc", mesh.geometry.weights[corners], joints[mesh.geometry.joints[corners].astype(int)])
        return np.einsum("vrc,vc->vr", m, p)[:, :3]
    m = view.table.world(mesh)
    if isinstance(mesh, InstancedMesh):
        m = m @ getitem(mesh.matrices, instance).numpy()
    return (p @ m.T)[:, :3]


def _barycentrics(triangle: np.ndarray, at: np.ndarray) -> np.ndarray:
    a, b, c = triangle
    n = np.cross(b - a, c - a)
    square = float(n @ n)
    if square == 0:
        return np.array([1.0, 0.0, 0.0])
    v, w = float(np.cross(at - a, c - a) @ n) / square, float(np.cross(b - a, at - a) @ n) / square
    return np.array([1 - v - w, v, w])
