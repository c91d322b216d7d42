"""The scene graph: nodes with a local transform and a parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gpgpu_gl.errors import GpgpuError, ShapeError
from gpgpu_gl.render.color import Color, linear

if TYPE_CHECKING:
    from gpgpu_gl.render.environment import Environment

N = TypeVar("N", bound="Node")


def _vector(what: str, value: ArrayLike, size: int) -> np.ndarray:
    found = np.array(value, dtype=np.float64)
    if found.ndim == 0 and what == "scale":
        found = np.repeat(found, size)
    if found.shape != (size,) or not np.isfinite(found).all():
        raise ShapeError(f"{what} needs {size} finite numbers, not {value!r}")
    found.setflags(write=False)  # assigning is noticed, editing in place would not be
    return found


def turn(axis: ArrayLike, angle: float) -> np.ndarray:
    """The quaternion (x, y, z, w) that turns by `angle` radians about `axis`."""
    a = _vector("axis", axis, 3)
    size = float(np.linalg.norm(a))
    if size == 0:
        raise ShapeError("an axis of length zero gives no rotation")
    return np.array([*(a / size * np.sin(angle / 2)), np.cos(angle / 2)])


def _product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Quaternion product: first q, then p."""
    v = p[3] * q[:3] + q[3] * p[:3] + np.cross(p[:3], q[:3])
    return np.array([*v, p[3] * q[3] - p[:3] @ q[:3]])


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    """The 3 x 3 matrix of a quaternion (x, y, z, w)."""
    x, y, z, w = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(m: np.ndarray) -> np.ndarray:
    """The quaternion of a 3 x 3 rotation matrix: the eigenvector that fits it best (I. Bar-Itzhack, 2000)."""
    (a, b, c), (d, e, f), (g, h, i) = m
    k = np.array(
        [
            [a - e - i, d + b, g + c, h - f],
            [d + b, e - a - i, h + f, c - g],
            [g + c, h + f, i - a - e, d - b],
            [h - f, c - g, d - b, a + e + i],
        ]
    )
    q = np.linalg.eigh(k)[1][:, -1]
    return -q if q[3] < 0 else q


class Node:
    """A place in a scene: translation (x, y, z), rotation quaternion (x, y, z, w), scale, name, visible, children."""

    def __init__(
        self,
        children: Iterable[Node] = (),
        translation: ArrayLike = (0, 0, 0),
        rotation: ArrayLike = (0, 0, 0, 1),
        scale: ArrayLike = 1.0,
        name: str = "",
    ) -> None:
        self.name = name
        self.visible = True
        self.parent: Node | None = None
        self.children: list[Node] = []
        self._matrix: np.ndarray | None = None
        self.translation = translation
        self.rotation = rotation
        self.scale = scale
        self.add(*children)

    @property
    def translation(self) -> np.ndarray:
        """Where the node's origin lies in its parent, (3,)."""
        return self._translation

    @translation.setter
    def translation(self, value: ArrayLike) -> None:
        self._translation = _vector("translation", value, 3)
        self._matrix = None

    @property
    def rotation(self) -> np.ndarray:
        """Quaternion (x, y, z, w) of unit length."""
        return self._rotation

    @rotation.setter
    def rotation(self, value: ArrayLike) -> None:
        q = _vector("rotation", value, 4)
        size = float(np.linalg.norm(q))
        if size == 0:
            raise ShapeError("a quaternion of length zero gives no rotation")
        self._rotation = q / size
        self._rotation.setflags(write=False)
        self._matrix = None

    @property
    def scale(self) -> np.ndarray:
        """Factors along the node's axes, (3,); a single number is taken for all three."""
        return self._scale

    @scale.setter
    def scale(self, value: ArrayLike) -> None:
        self._scale = _vector("scale", value, 3)
        self._matrix = None

    @property
    def matrix(self) -> np.ndarray:
        """Local transform, 4 x 4, as NumPy; set it to a matrix made of translation, rotation and scale."""
        if self._matrix is None:
            m = np.eye(4)
            m[:3, :3] = rotation_matrix(self._rotation) * self._scale
            m[:3, 3] = self._translation
            m.setflags(write=False)
            self._matrix = m
        return self._matrix

    @matrix.setter
    def matrix(self, value: ArrayLike) -> None:
        m = np.asarray(value, dtype=np.float64)
        if m.shape != (4, 4) or not np.isfinite(m).all():
            raise ShapeError(f"a node's matrix needs 4 x 4 finite numbers; got shape {m.shape}")
        factors = np.linalg.norm(m[:3, :3], axis=0)
        if np.linalg.det(m[:3, :3]) < 0:
            factors[0] = -factors[0]
        turned = m[:3, :3] / np.where(factors == 0, 1, factors)
        q = quaternion_of(turned)
        if np.abs(rotation_matrix(q) * factors - m[:3, :3]).max() > 1e-4 * max(1.0, np.abs(m[:3, :3]).max()):
            raise ShapeError(
                "this matrix shears, and a node holds translation, rotation and scale only: "
                "put a second node between, or transform the vertices"
            )
        self.translation, self.rotation, self.scale = m[:3, 3], q, factors

    def world_matrix(self) -> np.ndarray:
        """The transform to the world, 4 x 4, as NumPy. Drawing computes the same on the device."""
        m, node = self.matrix, self.parent
        while node is not None:
            m, node = node.matrix @ m, node.parent
        return m

    def world_position(self) -> np.ndarray:
        """Where the node's origin lies in the world, (3,)."""
        return self.world_matrix()[:3, 3]

    def add(self: N, *nodes: Node) -> N:
        """Makes the nodes children of this one (they leave their former parents); returns this node.

        Raises GpgpuError where a node would become its own ancestor.
        """
        for node in nodes:
            above: Node | None = self
            while above is not None:
                if above is node:
                    raise GpgpuError(f"node {node.name or type(node).__name__!r} cannot be put below itself")
                above = above.parent
            if node.parent is not None:
                node.parent.children.remove(node)
            node.parent = self
            self.children.append(node)
        return self

    def remove(self, *nodes: Node) -> None:
        """Takes children out of this node."""
        for node in nodes:
            self.children.remove(node)
            node.parent = None

    def rotate(self: N, axis: ArrayLike, angle: float) -> N:
        """Turns by `angle` radians about an axis of the parent; returns this node."""
        self.rotation = _product(turn(axis, angle), self.rotation)
        return self

    def look_at(self: N, target: ArrayLike, up: ArrayLike = (0, 1, 0)) -> N:
        """Turns so that the node's -z axis points at `target` (in the parent's coordinates); returns this node."""
        z = self.translation - _vector("target", target, 3)
        size = float(np.linalg.norm(z))
        if size == 0:
            return self
        z /= size
        x = np.cross(_vector("up", up, 3), z)
        if np.linalg.norm(x) < 1e-9:  # looking along up: any right will do
            x = np.cross((0.0, 0.0, 1.0) if abs(z[1]) > 0.9 else (0.0, 1.0, 0.0), z)
        x /= np.linalg.norm(x)
        self.rotation = quaternion_of(np.stack([x, np.cross(z, x), z], axis=1))
        return self

    def walk(self, hidden: bool = False) -> Iterator[Node]:
        """This node and all below it, parents first; invisible ones and what is below them only with hidden."""
        if self.visible or hidden:
            yield self
            for child in self.children:
                yield from child.walk(hidden)

    def find(self, name: str) -> Node:
        """The first node below (or this one) of that name. Raises GpgpuError where there is none."""
        for node in self.walk(hidden=True):
            if node.name == name:
                return node
        raise GpgpuError(f"no node is called {name!r}")

    def _repr_png_(self) -> bytes:
        """The picture that a notebook shows."""
        from gpgpu_gl.render.image import image

        return image(self)._repr_png_()


class Group(Node):
    """A node that only holds others."""


class Fog:
    """Fog that hides what is far: by density (exponential), or from `near` to `far` (linear)."""

    def __init__(
        self, color: Color = "#b0c0d0", density: float = 0.0, near: float | None = None, far: float | None = None
    ) -> None:
        self.color = linear(color)
        self.density = float(density)
        self.range = None if near is None or far is None else (float(near), float(far))


class Scene(Node):
    """What is drawn: nodes, and what surrounds them.

    background: a colour, or None for transparent. environment: light from all around, shown as a sky with sky=True.
    tone: "none" (light is clipped at 1), "reinhard" or "aces"; exposure multiplies the light before. outlined: meshes
    drawn with an outline of outline_width pixels. camera and lights are found among the nodes; without any, a camera
    that shows everything and a light beside it are used.
    """

    def __init__(
        self,
        children: Iterable[Node] = (),
        background: Color | None = "#20242c",
        environment: Environment | None = None,
        sky: bool = False,
        fog: Fog | None = None,
        tone: str = "none",
        exposure: float = 1.0,
        **node: Any,
    ) -> None:
        super().__init__(children, **node)
        self.background = None if background is None else linear(background)
        self.environment = environment
        self.sky = sky
        self.sky_blur = 0.0
        self.fog = fog
        self.tone = tone
        self.exposure = exposure
        self.outlined: list[Node] = []
        self.outline_color = linear("#ffb000")
        self.outline_width = 3.0
