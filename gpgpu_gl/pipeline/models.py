"""Models from files as scenes of the emulated pipeline: every mesh one draw with Phong's lighting."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from gpgpu_gl.errors import FileError
from gpgpu_gl.pipeline.gallery import SIZE, SOLID
from gpgpu_gl.pipeline.scenes import Draw, Scene
from gpgpu_gl.pipeline.shapes import look_at, perspective


def model_scene(path: Path) -> Scene:
    """The meshes of an OBJ, PLY or glTF file, seen from in front and above. Raises FileError where there are none."""
    load = importlib.import_module("gpgpu_gl.render.load").load
    found: list[tuple[Any, np.ndarray]] = []
    _collect(load(path), np.eye(4), found)
    if not found:
        raise FileError(f"{path} holds no triangles that could be drawn")
    places = [np.c_[g.positions, np.ones(len(g.positions))] @ matrix.T[:, :3] for g, matrix in found]
    low, high = (f(np.concatenate(places), axis=0) for f in (np.min, np.max))
    middle, reach = (low + high) / 2, float(np.linalg.norm(high - low)) / 2 or 1.0
    eye = tuple(float(v) for v in middle + np.array([1.4, 1.0, 2.0]) * reach)
    draws = tuple(_draw(g, matrix, eye, middle, reach) for g, matrix in found)
    return Scene(path.stem, draws, SIZE)


def _collect(node: Any, above: np.ndarray, found: list[tuple[Any, np.ndarray]]) -> None:
    matrix = above @ np.asarray(node.matrix, float)
    geometry = getattr(node, "geometry", None)
    if geometry is not None and len(getattr(geometry, "indices", ())) and node.visible:
        found.append((geometry, matrix))
    for child in node.children:
        _collect(child, matrix, found)


def _draw(geometry: Any, matrix: np.ndarray, eye: tuple[float, ...], middle: np.ndarray, reach: float) -> Draw:
    at = tuple(float(v) for v in middle)
    sun = [float(v) for v in middle + np.array([2.0, 3.0, 1.0]) * reach]
    side = [float(v) for v in middle + np.array([-3.0, 0.5, 1.0]) * reach]
    uniforms = {
        "model": matrix, "view": look_at(eye, at), "projection": perspective(40.0, SIZE[0] / SIZE[1], reach / 20, reach * 8),
        "viewPos": eye, "material": {"ambient": [0.06] * 3, "diffuse": [0.7] * 3, "specular": [0.3] * 3, "shininess": 24.0},
        "lights": [{"position": sun, "color": [1, 0.95, 0.85]}, {"position": side, "color": [0.2, 0.25, 0.35]}],
    }  # fmt: skip
    attributes = {"aPos": geometry.positions, "aNormal": geometry.normals}
    arguments = {"attributes": attributes, "indices": geometry.indices, "uniforms": uniforms}
    return Draw("gallery/phong.vert", "gallery/phong.frag", SOLID, arguments)
