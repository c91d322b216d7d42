"""Meshes and matrices for the pipeline's demonstrations, in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Mesh = dict[str, np.ndarray]


def surface(profile: np.ndarray, around: int) -> tuple[Mesh, np.ndarray]:
    """A surface of revolution about y: profile (n, 2) radii and heights. Returns attributes and (triangles, 3) indices.

    Attributes: position, normal, tangent (n, 3), uv (n, 2).
    """
    angle = np.linspace(0, 2 * np.pi, around + 1)
    cos, sin = np.cos(angle), np.sin(angle)
    r, h = profile[:, 0, None], profile[:, 1, None]
    slope = np.gradient(profile, axis=0)
    position = np.stack([r * cos, h + 0 * cos, r * sin], -1)
    normal = np.stack([slope[:, 1, None] * cos, -slope[:, 0, None] + 0 * cos, slope[:, 1, None] * sin], -1)
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-9)
    tangent = np.broadcast_to(np.stack([-sin, 0 * sin, cos], -1), position.shape)
    u, v = np.meshgrid(angle / (2 * np.pi), np.linspace(0, 1, len(profile)))
    attributes = {"position": position, "normal": normal, "tangent": tangent, "uv": np.stack([u, v], -1)}
    mesh = {name: np.ascontiguousarray(a.reshape(-1, a.shape[-1]), np.float32) for name, a in attributes.items()}
    a = (np.arange(len(profile) - 1)[:, None] * (around + 1) + np.arange(around)).reshape(-1)
    b, c, d = a + 1, a + around + 1, a + around + 2
    indices = np.stack([a, c, b, b, c, d], -1).reshape(-1, 3)
    return mesh, indices


def ball(parts: int = 24) -> tuple[Mesh, np.ndarray]:
    """A sphere of radius 1."""
    t = np.linspace(-np.pi / 2, np.pi / 2, parts)
    return surface(np.stack([np.cos(t), np.sin(t)], -1), parts)


def torus(parts: int = 24, thickness: float = 0.4) -> tuple[Mesh, np.ndarray]:
    """A ring of radius 1 about y."""
    t = np.linspace(0, 2 * np.pi, parts)
    return surface(np.stack([1 + thickness * np.cos(t), thickness * np.sin(t)], -1), 2 * parts)


def pot(around: int = 24, up: int = 22) -> tuple[Mesh, np.ndarray]:
    """A lidded pot of about 1,000 triangles, with a teapot's outline."""
    outline = [
        (0.0, -0.75), (0.75, -0.75), (0.8, -0.7), (1.0, -0.4), (1.1, -0.05), (1.0, 0.3), (0.8, 0.55), (0.75, 0.6),
        (0.7, 0.65), (0.4, 0.75), (0.12, 0.8), (0.1, 0.88), (0.18, 0.96), (0.12, 1.03), (0.0, 1.05),
    ]  # fmt: skip
    points = np.array(outline)
    along = np.linspace(0, 1, len(points))
    t = np.linspace(0, 1, up)
    return surface(np.stack([np.interp(t, along, points[:, i]) for i in range(2)], -1), around)


def plane(side: float = 3.0, height: float = -1.0) -> tuple[Mesh, np.ndarray]:
    """A square floor facing up."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32)
    position = np.stack([corners[:, 0] * side, np.full(4, height), -corners[:, 1] * side], -1).astype(np.float32)
    up, right = np.tile(np.eye(3, dtype=np.float32)[1], (4, 1)), np.tile(np.eye(3, dtype=np.float32)[0], (4, 1))
    return {"position": position, "normal": up, "tangent": right, "uv": corners / 2 + 0.5}, np.array(
        [[0, 1, 2], [0, 2, 3]]
    )


def perspective(degrees: float = 50.0, aspect: float = 4 / 3, near: float = 0.1, far: float = 30.0) -> np.ndarray:
    """The (4, 4) matrix of a perspective view along -z; degrees: of the vertical field of view."""
    f = 1 / np.tan(np.radians(degrees) / 2)
    m = np.zeros((4, 4), np.float32)
    m[0, 0], m[1, 1] = f / aspect, f
    m[2, 2], m[2, 3], m[3, 2] = (far + near) / (near - far), 2 * far * near / (near - far), -1
    return m


def orthographic(side: float, near: float, far: float) -> np.ndarray:
    """The (4, 4) matrix of a parallel view of a square of 2 * side."""
    m = np.diag([1 / side, 1 / side, -2 / (far - near), 1]).astype(np.float32)
    m[2, 3] = -(far + near) / (far - near)
    return m


def look_at(eye: Sequence[float], at: Sequence[float] = (0, 0, 0)) -> np.ndarray:
    """The (4, 4) view matrix of a camera at `eye` looking at `at`, y up."""
    e = np.array(eye, float)
    back = (e - np.array(at)) / np.linalg.norm(e - np.array(at))
    right = np.cross([0, 1, 0], back)
    right /= np.linalg.norm(right)
    m = np.eye(4)
    m[:3, :3] = np.stack([right, np.cross(back, right), back])
    m[:3, 3] = -m[:3, :3] @ e
    return m.astype(np.float32)


def turned(degrees: float, axis: int = 1) -> np.ndarray:
    """The (4, 4) matrix of a rotation about one axis."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    m: np.ndarray = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    m[i, i], m[i, j], m[j, i], m[j, j] = c, -s, s, c
    return m.astype(np.float32)


def separate(mesh: Mesh, indices: np.ndarray) -> Mesh:
    """The mesh with three vertices of its own for each triangle, and `corner`, (1, 0, 0) and so on, among them."""
    flat = indices.reshape(-1)
    return {name: a[flat] for name, a in mesh.items()} | {
        "corner": np.tile(np.eye(3, dtype=np.float32), (len(flat) // 3, 1))
    }
