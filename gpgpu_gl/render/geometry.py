"""Geometry: vertices and triangles, checked, and their buffers on the device."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpgpu_gl.errors import ShapeError

# attribute: (components, moderngl's format, NumPy's dtype)
ATTRIBUTES: dict[str, tuple[int, str, type]] = {
    "position": (3, "3f", np.float32),
    "normal": (3, "3f", np.float32),
    "uv": (2, "2f", np.float32),
    "color": (4, "4f", np.float32),
    "joints": (4, "4f", np.float32),
    "weights": (4, "4f", np.float32),
}


class Geometry:
    """Triangles over vertices.

    positions (n, 3); indices (m, 3), by default consecutive triples; normals (n, 3), by default smooth over shared
    vertices; uvs (n, 2) with v downwards from the picture's top; colors (n, 3 or 4) linear; joints (n, 4) and weights
    (n, 4) for skins. Triangles are counter-clockwise seen from the front.
    Raises ShapeError, naming `source`, for positions that are not finite, an index past the end, and wrong shapes;
    triangles without area are dropped, with a warning.
    """

    def __init__(
        self,
        positions: ArrayLike,
        indices: ArrayLike | None = None,
        normals: ArrayLike | None = None,
        uvs: ArrayLike | None = None,
        colors: ArrayLike | None = None,
        joints: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        source: str = "geometry",
    ) -> None:
        self.source = source
        self.positions = self._floats("positions", positions, 3)
        count = len(self.positions)
        self.indices = self._triangles(indices, count)
        if normals is None:
            self.normals = smooth_normals(self.positions, self.indices)
        else:
            self.normals = self._floats("normals", normals, 3, count)
        self.uvs = None if uvs is None else self._floats("uvs", uvs, 2, count)
        self.colors = None if colors is None else self._colors(colors, count)
        self.joints = None if joints is None else self._floats("joints", joints, 4, count)
        self.weights = None if weights is None else self._floats("weights", weights, 4, count)
        self.version = 0
        self._edges: np.ndarray | None = None

    def _floats(self, what: str, values: ArrayLike, width: int, count: int | None = None) -> np.ndarray:
        found = np.ascontiguousarray(np.asarray(values, dtype=np.float32))
        if found.ndim != 2 or found.shape[1] != width or (count is not None and len(found) != count):
            rows = "n" if count is None else count
            raise ShapeError(f"{self.source}: {what} have shape {found.shape}, but need ({rows}, {width})")
        bad = ~np.isfinite(found).all(axis=1)
        if bad.any():
            at = int(np.argmax(bad))
            raise ShapeError(
                f"{self.source}: {what} of vertex {at} are not finite: {found[at].tolist()} ({int(bad.sum())} such); "
                "export the mesh again, or remove those vertices"
            )
        return found

    def _colors(self, values: ArrayLike, count: int) -> np.ndarray:
        found = np.asarray(values)
        if found.dtype == np.uint8:
            found = found / np.float32(255)
        found = found.astype(np.float32)
        if found.ndim == 2 and found.shape[1] == 3:
            found = np.concatenate([found, np.ones((len(found), 1), np.float32)], axis=1)
        return self._floats("colors", found, 4, count)

    def _triangles(self, indices: ArrayLike | None, count: int) -> np.ndarray:
        if indices is None:
            if count % 3:
                raise ShapeError(f"{self.source}: {count} vertices without indices are no whole number of triangles")
            found = np.arange(count).reshape(-1, 3)
        else:
            found = np.asarray(indices)
            if found.dtype.kind not in "iu" or found.size % 3:
                raise ShapeError(
                    f"{self.source}: indices need whole numbers, three a triangle; got {found.dtype} of shape {found.shape}"
                )
            found = found.reshape(-1, 3).astype(np.int64)
        if found.size and (found.min() < 0 or found.max() >= count):
            wrong = int(found.max()) if found.max() >= count else int(found.min())
            raise ShapeError(
                f"{self.source}: index {wrong} is outside the {count} vertices (0 to {count - 1}); the file is damaged "
                "or counts from another start"
            )
        p = self.positions[found].astype(np.float64) if found.size else np.zeros((0, 3, 3))
        area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
        flat = area == 0
        if flat.any():
            if flat.all():
                raise ShapeError(f"{self.source}: all {len(found)} triangles have no area: nothing can be drawn")
            warnings.warn(f"{self.source}: {int(flat.sum())} of {len(found)} triangles have no area and are left out", stacklevel=4)
            found = found[~flat]
        return np.ascontiguousarray(found, dtype=np.uint32)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest corner of the box around the vertices."""
        if not len(self.positions):
            return np.zeros(3), np.zeros(3)
        return self.positions.min(axis=0).astype(np.float64), self.positions.max(axis=0).astype(np.float64)

    @property
    def edges(self) -> np.ndarray:
        """(m, 2): each edge of the triangles once."""
        if self._edges is None:
            pairs = np.sort(self.indices[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
            self._edges = np.ascontiguousarray(np.unique(pairs, axis=0), dtype=np.uint32)
        return self._edges

    def arrays(self) -> dict[str, np.ndarray]:
        """The attributes that there are, by the name that shaders use after in_."""
        given = {
            "position": self.positions,
            "normal": self.normals,
            "uv": self.uvs,
            "color": self.colors,
            "joints": self.joints,
            "weights": self.weights,
        }
        return {name: array for name, array in given.items() if array is not None}

    def changed(self) -> None:
        """To be called after the arrays were edited in place: they are sent again before the next drawing."""
        self.version += 1

    def transformed(self, matrix: ArrayLike) -> Geometry:
        """A copy with its vertices moved by a 4 x 4 matrix."""
        m = np.asarray(matrix, dtype=np.float64)
        turn = np.linalg.inv(m[:3, :3]).T
        normals = self.normals @ turn.T
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-20)
        flipped = self.indices[:, ::-1] if np.linalg.det(m[:3, :3]) < 0 else self.indices
        positions = self.positions @ m[:3, :3].T + m[:3, 3]
        return Geometry(positions, flipped, normals, self.uvs, self.colors, self.joints, self.weights, self.source)


def smooth_normals(positions: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3): the sum of the touching triangles' normals, weighted by their area."""
    p = positions[indices].astype(np.float64)
    faces = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    found = np.zeros((len(positions), 3))
    for corner in range(3):
        np.add.at(found, indices[:, corner], faces)
    size = np.linalg.norm(found, axis=1, keepdims=True)
    return np.where(size > 0, found / np.maximum(size, 1e-30), (0.0, 1.0, 0.0)).astype(np.float32)


def flat_normals(positions: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3) of triangles whose vertices are consecutive triples, the same for all three."""
    p = positions.reshape(-1, 3, 3).astype(np.float64)
    faces = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    faces /= np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-30)
    return np.repeat(faces, 3, axis=0).astype(np.float32)


def merged(parts: list[Geometry], **more: Any) -> Geometry:
    """One geometry of several that have the same attributes."""
    starts = np.cumsum([0, *(len(g.positions) for g in parts)])
    indices = np.concatenate([g.indices + start for g, start in zip(parts, starts, strict=False)])

    def joined(name: str) -> Any:
        found = [getattr(g, name) for g in parts]
        return None if any(f is None for f in found) else np.concatenate(found)

    names = ("normals", "uvs", "colors", "joints", "weights")
    return Geometry(np.concatenate([g.positions for g in parts]), indices, **{n: joined(n) for n in names}, **more)
