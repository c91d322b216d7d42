"""Model files go through the emulated pipeline whole: every mesh, its place, its colours and its texture."""

import io
import json
import struct

import numpy as np
import pytest
import trimesh
from PIL import Image
from pipeline_rig import settle
from test_render_files import gltf

from gpgpu_gl.cli import main
from gpgpu_gl.errors import FileError
from gpgpu_gl.pipeline.compare import compare
from gpgpu_gl.pipeline.models import model_scene
from gpgpu_gl.pipeline.pictures import STAGES
from gpgpu_gl.pipeline.state import State


@pytest.fixture(autouse=True)
def settled():
    yield
    settle()


def written(folder, name):
    """A textured box, a ball with colours at its vertices, and a plain ring that hangs from the ball."""
    made = trimesh.Scene()
    board = np.indices((32, 32)).sum(0) // 8 % 2 * 215 + 40
    image = Image.fromarray(np.stack([board, board // 4, board // 8], -1).astype(np.uint8))
    box = trimesh.creation.box()
    uv = box.vertices[:, :2] + 0.5 + box.vertices[:, 2:]
    box.visual = trimesh.visual.TextureVisuals(uv=uv, image=image)
    made.add_geometry(box, node_name="box", transform=trimesh.transformations.rotation_matrix(0.5, [0, 1, 0]))
    ball = trimesh.creation.icosphere(subdivisions=2, radius=0.5)
    ball.visual.vertex_colors = np.tile(np.uint8([20, 60, 255, 255]), (len(ball.vertices), 1))
    made.add_geometry(ball, node_name="ball", transform=trimesh.transformations.translation_matrix([1.3, 0.2, 0]))
    ring = trimesh.creation.torus(0.5, 0.2)
    above = trimesh.transformations.translation_matrix([0, 1.1, 0])
    made.add_geometry(ring, node_name="ring", parent_node_name="ball", transform=above)
    made.export(folder / name)
    return folder / name


def test_a_file_is_drawn_whole_with_its_colours_and_texture(tmp_path):
    scene = model_scene(written(tmp_path, "scene.glb"))
    (draw,) = scene.draws
    trace, hardware = scene.emulate(), scene.rasterise()
    assert compare(trace, hardware, State.of(**draw.state), scene.levels).equal
    places = draw.arguments["attributes"]["position"]
    assert np.abs(places.min(0) - [-0.68, -0.5, -0.7]).max() < 0.05
    assert np.abs(places.max(0) - [2.0, 2.0, 0.7]).max() < 0.06
    color, depth = trace.color.numpy()[..., :3], trace.depth.numpy()
    seen = depth < 1
    blue = seen & (color[..., 2] > 2 * color[..., 0])
    red = seen & (color[..., 0] > 2 * color[..., 2])
    grey = seen & (np.ptp(color, axis=-1) < 0.15)
    assert blue.sum() > 500
    assert red.sum() > 700
    assert grey.sum() > 500
    assert color[red].std() > 0.1  # light and dark squares of the texture


def test_the_command_draws_every_stage_of_a_file(tmp_path, capsys):
    path = written(tmp_path, "scene.gltf")
    assert main(["pipeline", str(path), "--out", str(tmp_path / "out"), "--enlarge", "1"]) == 0
    assert "scene: equal" in capsys.readouterr().out
    pictures = {file.stem[3:]: np.asarray(Image.open(file)) for file in (tmp_path / "out").iterdir()}
    assert set(pictures) == {*STAGES, "hardware", "difference"}
    for stage, rows in pictures.items():
        assert rows.std() > 2 or stage == "difference", stage


def test_triangles_without_normals_are_flat_as_gltf_asks(tmp_path):
    scene = model_scene(gltf(tmp_path))
    attributes = scene.draws[0].arguments["attributes"]
    assert attributes["normal"].tolist() == [[0, 0, 1]] * 12  # four triangles that share no vertices
    assert scene.emulate().depth.numpy().min() < 1


def test_a_skin_at_rest_is_bound_to_its_joints(tmp_path):
    def lift(document):
        document["nodes"][2]["translation"] = [0, 1.5, 0]  # the tip's rest is at 1

    plain = model_scene(gltf(tmp_path, bend=True)).draws[0].arguments["attributes"]["position"]
    lifted = model_scene(gltf(tmp_path, bend=True, change=lift)).draws[0].arguments["attributes"]["position"]
    moved = lifted - plain
    assert moved[plain[:, 1] == 2].tolist() == [[0, 0.5, 0]] * 3
    assert not moved[plain[:, 1] < 2].any()


def test_files_that_show_nothing_are_refused_by_name(tmp_path, capsys):
    def empty(document):
        document["nodes"][0].pop("mesh")

    path = gltf(tmp_path, change=empty)
    with pytest.raises(FileError, match="there are no triangles"):
        model_scene(path)
    path.write_bytes(path.read_bytes()[:200])
    assert main(["pipeline", str(path), "--out", str(tmp_path / "out")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# --- Files as exporters write them


class Glb:
    """A binary glTF file, put together piece by piece."""

    KINDS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}

    def __init__(self):
        self.data = b""
        self.document = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}]}

    def put(self, where, **entry):
        self.document.setdefault(where, []).append(entry)
        return len(self.document[where]) - 1

    def view(self, data, **more):
        self.data += bytes(-len(self.data) % 4)
        start, self.data = len(self.data), self.data + data
        return self.put("bufferViews", buffer=0, byteOffset=start, byteLength=len(data), **more)

    def accessor(self, array, view=None, offset=0, **more):
        array = np.ascontiguousarray(array)
        view = self.view(array.tobytes()) if view is None else view
        kind = "SCALAR" if array.ndim == 1 else f"VEC{array.shape[1]}"
        component = self.KINDS[array.dtype.str[1:]]
        more |= {"bufferView": view, "byteOffset": offset, "count": len(array)}
        return self.put("accessors", componentType=component, type=kind, **more)

    def picture(self, pixels):
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "PNG")
        self.put("images", bufferView=self.view(file.getvalue()), mimeType="image/png")
        self.put("textures", source=0)
        return self.put("materials", pbrMetallicRoughness={"baseColorTexture": {"index": 0}, "metallicFactor": 0})

    def mesh(self, attributes, **primitive):
        return self.put("meshes", primitives=[{"attributes": attributes, **primitive}])

    def node(self, **spec):
        self.document["scenes"][0]["nodes"].append(self.put("nodes", **spec))

    def save(self, path):
        self.document["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(self.document).encode()
        text, data = text + b" " * (-len(text) % 4), self.data + bytes(-len(self.data) % 4)
        body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
        path.write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body)
        return path


def box():
    """Positions, normals and texture coordinates of the 24 corners of a cube's sides, and its 36 indices."""
    corners, indices = [], []
    for axis in range(3):
        for side in (1, -1):
            n, u = np.eye(3)[axis] * side, np.eye(3)[(axis + 1) % 3]
            v = np.cross(n, u)
            indices += [len(corners) + k for k in (0, 1, 2, 0, 2, 3)]
            corners += [[*(n + u * (2 * s - 1) + v * (2 * t - 1)) / 2, *n, s, 1 - t] for s, t in ((0, 0), (1, 0), (1, 1), (0, 1))]
    table = np.float32(corners)
    return table[:, :3], table[:, 3:6], table[:, 6:], np.array(indices)


LETTER = np.kron([[9, 9, 9, 9], [9, 1, 1, 9], [9, 1, 9, 9], [9, 1, 9, 9]], np.ones((8, 8)))[..., None] * [25, 20, 10]


def textured(folder, how):
    glb, (positions, normals, uvs, indices) = Glb(), box()
    material = glb.picture(LETTER.astype(np.uint8))
    arrays = {"POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs}
    if how == "none":
        attributes = {name: glb.accessor(array[indices]) for name, array in arrays.items()}
        glb.node(mesh=glb.mesh(attributes, material=material))
    else:
        view = glb.view(np.concatenate([positions, normals, uvs], 1).tobytes(), byteStride=32)
        if how == "interleaved":
            attributes = {n: glb.accessor(a, view, at) for (n, a), at in zip(arrays.items(), (0, 12, 24), strict=True)}
        else:
            attributes = {name: glb.accessor(array) for name, array in arrays.items()}
        order = glb.accessor(indices.astype("u2" if how == "interleaved" else how))
        glb.node(mesh=glb.mesh(attributes, indices=order, material=material))
    return glb.save(folder / f"{how}.glb")


def drawn(scene):
    """Positions and normals of every triangle, (n, 3, 3) each."""
    (draw,) = scene.draws
    order = np.asarray(draw.arguments["indices"]).reshape(-1, 3)
    return tuple(draw.arguments["attributes"][name][order] for name in ("position", "normal"))


def fronts(scene):
    """Whether the corners of each triangle run counter-clockwise seen from where its normals point."""
    p, n = drawn(scene)
    return np.einsum("ij,ij->i", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), n.sum(1)) > 0


def test_every_way_to_write_vertices_gives_one_picture(tmp_path):
    found = [model_scene(textured(tmp_path, how)).emulate() for how in ("u1", "u2", "u4", "none", "interleaved")]
    pictures = [trace.color.numpy() for trace in found]
    assert ((pictures[0][..., 0] > 2 * pictures[0][..., 2]) & (found[0].depth.numpy() < 1)).sum() > 1500
    for other in pictures[1:]:
        np.testing.assert_array_equal(other, pictures[0])


def test_a_model_is_seen_whole(tmp_path):
    """The corners of a cube are as far from its middle as any point of a model can be."""
    trace = model_scene(textured(tmp_path, "u1")).emulate()
    clip = trace.clip_position.numpy()
    assert (np.abs(clip[:, :3]) <= clip[:, 3:]).all()


@pytest.mark.parametrize("how", [{"scale": [-1, 1, 1]}, {"matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}])
def test_a_mirrored_cube_looks_like_the_cube(tmp_path, how):
    pictures = []
    for place in ({}, how):
        glb, (positions, normals, _, indices) = Glb(), box()
        attributes = {"POSITION": glb.accessor(positions), "NORMAL": glb.accessor(normals)}
        glb.node(mesh=glb.mesh(attributes, indices=glb.accessor(indices.astype("u1"))), **place)
        scene = model_scene(glb.save(tmp_path / "cube.glb"))
        assert fronts(scene).tolist() == [True] * 12
        pictures.append(scene.emulate().color.numpy())
    assert np.ptp(pictures[0]) > 0.5
    different = np.abs(pictures[1] - pictures[0]).max(-1) > 1e-4
    assert different.sum() <= 3  # where sides meet at one depth, the first drawn is seen


def test_the_base_colours_own_texture_coordinates_are_taken(tmp_path):
    glb, (positions, normals, uvs, indices) = Glb(), box()
    material = glb.picture(LETTER.astype(np.uint8))
    glb.document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["texCoord"] = 1
    arrays = {"POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs * 0, "TEXCOORD_1": uvs}
    attributes = {name: glb.accessor(array) for name, array in arrays.items()}
    glb.node(mesh=glb.mesh(attributes, indices=glb.accessor(indices.astype("u2")), material=material))
    second = model_scene(glb.save(tmp_path / "second.glb")).emulate().color.numpy()
    np.testing.assert_array_equal(second, model_scene(textured(tmp_path, "u2")).emulate().color.numpy())


@pytest.mark.parametrize(("mode", "indexed"), [(5, False), (5, True), (6, False), (6, True)])
def test_strips_and_fans_are_triangles(tmp_path, mode, indexed):
    if mode == 5:
        places = [[x, y, 0] for x in range(4) for y in (1, 0)]
        expected = [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4], [4, 5, 6], [5, 7, 6]]
    else:
        places = [[0, 0, 0], *([np.cos(a), np.sin(a), 0] for a in np.linspace(0, 3, 5))]
        expected = [[0, k, k + 1] for k in range(1, 5)]
    positions, glb = np.float32(places), Glb()
    expected = positions[expected]
    more = {}
    if indexed:
        positions, more = positions[::-1], {"indices": glb.accessor(np.arange(len(positions))[::-1].astype("u2"))}
    attributes = {"POSITION": glb.accessor(positions), "NORMAL": glb.accessor(np.float32([[0, 0, 1]] * len(positions)))}
    glb.node(mesh=glb.mesh(attributes, mode=mode, **more))
    scene = model_scene(glb.save(tmp_path / "strip.glb"))
    found = drawn(scene)[0]
    assert fronts(scene).all()
    assert {frozenset(map(tuple, t)) for t in found.tolist()} == {frozenset(map(tuple, t)) for t in expected.tolist()}


def test_quantised_meshes_are_read(tmp_path):
    glb, (positions, normals, _, indices) = Glb(), box()
    whole = np.zeros((24, 4), np.int16)
    whole[:, :3] = np.round(positions * 2000)
    outward = np.zeros((24, 4), np.int8)
    outward[:, :3] = normals * 127
    attributes = {
        "POSITION": glb.accessor(whole[:, :3], glb.view(whole.tobytes(), byteStride=8)),
        "NORMAL": glb.accessor(outward[:, :3], glb.view(outward.tobytes(), byteStride=4), normalized=True),
    }
    glb.document |= {"extensionsRequired": ["KHR_mesh_quantization"], "extensionsUsed": ["KHR_mesh_quantization"]}
    glb.node(mesh=glb.mesh(attributes, indices=glb.accessor(indices.astype("u1"))), scale=[0.0005] * 3)
    places, outward = drawn(model_scene(glb.save(tmp_path / "small.glb")))
    np.testing.assert_allclose(places, positions[indices].reshape(-1, 3, 3), atol=1e-6)
    np.testing.assert_allclose(outward, normals[indices].reshape(-1, 3, 3) / 0.0005, rtol=1e-3)


def test_what_is_drawn_opaque_is_said(tmp_path):
    glb, (positions, _, _, indices) = Glb(), box()
    cut_out = glb.put("materials", alphaMode="MASK")
    attributes = {"POSITION": glb.accessor(positions)}
    glb.node(mesh=glb.mesh(attributes, indices=glb.accessor(indices.astype("u1")), material=cut_out))
    with pytest.warns(RuntimeWarning, match="cut-out surfaces are drawn opaque"):
        model_scene(glb.save(tmp_path / "leaf.glb"))
