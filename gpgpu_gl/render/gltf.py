"""glTF 2.0: meshes, textures, materials, node hierarchy, skins and animations."""

from __future__ import annotations

import base64
import json
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpgpu_gl.errors import FileError
from gpgpu_gl.render.camera import OrthographicCamera, PerspectiveCamera
from gpgpu_gl.render.files import Folder
from gpgpu_gl.render.geometry import Geometry, flat_normals
from gpgpu_gl.render.light import DirectionalLight, PointLight, SpotLight
from gpgpu_gl.render.material import Material, StandardMaterial, UnlitMaterial
from gpgpu_gl.render.mesh import Mesh, Skin
from gpgpu_gl.render.nodes import Group, Node
from gpgpu_gl.render.texture import Texture

SUPPORTED = {"KHR_mesh_quantization", "KHR_materials_unlit", "KHR_lights_punctual", "KHR_materials_emissive_strength"}
_COMPONENTS: dict[int, Any] = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_PATHS = {"translation": 3, "rotation": 4, "scale": 3}


@dataclass
class Channel:
    """Values of one property of one node over time. times (n), values (n, width), or (n, 3, width) for splines."""

    node: Node
    path: str
    interpolation: str
    times: np.ndarray
    values: np.ndarray

    def at(self, t: float) -> np.ndarray:
        """The value at a time in seconds; before the first and after the last it stays (glTF 2.0, appendix C)."""
        times, values = self.times, self.values
        spline = self.interpolation == "CUBICSPLINE"
        k = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1))
        if k == len(times) - 1 or t <= times[0]:
            return values[k, 1] if spline else values[k]
        span = float(times[k + 1] - times[k])
        u = (t - float(times[k])) / span
        if self.interpolation == "STEP":
            return values[k]
        if spline:
            a, m0 = values[k, 1], values[k, 2] * span
            b, m1 = values[k + 1, 1], values[k + 1, 0] * span
            return (2 * u**3 - 3 * u**2 + 1) * a + (u**3 - 2 * u**2 + u) * m0 + (3 * u**2 - 2 * u**3) * b + (u**3 - u**2) * m1
        a, b = values[k], values[k + 1]
        return _slerp(a, b, u) if self.path == "rotation" else a + u * (b - a)


def _slerp(a: np.ndarray, b: np.ndarray, u: float) -> np.ndarray:
    cosine = float(a @ b)
    if cosine < 0:
        b, cosine = -b, -cosine
    if cosine > 0.9995:
        return a + u * (b - a)
    angle = np.arccos(cosine)
    return (np.sin((1 - u) * angle) * a + np.sin(u * angle) * b) / np.sin(angle)


class Animation:
    """Channels that play together; duration in seconds."""

    def __init__(self, name: str, channels: list[Channel]) -> None:
        self.name, self.channels = name, channels
        self.duration = max((float(c.times[-1]) for c in channels), default=0.0)

    def apply(self, t: float, loop: bool = True) -> None:
        """Moves the nodes to where they are at time t, in seconds."""
        if loop and self.duration > 0:
            t = t % self.duration
        for channel in self.channels:
            setattr(channel.node, channel.path, channel.at(t))


class Model(Group):
    """What a glTF file holds: nodes, and its animations."""

    def __init__(self, **node: Any) -> None:
        super().__init__(**node)
        self.animations: list[Animation] = []

    def animate(self, t: float) -> None:
        """Plays all animations at time t, in seconds."""
        for animation in self.animations:
            animation.apply(t)


def load_gltf(folder: Folder) -> Model:
    """The default scene of a .gltf or .glb file. Raises FileError where it is broken or needs an unknown extension."""
    try:
        import pygltflib
    except ImportError as error:
        from gpgpu_gl.render.load import missing

        raise missing("pygltflib", error) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if folder.model.suffix.lower() == ".glb":
                document = pygltflib.GLTF2().load_binary(str(folder.model))
            else:
                text = folder.model.read_text(encoding="utf-8")
                document = pygltflib.GLTF2.gltf_from_json(text)
        blob = document.binary_blob()
    except Exception as error:  # its parser raises whatever it meets
        said = f"{type(error).__name__}: {error}"
        raise FileError(f"{folder.model}: this glTF file cannot be read ({said}); export it again") from error
    try:
        return _Reader(folder, document, blob).model()
    except (IndexError, KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        said = f"{type(error).__name__}: {error}"
        raise FileError(f"{folder.model}: this glTF file contradicts itself ({said}); export it again") from error


class _Reader:
    def __init__(self, folder: Folder, document: Any, blob: bytes | None) -> None:
        self.folder, self.document, self.blob = folder, document, blob
        unknown = set(document.extensionsRequired or ()) - SUPPORTED
        if unknown:
            raise FileError(f"{folder.model}: needs the extension {', '.join(sorted(unknown))}; export it without compression")
        self.buffers: dict[int, bytes] = {}
        self.textures: dict[tuple[int, bool], Texture] = {}
        self.materials: dict[int, Material] = {}
        self.nodes: list[Node] = []
        self.skins: list[tuple[list[Node], Any]] = []

    def fail(self, text: str) -> FileError:
        return FileError(f"{self.folder.model}: {text}; export it again")

    def model(self) -> Model:
        document = self.document
        self.nodes = [self.node(n) for n in document.nodes]
        for node, spec in zip(self.nodes, document.nodes, strict=True):
            for child in spec.children or ():
                if self.nodes[child].parent is not None:
                    raise self.fail(f"node {child} has two parents")
                node.add(self.nodes[child])
        for node, spec in zip(self.nodes, document.nodes, strict=True):
            if spec.mesh is not None:
                self.meshes(node, spec)
        out = Model(name=self.folder.model.stem)
        if document.scenes:
            roots = document.scenes[document.scene or 0].nodes or []
        else:
            roots = [n for n, node in enumerate(self.nodes) if node.parent is None]
        out.add(*(self.nodes[n] for n in roots))
        out.animations = [self.animation(a) for a in document.animations or ()]
        if not any(isinstance(n, Mesh) for n in out.walk()):
            raise self.fail("there are no triangles in this file")
        return out

    # --- numbers --------------------------------------------------------------------------------

    def buffer(self, index: int) -> bytes:
        if index not in self.buffers:
            uri = self.document.buffers[index].uri
            if uri is None:
                if self.blob is None:
                    raise self.fail(f"buffer {index} is missing")
                self.buffers[index] = self.blob
            elif uri.startswith("data:"):
                self.buffers[index] = _inline(uri)
            else:
                self.buffers[index] = self.folder.read(uri)
        return self.buffers[index]

    def view(self, index: int) -> tuple[memoryview, int]:
        view = self.document.bufferViews[index]
        data = memoryview(self.buffer(view.buffer))
        start = view.byteOffset or 0
        if start < 0 or start + view.byteLength > len(data):
            raise self.fail(f"buffer view {index} reaches past the end of its buffer ({len(data)} bytes)")
        return data[start : start + view.byteLength], view.byteStride or 0

    def accessor(self, index: int) -> np.ndarray:
        """(count, components); normalised integers as floats."""
        a = self.document.accessors[index]
        dtype, width = np.dtype(_COMPONENTS[a.componentType]).newbyteorder("<"), _WIDTHS[a.type]
        found = np.zeros((a.count, width), dtype)
        if a.bufferView is not None:
            found = self.strided(a.bufferView, a.byteOffset or 0, a.count, width, dtype, index).copy()
        if a.sparse is not None:
            s = a.sparse
            kind = np.dtype(_COMPONENTS[s.indices.componentType]).newbyteorder("<")
            at = self.strided(s.indices.bufferView, s.indices.byteOffset or 0, s.count, 1, kind, index)[:, 0]
            found[at] = self.strided(s.values.bufferView, s.values.byteOffset or 0, s.count, width, dtype, index)
        if a.normalized and dtype.kind in "iu":
            return np.maximum(found.astype(np.float32) / np.iinfo(_COMPONENTS[a.componentType]).max, -1.0)
        return found

    def strided(self, view: int, offset: int, count: int, width: int, dtype: Any, index: int) -> np.ndarray:
        data, stride = self.view(view)
        size = width * dtype.itemsize
        stride = stride or size
        if offset < 0 or count < 0 or (count and offset + stride * (count - 1) + size > len(data)):
            raise self.fail(f"accessor {index} reaches past the end of its buffer view ({len(data)} bytes)")
        return np.ndarray((count, width), dtype, data, offset, (stride, dtype.itemsize))

    # --- nodes ----------------------------------------------------------------------------------

    def node(self, spec: Any) -> Node:
        lights = (self.document.extensions or {}).get("KHR_lights_punctual", {}).get("lights", [])
        light = (spec.extensions or {}).get("KHR_lights_punctual", {}).get("light")
        made: Node
        if light is not None:
            made = _light(lights[light])
        elif spec.camera is not None:
            made = _camera(self.document.cameras[spec.camera])
        else:
            made = Group()
        made.name = spec.name or ""
        if spec.matrix is not None:
            made.matrix = np.array(spec.matrix, float).reshape(4, 4).T
        else:
            made.translation = spec.translation or (0, 0, 0)
            made.rotation = spec.rotation or (0, 0, 0, 1)
            made.scale = spec.scale or (1, 1, 1)
        return made

    def meshes(self, node: Node, spec: Any) -> None:
        mesh = self.document.meshes[spec.mesh]
        skin = None
        if spec.skin is not None:
            s = self.document.skins[spec.skin]
            joints = [self.nodes[j] for j in s.joints]
            inverse = np.tile(np.eye(4), (len(joints), 1, 1))
            if s.inverseBindMatrices is not None:
                inverse = self.accessor(s.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
            skin = Skin(joints, inverse)
        for primitive in mesh.primitives:
            if primitive.mode not in (None, 4, 5, 6):
                warnings.warn(f"{self.folder.model}: points and lines are left out", RuntimeWarning, stacklevel=2)
                continue
            node.add(Mesh(self.geometry(primitive), self.material(primitive.material), skin=skin, name=mesh.name or ""))

    def geometry(self, primitive: Any) -> Geometry:
        given = primitive.attributes

        def read(name: str) -> np.ndarray | None:
            at = getattr(given, name, None)
            return None if at is None else self.accessor(at)

        positions = read("POSITION")
        if positions is None:
            raise self.fail("a mesh has no positions")
        indices = None if primitive.indices is None else self.accessor(primitive.indices)[:, 0]
        if primitive.mode in (5, 6):
            indices = _triangles(np.arange(len(positions)) if indices is None else indices, fan=primitive.mode == 6)
        weights = read("WEIGHTS_0")
        if weights is not None:
            weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
        normals = read("NORMAL")
        others = [read(f"TEXCOORD_{self.uv_set(primitive.material)}"), read("COLOR_0"), read("JOINTS_0"), weights]
        source = str(self.folder.model)
        if normals is None:  # glTF 2.0, section 3.7.2.1: flat normals, so that triangles share no vertices
            corners = Geometry(positions, indices, source=source).indices.reshape(-1)  # checks them
            positions, indices = positions[corners], None
            others = [None if array is None else array[corners] for array in others]
            normals = flat_normals(positions)
        uvs, colors, joints, weights = others
        return Geometry(positions, indices, normals, uvs, colors, joints, weights, source)

    def uv_set(self, material: int | None) -> int:
        """Which texture coordinates the base colour takes; a mesh has one set here, for all its textures."""
        pbr = None if material is None else self.document.materials[material].pbrMetallicRoughness
        return 0 if pbr is None or pbr.baseColorTexture is None else pbr.baseColorTexture.texCoord or 0

    # --- looks ----------------------------------------------------------------------------------

    def texture(self, info: Any, srgb: bool) -> Texture | None:
        if info is None:
            return None
        index = info.index
        if (index, srgb) not in self.textures:
            t = self.document.textures[index]
            picture = self.document.images[t.source]
            sampler = self.document.samplers[t.sampler] if t.sampler is not None else None
            options: dict[str, Any] = {"srgb": srgb}
            if sampler is not None and sampler.wrapS == 33071:
                options["wrap"] = "clamp"
            if sampler is not None and sampler.magFilter == 9728:
                options["smooth"] = False
            if picture.uri is None:
                data = bytes(self.view(picture.bufferView)[0])
                self.textures[index, srgb] = self.folder.texture(f"image {t.source}", data, **options)
            elif picture.uri.startswith("data:"):
                self.textures[index, srgb] = self.folder.texture(f"image {t.source}", _inline(picture.uri), **options)
            else:
                self.textures[index, srgb] = self.folder.texture(picture.uri, **options)
        return self.textures[index, srgb]

    def material(self, index: int | None) -> Material:
        if index is None:
            return StandardMaterial()
        if index in self.materials:
            return self.materials[index]
        m = self.document.materials[index]
        extensions = m.extensions or {}
        pbr = m.pbrMetallicRoughness
        base = (pbr.baseColorFactor if pbr else None) or [1, 1, 1, 1]
        modes = {"OPAQUE": "opaque", "MASK": "mask", "BLEND": "blend", None: "opaque"}
        common: dict[str, Any] = {
            "color": base[:3],
            "opacity": base[3],
            "map": self.texture(pbr.baseColorTexture if pbr else None, True),
            "alpha_mode": modes[m.alphaMode],
            "alpha_cutoff": 0.5 if m.alphaCutoff is None else m.alphaCutoff,
            "double_sided": bool(m.doubleSided),
            "name": m.name or "",
        }
        made: Material
        if "KHR_materials_unlit" in extensions:
            made = UnlitMaterial(**common)
        else:
            strength = extensions.get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1.0)
            normal_scale = m.normalTexture.scale if m.normalTexture is not None and m.normalTexture.scale is not None else 1.0
            made = StandardMaterial(
                metallic=1.0 if pbr is None or pbr.metallicFactor is None else pbr.metallicFactor,
                roughness=1.0 if pbr is None or pbr.roughnessFactor is None else pbr.roughnessFactor,
                roughness_map=self.texture(pbr.metallicRoughnessTexture if pbr else None, False),
                occlusion_map=self.texture(m.occlusionTexture, False),
                normal_map=self.texture(m.normalTexture, False),
                normal_scale=normal_scale,
                emissive_map=self.texture(m.emissiveTexture, True),
                emissive=np.array(m.emissiveFactor or (0, 0, 0)) * strength,
                **common,
            )
        self.materials[index] = made
        return made

    # --- motion ---------------------------------------------------------------------------------

    def animation(self, spec: Any) -> Animation:
        channels = []
        for channel in spec.channels:
            path, node = channel.target.path, channel.target.node
            if path not in _PATHS or node is None:
                warnings.warn(f"{self.folder.model}: animations of {path} are left out", RuntimeWarning, stacklevel=2)
                continue
            sampler = spec.samplers[channel.sampler]
            times = self.accessor(sampler.input)[:, 0].astype(np.float64)
            values = self.accessor(sampler.output).astype(np.float64)
            kind = sampler.interpolation or "LINEAR"
            if kind == "CUBICSPLINE":
                values = values.reshape(len(times), 3, _PATHS[path])
            fits = len(times) and len(values) == len(times) and values.shape[-1] == _PATHS[path]
            if not fits or (np.diff(times) <= 0).any():
                raise self.fail(
                    f"an animation of {path} has {len(times)} times and {len(values)} values, or times that do not rise"
                )
            channels.append(Channel(self.nodes[node], path, kind, times, values))
        return Animation(spec.name or "", channels)


def _triangles(corners: np.ndarray, fan: bool) -> np.ndarray:
    """(3 n,) the triangles of a fan or a strip, whose every second triangle is turned (glTF 2.0, section 3.7.2.1)."""
    i = np.arange(max(len(corners) - 2, 0))
    if fan:
        return corners[np.stack([i + 1, i + 2, 0 * i], -1)].reshape(-1)
    return corners[np.stack([i, i + 1 + i % 2, i + 2 - i % 2], -1)].reshape(-1)


def _inline(uri: str) -> bytes:
    try:
        return base64.b64decode(uri.split(",", 1)[1], validate=True)
    except (ValueError, IndexError) as error:
        raise FileError(f"a data URI that starts {uri[:40]!r} is damaged; export the model again") from error


def _light(spec: dict[str, Any]) -> Node:
    options = {"color": spec.get("color", (1, 1, 1)), "intensity": spec.get("intensity", 1.0)}
    if spec["type"] == "directional":
        return DirectionalLight(position=(0, 0, 0), **options)
    if spec["type"] == "point":
        return PointLight(range=spec.get("range", 0.0), **options)
    cone = spec.get("spot", {})
    outer = cone.get("outerConeAngle", np.pi / 4)
    soft = 1 - cone.get("innerConeAngle", 0.0) / outer
    return SpotLight(position=(0, 0, 0), angle=float(np.degrees(outer)), penumbra=soft, range=spec.get("range", 0.0), **options)


def _camera(spec: Any) -> Node:
    if spec.type == "orthographic":
        o = spec.orthographic
        return OrthographicCamera(height=2 * o.ymag, near=o.znear, far=o.zfar)
    p = spec.perspective
    return PerspectiveCamera(fov_y=float(np.degrees(p.yfov)), near=p.znear, far=p.zfar or 1000.0)


__all__ = ["Animation", "Channel", "Model", "load_gltf"]
