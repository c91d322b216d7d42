"""Model files go through the emulated pipeline whole: every mesh, its place, its colours and its texture."""

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
    assert compare(trace.frame, hardware, State.of(**draw.state), scene.levels).equal
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
