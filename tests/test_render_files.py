"""Models from files: what is read, what is refused, and that nothing outside the folder is touched."""

import base64
import json
import struct

import numpy as np
import pytest
from PIL import Image
from render_help import released  # noqa: F401

from gpgpu_gl import render as R
from gpgpu_gl.errors import FileError, GpgpuError, ShapeError

OBJ = "mtllib a.mtl\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3 4/4\n"
MTL = "newmtl m\nKd 1 1 1\nKs 0 0 0\nmap_Kd {}\n"


def camera():
    return R.OrthographicCamera(height=2, position=(0, 0, 5))


def obj(folder, picture="p.png", text=OBJ, mtl=MTL):
    (folder / "a.obj").write_text(text)
    (folder / "a.mtl").write_text(mtl.format(picture))
    return folder / "a.obj"


def quarters():
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[0, 0], pixels[0, 1], pixels[1, 0], pixels[1, 1] = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
    return pixels


def flat(node):
    for mesh in node.walk():
        if isinstance(mesh, R.Mesh):
            mesh.material = R.UnlitMaterial(map=mesh.material.map)
            if mesh.material.map is not None:
                mesh.material.map.smooth = False
    return R.image(R.Scene([node, camera()]), 8, 8, samples=0).array[..., :3]


def test_obj_with_its_texture_upright(tmp_path):
    Image.fromarray(quarters()).save(tmp_path / "p.png")
    found = flat(R.load(obj(tmp_path)))
    assert (found[::4, ::4] == quarters()).all()
    assert (found[3::4, 3::4] == quarters()).all()


def test_a_missing_or_broken_texture_is_seen(tmp_path):
    with pytest.warns(RuntimeWarning, match=r"a.obj: refers to 'p.png', and there is no such file"):
        model = R.load(obj(tmp_path))
    assert tuple(flat(model).max(axis=(0, 1))) == (255, 0, 255)
    (tmp_path / "p.png").write_bytes(b"\x89PNG broken")
    with pytest.warns(RuntimeWarning, match=r"p.png.*cannot be read.*magenta"):
        R.load(obj(tmp_path))


@pytest.mark.parametrize("outside", ["../p.png", "/etc/hostname", "..\\p.png", "sub/../../p.png", "%2e%2e/p.png"])
def test_textures_outside_the_folder_are_not_read(tmp_path, outside):
    Image.fromarray(quarters()).save(tmp_path / "p.png")
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.warns(RuntimeWarning, match="outside of the model's folder|no such file"):
        found = flat(R.load(obj(inner, outside)))
    assert tuple(found.max(axis=(0, 1))) == (255, 0, 255)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    Image.fromarray(quarters()).save(tmp_path / "p.png")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "p.png").symlink_to(tmp_path / "p.png")
    with pytest.warns(RuntimeWarning, match="outside of the model's folder"):
        R.load(obj(inner))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "a.obj"),
        ("v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", "a.obj.*not finite"),
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "a.obj.*no area"),
        ("", "a.obj"),
        ("v 1 2\nf a b c\n", "a.obj"),
    ],
)
def test_broken_obj_files_are_refused_by_name(tmp_path, text, said):
    (tmp_path / "a.obj").write_text(text)
    with pytest.raises(FileError, match=said):
        R.load(tmp_path / "a.obj")


def test_missing_and_unknown_files(tmp_path):
    with pytest.raises(FileError, match=r"b.obj: there is no such file"):
        R.load(tmp_path / "b.obj")
    with pytest.raises(FileError, match=r"'.fbx' is no model format that can be read: use .obj"):
        R.load(tmp_path / "b.fbx")


def test_ply_with_vertex_colours(tmp_path):
    rows = "-1 -1 0 255 0 0\n1 -1 0 255 0 0\n1 1 0 255 0 0\n"
    head = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    head += "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 1\n"
    head += "property list uchar int vertex_indices\nend_header\n"
    (tmp_path / "a.ply").write_text(head + rows + "3 0 1 2\n")
    assert tuple(flat(R.load(tmp_path / "a.ply"))[6, 6]) == (255, 0, 0)
    (tmp_path / "b.ply").write_text(head + rows[:20])
    with pytest.raises(FileError, match=r"b.ply"):
        R.load(tmp_path / "b.ply")


# --- glTF


def gltf(tmp_path, binary=False, change=None, bend=False):
    """A bar of two quads along y, its upper end bound to a joint at y = 1 that turns by 90 degrees in a second."""
    positions = np.array([[x, y, 0] for y in (0, 1, 2) for x in (-0.25, 0.25)], np.float32)
    indices = np.array([[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4]], np.uint16)
    joints = np.array([[0, 0, 0, 0]] * 4 + [[1, 0, 0, 0]] * 2, np.uint8)
    weights = np.tile(np.array([1, 0, 0, 0], np.float32), (6, 1))
    inverse = np.tile(np.eye(4, dtype=np.float32), (2, 1, 1))
    inverse[1, 3, 1] = -1  # column-major: moved down by 1
    times, h = np.array([0, 1], np.float32), np.sqrt(0.5)
    turn = np.array([[0, 0, 0, 1], [0, 0, -h, h]], np.float32)
    parts = [positions, indices, joints, weights, inverse, times, turn]
    kinds = [(5126, "VEC3"), (5123, "SCALAR"), (5121, "VEC4"), (5126, "VEC4"), (5126, "MAT4"), (5126, "SCALAR"), (5126, "VEC4")]
    data, views, accessors = b"", [], []
    for n, (part, (component, kind)) in enumerate(zip(parts, kinds, strict=True)):
        data += b"\0" * (-len(data) % 4)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": part.nbytes})
        count = part.size // {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[kind]
        accessors.append({"bufferView": n, "componentType": component, "count": count, "type": kind})
        data += part.tobytes()
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"mesh": 0, **({"skin": 0} if bend else {"translation": [0.55, 0, 0]})},
            {"name": "root", "children": [2]},
            {"name": "tip", "translation": [0, 1, 0]},
        ],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": 4}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0, 1]}, "doubleSided": True}],
        "animations": [
            {
                "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}],
                "samplers": [{"input": 5, "output": 6}],
            }
        ],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
    }
    if not binary:
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    if change:
        change(document)
    text = json.dumps(document).encode()
    if not binary:
        (tmp_path / "a.gltf").write_bytes(text)
        return tmp_path / "a.gltf"
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    (tmp_path / "a.glb").write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body)
    return tmp_path / "a.glb"


def seen(model):
    view = R.OrthographicCamera(height=4, position=(0, 1, 5))
    return R.buffers(R.Scene([model, view]), 40, 40)["id"].numpy()[..., 0] > 0


@pytest.mark.parametrize("binary", [False, True])
def test_gltf_nodes_and_materials(tmp_path, binary):
    model = R.load(gltf(tmp_path, binary))
    mask = seen(model)
    y, x = np.nonzero(mask)
    assert (x.min(), x.max(), y.min(), y.max()) == (23, 27, 10, 29)
    mesh = next(n for n in model.walk() if isinstance(n, R.Mesh))
    assert mesh.material.color == (1, 0.5, 0)
    assert mesh.material.double_sided


def test_gltf_skin_bends_with_its_joint(tmp_path):
    model = R.load(gltf(tmp_path, bend=True))
    straight = seen(model)
    y, x = np.nonzero(straight)
    assert (y.min(), y.max()) == (10, 29)
    model.animations[0].apply(1.0, loop=False)
    bent = seen(model)
    y, x = np.nonzero(bent)
    assert y.min() >= 17
    assert x.max() == 29
    assert bent[19, 28]
    assert not bent[12, 20]


def test_animation_interpolates_along_the_arc(tmp_path):
    model = R.load(gltf(tmp_path))
    (animation,) = model.animations
    assert animation.duration == 1
    animation.apply(0.5)
    eighth = np.pi / 8
    assert np.abs(model.find("tip").rotation - (0, 0, -np.sin(eighth), np.cos(eighth))).max() < 1e-6
    model.animate(1.5)
    assert np.abs(model.find("tip").rotation - (0, 0, -np.sin(eighth), np.cos(eighth))).max() < 1e-6


def cut_view(document):
    document["bufferViews"][0]["byteLength"] = 10**6


def bad_index(document):
    document["nodes"][0]["mesh"] = 7


def loop(document):
    document["nodes"][2]["children"] = [1]


def outside(document):
    document["buffers"][0]["uri"] = "../secret.bin"


def compressed(document):
    document["extensionsRequired"] = ["KHR_draco_mesh_compression"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cut_view, "past the end"),
        (bad_index, "contradicts itself|mesh"),
        (loop, "below itself|two parents"),
        (outside, "outside of the model's folder"),
        (compressed, "KHR_draco_mesh_compression"),
    ],
)
def test_broken_gltf_files_are_refused_by_name(tmp_path, change, said):
    (tmp_path / "secret.bin").write_bytes(b"\0" * 4096)
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(FileError, match=f"a.gltf.*({said})"):
        R.load(gltf(inner, change=change))


def test_gltf_that_is_no_json(tmp_path):
    (tmp_path / "a.gltf").write_text("{")
    with pytest.raises(FileError, match=r"a.gltf"):
        R.load(tmp_path / "a.gltf")
    (tmp_path / "a.glb").write_bytes(b"glTF\2\0\0\0")
    with pytest.raises(FileError, match=r"a.glb"):
        R.load(tmp_path / "a.glb")


# --- what the caller hands over


def test_geometry_is_checked():
    with pytest.raises(ShapeError, match=r"geometry: positions of vertex 1 are not finite"):
        R.Geometry([[0, 0, 0], [np.inf, 0, 0], [0, 1, 0]])
    with pytest.raises(ShapeError, match=r"index 3 is outside the 3 vertices"):
        R.Geometry(np.eye(3), [[0, 1, 3]])
    with pytest.raises(ShapeError, match="all 1 triangles have no area"):
        R.Geometry(np.eye(3), [[0, 1, 1]])
    with pytest.warns(UserWarning, match="1 of 2 triangles have no area"):
        assert len(R.Geometry(np.eye(3), [[0, 1, 1], [0, 1, 2]]).indices) == 1
    with pytest.raises(ShapeError, match=r"uvs have shape \(2, 2\), but need \(3, 2\)"):
        R.Geometry(np.eye(3), uvs=np.zeros((2, 2)))


def test_scenes_refuse_what_makes_no_sense():
    node = R.Group()
    with pytest.raises(GpgpuError, match="below itself"):
        node.add(R.Group([node]) if False else node)
    with pytest.raises(GpgpuError, match="no colour is called 'blurple'"):
        R.PhongMaterial("blurple")
    with pytest.raises(GpgpuError, match="0 x 10 pixels"):
        R.image(node, 0, 10)
    with pytest.raises(GpgpuError, match="near < far"):
        R.image(R.Scene([R.PerspectiveCamera(near=2, far=1)]), 8, 8)
    with pytest.raises(ShapeError, match="shears"):
        node.matrix = [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    with pytest.raises(FileError, match="no such picture"):
        R.Texture.load("nowhere.png")
