"""Procedural geometry: plane, cube, sphere, torus, cylinder, terrain, teapot. y is up, sizes in world units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.render.geometry import Geometry
from gpgpu_gl.render.teapot import PATCHES, POINTS


def _grid(columns: int, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u and v of (columns + 1) x (rows + 1) vertices, and two triangles for each cell."""
    if columns < 1 or rows < 1:
        raise ShapeError(f"a grid needs at least one cell; got {columns} x {rows}")
    u, v = np.meshgrid(np.linspace(0, 1, columns + 1), np.linspace(0, 1, rows + 1))
    first = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    below = first + columns + 1
    triangles = np.stack([first, below, first + 1, first + 1, below, below + 1], axis=1).reshape(-1, 3)
    return u.ravel(), v.ravel(), triangles


def _surface(columns: int, rows: int, at: Callable[..., tuple], normal: Callable[..., tuple]) -> Geometry:
    u, v, triangles = _grid(columns, rows)
    positions, normals = np.stack(at(u, v), axis=1), np.stack(normal(u, v), axis=1)
    p = positions[triangles]
    area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    return Geometry(positions, triangles[area > 1e-12 * area.max()], normals, np.stack([u, v], axis=1))


def plane(width: float = 1.0, depth: float = 1.0, columns: int = 1, rows: int = 1) -> Geometry:
    """A rectangle in the xz plane around the origin, facing up."""
    return _surface(
        columns,
        rows,
        lambda u, v: ((u - 0.5) * width, 0 * u, (v - 0.5) * depth),
        lambda u, v: (0 * u, 0 * u + 1, 0 * u),
    )


def quad(width: float = 1.0, height: float = 1.0) -> Geometry:
    """A rectangle in the xy plane around the origin, facing +z, with a picture upright on it."""
    return _surface(
        1, 1, lambda u, v: ((u - 0.5) * width, (0.5 - v) * height, 0 * u), lambda u, v: (0 * u, 0 * u, 0 * u + 1)
    )


def cube(size: float = 1.0) -> Geometry:
    """A cube around the origin, 24 vertices, so that its faces are flat; a whole picture on each."""
    face = np.array([[-1, 1], [-1, -1], [1, -1], [1, 1]]) * 0.5
    axes = [  # right and up of each face
        ((0, 0, -1), (0, 1, 0)), ((0, 0, 1), (0, 1, 0)), ((1, 0, 0), (0, 0, -1)),
        ((1, 0, 0), (0, 0, 1)), ((1, 0, 0), (0, 1, 0)), ((-1, 0, 0), (0, 1, 0)),
    ]  # fmt: skip
    right, up = (np.array([a[k] for a in axes], float) for k in (0, 1))
    out = np.cross(right, up)
    positions = size * (face[None, :, :1] * right[:, None] + face[None, :, 1:] * up[:, None] + 0.5 * out[:, None])
    indices = np.arange(6)[:, None] * 4 + np.array([0, 1, 2, 0, 2, 3])
    uvs = np.tile(face * (1, -1) + 0.5, (6, 1))
    return Geometry(positions.reshape(-1, 3), indices, np.repeat(out, 4, axis=0), uvs)


def sphere(radius: float = 1.0, columns: int = 48, rows: int = 24) -> Geometry:
    """A sphere around the origin in rings about the y axis."""

    def normal(u: np.ndarray, v: np.ndarray) -> tuple:
        theta, phi = np.pi * v, 2 * np.pi * u
        return -np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)

    return _surface(columns, rows, lambda u, v: tuple(radius * x for x in normal(u, v)), normal)


def torus(radius: float = 1.0, tube: float = 0.4, columns: int = 48, rows: int = 24) -> Geometry:
    """A ring in the xz plane: radius to the middle of the tube, tube: its own radius."""

    def normal(u: np.ndarray, v: np.ndarray) -> tuple:
        phi, psi = 2 * np.pi * u, -2 * np.pi * v
        return np.cos(psi) * np.cos(phi), np.sin(psi), -np.cos(psi) * np.sin(phi)

    def at(u: np.ndarray, v: np.ndarray) -> tuple:
        x, y, z = normal(u, v)
        phi = 2 * np.pi * u
        return radius * np.cos(phi) + tube * x, tube * y, -radius * np.sin(phi) + tube * z

    return _surface(columns, rows, at, normal)


def terrain(size: float = 10.0, height: float = 1.5, cells: int = 96, seed: int = 0) -> Geometry:
    """Hills in the xz plane around the origin: octaves of random waves, the same for the same seed."""
    rng = np.random.default_rng(seed)
    u, v, triangles = _grid(cells, cells)
    y = np.zeros_like(u)
    for octave in range(1, 6):
        for _ in range(4):
            angle, phase = rng.uniform(0, 2 * np.pi, 2)
            y += np.sin(2 ** octave * (np.cos(angle) * u + np.sin(angle) * v) * 2.2 + phase) / 2 ** (1.1 * octave)
    y *= height / np.abs(y).max()
    shade = np.clip((y / height + 0.6) / 1.2, 0, 1)[:, None]
    colors = np.where(shade < 0.75, (0.03, 0.09, 0.02) + shade * np.array([0.12, 0.1, 0.04]), (0.75, 0.78, 0.8))
    positions = np.stack([(u - 0.5) * size, y, (v - 0.5) * size], axis=1)
    return Geometry(positions, triangles, None, np.stack([u, v], axis=1), colors)


def _bernstein(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The four cubic Bernstein polynomials at t, and their derivatives."""
    s = 1 - t
    values = np.stack([s**3, 3 * t * s**2, 3 * t**2 * s, t**3])
    slopes = np.stack([-3 * s**2, 3 * s**2 - 6 * t * s, 6 * t * s - 3 * t**2, 3 * t**2])
    return values, slopes


def bezier(patches: np.ndarray, cells: int = 8) -> Geometry:
    """Bicubic Bezier patches (n, 4, 4, 3) as triangles, with the surface's own normals; outside is du x dv."""
    u, v, triangles = _grid(cells, cells)
    (bu, du), (bv, dv) = _bernstein(u), _bernstein(v)
    points = np.einsum("nijk,jt,it->ntk", patches, bu, bv)
    normals = np.cross(np.einsum("nijk,jt,it->ntk", patches, bu, dv), np.einsum("nijk,jt,it->ntk", patches, du, bv))
    size = np.linalg.norm(normals, axis=2, keepdims=True)
    # Where a patch ends in a point, one of its tangents vanishes: take the normal a little inside.
    inner = 0.5 + (np.stack([u, v]) - 0.5) * 0.999
    (bu, du), (bv, dv) = _bernstein(inner[0]), _bernstein(inner[1])
    near = np.cross(np.einsum("nijk,jt,it->ntk", patches, bu, dv), np.einsum("nijk,jt,it->ntk", patches, du, bv))
    normals = np.where(size > 1e-6, normals, near)
    normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-12)
    indices = triangles[None] + (np.arange(len(patches)) * points.shape[1])[:, None, None]
    flat, indices = points.reshape(-1, 3), indices.reshape(-1, 3)
    p = flat[indices]
    area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    uvs = np.tile(np.stack([u, v], axis=1), (len(patches), 1))
    return Geometry(flat, indices[area > 1e-9], normals.reshape(-1, 3), uvs)


def teapot(cells: int = 8) -> Geometry:
    """The teapot of Martin Newell (1975), about 3 units wide, standing on y = 0; `cells`: steps along a patch's side."""
    points = np.array(POINTS)[np.array(PATCHES)].reshape(-1, 4, 4, 3)
    mirror_x, mirror_y = np.array([-1, 1, 1]), np.array([1, -1, 1])
    patches = []
    for n, patch in enumerate(points):
        patches += [patch, patch[:, ::-1] * mirror_y]
        if n < 6:  # rim, body, lid and bottom are quarters; handle and spout are halves
            patches += [patch[:, ::-1] * mirror_x, patch * mirror_x * mirror_y]
    found = bezier(np.stack(patches)[:, :, ::-1], cells)  # so that du x dv points outwards
    upright = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]]) * 0.5
    upright[3, 3] = 1
    return found.transformed(upright)
