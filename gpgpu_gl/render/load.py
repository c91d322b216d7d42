"""Models from files: OBJ with MTL and PLY through trimesh, glTF 2.0 through pygltflib."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gpgpu_gl.errors import FileError, GpgpuError
from gpgpu_gl.render.color import decode
from gpgpu_gl.render.files import Folder
from gpgpu_gl.render.geometry import Geometry
from gpgpu_gl.render.material import Material, PhongMaterial
from gpgpu_gl.render.mesh import Mesh
from gpgpu_gl.render.nodes import Group, Node

FORMATS = (".obj", ".ply", ".gltf", ".glb")


def load(path: str | os.PathLike[str]) -> Node:
    """The model in a file, as a node with meshes below it; glTF models are `gltf.Model`s, which can be animated.

    Formats: OBJ with MTL, PLY, glTF 2.0 (.gltf, .glb). A texture that is missing or broken is replaced by a magenta
    checkerboard, with a warning. Only files in the model's own folder are read.
    Raises FileError for a missing, broken or unknown file, naming it and the remedy.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise FileError(f"{path}: {suffix or 'no ending'!r} is no model format that can be read: use {', '.join(FORMATS)}")
    folder = Folder(path)
    try:
        if suffix in (".gltf", ".glb"):
            from gpgpu_gl.render.gltf import load_gltf

            return load_gltf(folder)
        return _through_trimesh(folder, suffix[1:])
    except FileError:
        raise
    except GpgpuError as error:
        text = str(error)
        raise FileError(text if str(path) in text else f"{path}: {text}") from error


def missing(package: str, error: ImportError) -> FileError:
    """What to say where a library of the extra `render` is not there."""
    return FileError(f"models need {package} ({error}): pip install 'gpgpu-gl[render]'")


def _through_trimesh(folder: Folder, kind: str) -> Group:
    try:
        import trimesh
        from trimesh.resolvers import Resolver
    except ImportError as error:
        raise missing("trimesh", error) from error

    class Inside(Resolver):
        """Gives trimesh the material files; pictures are read by us, so that broken ones are seen."""

        def get(self, name: str) -> bytes:
            if not name.lower().endswith(".mtl"):
                raise KeyError(name)
            try:
                return folder.read(name)
            except FileError as error:
                warnings.warn(f"{error}. The model is shown without its materials", RuntimeWarning, stacklevel=2)
                raise

        def __init__(self) -> None:
            pass

        def keys(self) -> Any:
            return []

        def write(self, name: str, data: Any) -> None:
            raise PermissionError(name)

        def namespaced(self, namespace: str) -> Any:
            return self

    with open(folder.model, "rb") as file:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                scene = trimesh.load_scene(file, file_type=kind, resolver=Inside(), process=False)
        except Exception as error:  # trimesh raises whatever its parsers meet
            if isinstance(error, MemoryError):
                raise
            raise FileError(f"{folder.model}: this {kind.upper()} file cannot be read ({error}); export it again") from error
    out = Group(name=folder.model.stem)
    textures: dict[str, Any] = {}
    for name, mesh in scene.geometry.items():
        if not hasattr(mesh, "faces") or not len(mesh.faces):
            continue
        out.add(Mesh(_geometry(folder, mesh, kind), _material(folder, mesh, textures), name=str(name)))
    if not out.children:
        raise FileError(f"{folder.model}: there are no triangles in this file")
    return out


def _geometry(folder: Folder, mesh: Any, kind: str) -> Geometry:
    visual = mesh.visual
    uvs = getattr(visual, "uv", None)
    colors = None
    if getattr(visual, "kind", None) == "vertex":
        colors = np.array(visual.vertex_colors, dtype=np.float64) / 255
        colors[:, :3] = decode(colors[:, :3])
    if uvs is not None:
        uvs = np.array(uvs, np.float32) * (1, -1) + (0, 1)  # OBJ counts v from the bottom
    given = "vertex_normals" in mesh._cache or kind == "obj"
    normals = None
    if given:
        normals = np.array(mesh.vertex_normals)
        if not np.isfinite(normals).all() or len(normals) != len(mesh.vertices):
            normals = None
    return Geometry(mesh.vertices, mesh.faces, normals, uvs, colors, source=str(folder.model))


def _material(folder: Folder, mesh: Any, textures: dict[str, Any]) -> Material:
    material = getattr(mesh.visual, "material", None)
    if material is None:
        return PhongMaterial("#c8c8c8" if getattr(mesh.visual, "kind", None) != "vertex" else 1.0)
    options: dict[str, Any] = {}
    extra = getattr(material, "kwargs", None) or {}
    name = " ".join(extra.get("map_kd", [])) or _picture_name(folder, material)
    if name:
        if name not in textures:
            textures[name] = folder.texture(name)
        options["map"] = textures[name]
    opacity = _number(extra.get("d"), 1.0)
    if opacity < 1:
        options |= {"opacity": opacity, "double_sided": True}
    shininess = float(np.clip(_number(material.glossiness, 20.0), 1, 1000))
    return PhongMaterial(
        _srgb(material.diffuse), specular=_srgb(material.specular), shininess=shininess, name=str(material.name or ""), **options
    )


def _picture_name(folder: Folder, material: Any) -> str:
    """The map_Kd of a material, from its MTL file: trimesh keeps it only where it could open the picture."""
    for path in folder.root.glob("*.mtl"):
        current = None
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            words = line.split(None, 1)
            if len(words) == 2 and words[0].lower() == "newmtl":
                current = words[1].strip()
            elif len(words) == 2 and words[0].lower() == "map_kd" and current == material.name:
                return words[1].strip()
    return ""


def _number(value: Any, default: float) -> float:
    try:
        return float(np.ravel(np.asarray(value, dtype=float))[0])
    except (TypeError, ValueError, IndexError):
        return default


def _srgb(color: Any) -> tuple[float, ...]:
    return tuple(float(c) for c in decode(np.asarray(color, dtype=np.float64)[:3] / 255))
