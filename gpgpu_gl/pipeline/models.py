"""Models from files as scenes of the emulated pipeline: all their meshes in one draw, with base colours and textures."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gpgpu_gl.errors import FileError
from gpgpu_gl.pipeline.gallery import SIZE, SOLID
from gpgpu_gl.pipeline.scenes import Draw, Scene
from gpgpu_gl.pipeline.shapes import look_at, perspective
from gpgpu_gl.pipeline.texture import Texture

LARGEST = 512  # sides of a picture; all layers of an array texture have one size


def model_scene(path: Path) -> Scene:
    """The meshes of an OBJ, PLY or glTF file at rest, seen from in front and above. Raises FileError where there are none.

    Surfaces are drawn opaque, with their base colour, its texture and the colours of their vertices; textures repeat.
    Warns where a material is transparent or cut out.
    """
    from gpgpu_gl.render.load import load

    model = load(path)
    worlds: dict[int, np.ndarray] = {}
    meshes: list[Any] = []
    _collect(model, np.eye(4), worlds, meshes)
    if not meshes:
        raise FileError(f"{path} holds no triangles that could be drawn")
    if any(mesh.material.alpha_mode != "opaque" for mesh in meshes):
        warnings.warn(f"{path}: transparent and cut-out surfaces are drawn opaque", RuntimeWarning, stacklevel=2)
    pictures: list[Image.Image] = [Image.new("RGBA", (1, 1), "white")]
    layers: dict[int, int] = {}
    parts = [_part(mesh, worlds, pictures, layers) for mesh in meshes]
    starts = np.cumsum([0, *(len(part["position"]) for part in parts)])
    indices = np.concatenate([part.pop("triangles").reshape(-1) + s for part, s in zip(parts, starts, strict=False)])
    attributes = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    uniforms = {**_view(attributes["position"]), "pictures": Texture(_layers(pictures), kind="array")}
    arguments = {"attributes": attributes, "indices": indices, "uniforms": uniforms}
    draw = Draw("gallery/model.vert", "gallery/model.frag", SOLID, arguments)
    return Scene(path.stem, (draw,), SIZE, levels=1 if len(pictures) > 1 else 0)


def _collect(node: Any, above: np.ndarray, worlds: dict[int, np.ndarray], meshes: list[Any]) -> None:
    """World matrices of all nodes by id, and the visible meshes with triangles."""
    worlds[id(node)] = matrix = above @ np.asarray(node.matrix, float)
    geometry = getattr(node, "geometry", None)
    if geometry is not None and len(getattr(geometry, "indices", ())) and node.visible:
        meshes.append(node)
    for child in node.children:
        _collect(child, matrix, worlds, meshes)


def _part(mesh: Any, worlds: dict[int, np.ndarray], pictures: list[Image.Image], layers: dict[int, int]) -> dict[str, np.ndarray]:
    """The attributes of one mesh, in world space, and its triangles."""
    from gpgpu_gl.render.color import encode

    g, material, count = mesh.geometry, mesh.material, len(mesh.geometry.positions)
    matrix = np.broadcast_to(worlds[id(mesh)], (count, 4, 4))
    if mesh.skin is not None and g.joints is not None and g.weights is not None:
        joints = np.stack([worlds[id(joint)] for joint in mesh.skin.joints]) @ mesh.skin.inverse_bind.numpy()
        matrix = np.einsum("vj,vjrc->vrc", g.weights, joints[g.joints.astype(int)])
    position = np.einsum("vrc,vc->vr", matrix, np.c_[g.positions, np.ones(count)])[:, :3]
    normal = np.einsum("vcr,vc->vr", np.linalg.pinv(matrix[:, :3, :3]), g.normals)
    tint = np.ones((count, 4))
    tint[:, :3] = material.color
    if g.colors is not None and material.vertex_colors:
        tint = tint * g.colors
    tint[:, :3] = encode(tint[:, :3])  # shading is done on the values that a screen shows
    layer = 0
    if material.map is not None and g.uvs is not None:
        if id(material.map) not in layers:
            layers[id(material.map)] = len(pictures)
            pictures.append(_picture(material.map))
        layer = layers[id(material.map)]
    mirrored = np.linalg.det(matrix[g.indices[:, 0], :3, :3]) < 0  # turns the order of corners round, which says what is in front
    return {
        "triangles": np.where(mirrored[:, None], g.indices[:, ::-1], g.indices),
        "position": position.astype(np.float32),
        "normal": normal.astype(np.float32),
        "uv": np.zeros((count, 2), np.float32) if g.uvs is None else g.uvs,
        "tint": tint.astype(np.float32),
        "layer": np.full(count, layer, np.int32),
    }


def _picture(texture: Any) -> Image.Image:
    data = texture.levels[0] if texture.levels else texture.tensor.numpy()
    if data.dtype != np.uint8:
        data = (np.clip(data, 0, 1) * 255).astype(np.uint8)
    return Image.fromarray(data).convert("RGBA")


def _layers(pictures: list[Image.Image]) -> np.ndarray:
    """(layers, H, W, 4) bytes: pictures of one size, that of the largest, each with its first row at t = 0."""
    size = min(max(max(p.size) for p in pictures), LARGEST)
    if any(max(p.size) > LARGEST for p in pictures):
        warnings.warn(f"pictures of more than {LARGEST} texels a side are made smaller", RuntimeWarning, stacklevel=3)
    return np.stack([np.asarray(p.resize((size, size), Image.Resampling.BICUBIC)) for p in pictures])


def _view(places: np.ndarray) -> dict[str, Any]:
    """Matrices, eye and lights for a view of all places."""
    low, high = places.min(axis=0).astype(float), places.max(axis=0).astype(float)
    middle, reach = (low + high) / 2, float(np.linalg.norm(high - low)) / 2 or 1.0
    eye = tuple(float(v) for v in middle + np.array([1.6, 1.15, 2.3]) * reach)  # the ball of this radius is seen whole
    return {
        "view": look_at(eye, tuple(float(v) for v in middle)),
        "projection": perspective(40.0, SIZE[0] / SIZE[1], reach / 20, reach * 8),
        "eye": eye,
        "sun": [float(v) for v in middle + np.array([2.0, 3.0, 1.0]) * reach],
        "side": [float(v) for v in middle + np.array([-3.0, 0.5, 1.0]) * reach],
    }
