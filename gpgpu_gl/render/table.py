"""A scene as tensors: the transforms of its nodes, and the matrices that the device makes of them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.ops.linear import matmul
from gpgpu_gl.ops.shape import reshape
from gpgpu_gl.ops.take import take
from gpgpu_gl.render.camera import Camera
from gpgpu_gl.render.gpu import Gpu
from gpgpu_gl.render.mesh import Skin
from gpgpu_gl.render.nodes import Node
from gpgpu_gl.tensor import Tensor, tensor

MOST_MATRICES = 8  # scenes whose matrices are kept for the next frame
Crop: TypeAlias = tuple[float, float, float, float]
WHOLE: Crop = (1.0, -1.0, 0.0, 0.0)  # the whole picture, its first line at the top


class Table:
    """Numbers the nodes of one drawing, and the cameras that look at them."""

    def __init__(self) -> None:
        self.slots: dict[int, int] = {}
        self.nodes: list[Node] = []
        self.parents: list[int] = []
        self.cameras: list[tuple[Camera, float]] = []
        self._worlds: dict[int, np.ndarray] = {}

    def slot(self, node: Node) -> int:
        """The node's number; it and what is above it are added at first use."""
        found = self.slots.get(id(node))
        if found is None:
            parent = -1 if node.parent is None else self.slot(node.parent)
            found = self.slots[id(node)] = len(self.nodes)
            self.nodes.append(node)
            self.parents.append(parent)
        return found

    def camera(self, camera: Camera, aspect: float) -> int:
        """Adds a camera; its number. The slot of its matrices is the number of nodes plus this."""
        camera.check()
        self.slot(camera)
        self.cameras.append((camera, aspect))
        return len(self.cameras) - 1

    def view_slot(self, camera: int) -> int:
        return len(self.nodes) + camera

    def world(self, node: Node) -> np.ndarray:
        """The node's world matrix on the host, for sorting and for boxes."""
        slot = self.slot(node)
        found = self._worlds.get(slot)
        if found is None:
            found = node.matrix if node.parent is None else self.world(node.parent) @ node.matrix
            self._worlds[slot] = found
        return found

    def matrices(self, gpu: Gpu, crop: Crop) -> Tensor:
        """(nodes + cameras, 8, 4), as the kernel scene_matrices writes it; kept while nothing moves."""
        nodes, views = self.arrays()
        most = gpu.device.max_texture_size - len(views)
        if len(nodes) > most:
            raise GpgpuError(f"a scene of {len(nodes)} nodes exceeds this device's {most}; put equal meshes into an InstancedMesh")
        key = (nodes.tobytes(), views.tobytes(), crop)
        found = gpu.matrices.get(key)
        if found is None:
            engine = gpu.engine
            storage, lay = engine.empty((len(nodes) + len(views), 8, 4), np.dtype(np.float32))
            found = Tensor(storage, lay, np.dtype(np.float32))
            inputs = {"nodes": tensor(nodes).operand, "views": tensor(views).operand}
            uniforms = {"count": len(nodes), "crop": crop}
            engine.run(Pass("scene_matrices", inputs, (found.operand,), {}, uniforms))
            gpu.matrices[key] = found
            while len(gpu.matrices) > MOST_MATRICES:
                gpu.matrices.popitem(last=False)
        return found

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """nodes (n, 3, 4) and views (cameras, 2, 4), as the kernel scene_matrices reads them."""
        table = np.zeros((len(self.nodes), 3, 4), np.float32)
        table[:, 0, :3] = [node._translation for node in self.nodes]
        table[:, 0, 3] = self.parents
        table[:, 1] = [node._rotation for node in self.nodes]
        table[:, 2, :3] = [node._scale for node in self.nodes]
        views = np.zeros((len(self.cameras), 2, 4), np.float32)
        for row, (camera, aspect) in zip(views, self.cameras, strict=True):
            kind, *box = camera.box(aspect)
            row[0] = self.slot(camera), kind, camera.near, camera.far
            row[1] = box
        return table, views

    def joints(self, matrices: Tensor, skin: Skin) -> Tensor:
        """World matrices (n, 4, 4) of a skin's joints times their inverse at rest: the library's matmul."""
        rows = np.concatenate([np.arange(8 * s, 8 * s + 4) for s in map(self.slot, skin.joints)]).astype(np.int32)
        flat = reshape(matrices, (matrices.shape[0] * 8, 4))
        worlds = reshape(take(flat, rows, axis=0), (len(skin.joints), 4, 4))
        return matmul(worlds, skin.inverse_bind)
