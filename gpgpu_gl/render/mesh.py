"""What is drawn: meshes, instances, points and lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.render.color import Color, linear
from gpgpu_gl.render.geometry import Geometry
from gpgpu_gl.render.material import Material, PhongMaterial
from gpgpu_gl.render.nodes import Node
from gpgpu_gl.tensor import Tensor, tensor


class Skin:
    """Joints that move a mesh's vertices: nodes, and the inverse of each joint's matrix at rest, (n, 4, 4)."""

    def __init__(self, joints: Sequence[Node], inverse_bind: ArrayLike) -> None:
        self.joints = list(joints)
        matrices = np.asarray(inverse_bind, dtype=np.float32)
        if matrices.shape != (len(self.joints), 4, 4):
            raise ShapeError(f"a skin of {len(self.joints)} joints needs as many 4 x 4 matrices; got {matrices.shape}")
        self.inverse_bind = tensor(matrices)


class Mesh(Node):
    """A geometry with a material. casts_shadow: it is drawn into shadow maps."""

    def __init__(
        self, geometry: Geometry, material: Material | None = None, skin: Skin | None = None, **node: Any
    ) -> None:
        super().__init__(**node)
        self.geometry = geometry
        self.material = material if material is not None else PhongMaterial()
        self.skin = skin
        self.casts_shadow = True
        if skin is not None:
            if geometry.joints is None or geometry.weights is None:
                raise ShapeError(f"{geometry.source}: a skinned mesh needs joints and weights for its vertices")
            if geometry.joints.size and geometry.joints.max() >= len(skin.joints):
                last = int(geometry.joints.max())
                raise ShapeError(f"{geometry.source}: joint {last} is past the skin's {len(skin.joints)} joints")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Node:
        """The model in an OBJ, PLY, glTF or GLB file, as a node; see gpgpu_gl.render.load."""
        from gpgpu_gl.render.load import load

        return load(path)

    @property
    def instance_count(self) -> int:
        return 1

    def local_corners(self) -> np.ndarray:
        """Corners (n, 3) of boxes around what is drawn, in the node's coordinates."""
        low, high = self.geometry.bounds
        return np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3)


class InstancedMesh(Mesh):
    """One geometry at many places in one draw call.

    matrices: (n, 4, 4), an array, or a Tensor, which is used without a copy. colors: (n, 3 or 4) linear, multiplied in.
    """

    def __init__(
        self, geometry: Geometry, matrices: ArrayLike | Tensor, material: Material | None = None, colors: Any = None, **node: Any
    ) -> None:
        super().__init__(geometry, material, **node)
        self._box: tuple[int, np.ndarray] | None = None
        self.matrices = matrices if isinstance(matrices, Tensor) else tensor(np.asarray(matrices, np.float32))
        if self.matrices.ndim != 3 or self.matrices.shape[1:] != (4, 4):
            raise ShapeError(f"instances need matrices (n, 4, 4), not {self.matrices.shape}")
        self.colors = None
        if colors is not None:
            self.colors = colors if isinstance(colors, Tensor) else tensor(_rgba(colors))
            if self.colors.shape != (self.instance_count, 4):
                raise ShapeError(f"colors of {self.instance_count} instances need shape (n, 4), not {self.colors.shape}")
        self.extent: np.ndarray | None = None  # corners of a box around all instances, to be set where they move on the device

    @property
    def instance_count(self) -> int:
        return self.matrices.shape[0]

    def local_corners(self) -> np.ndarray:
        if self.extent is None:
            m = self.matrices.numpy().astype(np.float64)
            corners = super().local_corners()
            every = np.einsum("nij,kj->nki", m[:, :3, :3], corners) + m[:, None, :3, 3]
            low, high = every.min(axis=(0, 1)), every.max(axis=(0, 1))
            self.extent = np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3)
        return self.extent


def _rgba(colors: ArrayLike) -> np.ndarray:
    found = np.asarray(colors, np.float32)
    if found.ndim == 2 and found.shape[1] == 3:
        found = np.concatenate([found, np.ones((len(found), 1), np.float32)], axis=1)
    return found


class Points(Node):
    """Points. positions (n, 3 or 4) and colors (n, 3 or 4): arrays, or Tensors, which are used without a copy.

    size: in pixels, or with world_size=True the diameter in world units. opacity below 1, or additive=True (light adds
    up), blends. round: discs instead of squares.
    """

    def __init__(
        self,
        positions: ArrayLike | Tensor,
        color: Color = 1.0,
        colors: Any = None,
        size: float = 3.0,
        world_size: bool = False,
        round: bool = True,  # noqa: A002
        opacity: float = 1.0,
        additive: bool = False,
        **node: Any,
    ) -> None:
        super().__init__(**node)
        self.positions, self.colors = _rows("positions", positions), None if colors is None else _rows("colors", colors)
        if self.colors is not None and len(self.colors) != len(self.positions):
            raise ShapeError(f"{len(self.positions)} positions but {len(self.colors)} colors")
        self.color, self.size, self.world_size, self.round = linear(color), float(size), world_size, round
        self.opacity, self.additive = float(opacity), additive
        self.extent: np.ndarray | None = None

    def local_corners(self) -> np.ndarray:
        if self.extent is None:
            p = self.positions.numpy()[:, :3].astype(np.float64) if len(self.positions) else np.zeros((1, 3))
            self.extent = np.stack(np.meshgrid(*zip(p.min(axis=0), p.max(axis=0), strict=True)), axis=-1).reshape(-1, 3)
        return self.extent

    @property
    def primitives(self) -> int:
        """How many there are."""
        return len(self.positions)


class Lines(Points):
    """Lines, `size` pixels wide. positions (n, 3 or 4): joined one to the next, or with segments=True two by two."""

    def __init__(self, positions: ArrayLike | Tensor, segments: bool = False, **points: Any) -> None:
        super().__init__(positions, **{"size": 2.0, **points})
        self.segments = segments
        if segments and len(self.positions) % 2:
            raise ShapeError(f"segments need an even number of positions, not {len(self.positions)}")

    @property
    def primitives(self) -> int:
        return len(self.positions) // 2 if self.segments else max(len(self.positions) - 1, 0)


def _rows(what: str, values: ArrayLike | Tensor) -> Tensor:
    found = values if isinstance(values, Tensor) else tensor(np.asarray(values, np.float32))
    if found.ndim != 2 or found.shape[1] not in (3, 4) or found.dtype.kind != "f":
        raise ShapeError(f"{what} need floats (n, 3) or (n, 4), not {found.dtype} of shape {found.shape}")
    return found
