"""The command and the demos write the pictures that they promise."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pipeline_rig import settle

import gpgpu_gl as gg
from gpgpu_gl.cli import main
from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.pipeline import page
from gpgpu_gl.pipeline.gallery import demo
from gpgpu_gl.pipeline.pictures import STAGES, picture
from gpgpu_gl.pipeline.scenes import scenes

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def settled():
    yield
    settle()


def test_the_command_draws_one_stage(tmp_path, capsys):
    assert main(["pipeline", "demo", "--stage", "clip", "--out", str(tmp_path), "--enlarge", "1", "--pixel", "100", "75"]) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["clip.png"]
    colors = {tuple(c) for c in np.asarray(Image.open(tmp_path / "clip.png")).reshape(-1, 3)}
    assert len(colors) >= 4  # untouched, cut and gone primitives on the ground
    out = capsys.readouterr().out
    assert "demo: equal" in out
    assert "pixel (100, 75): 1 fragments" in out


def test_the_command_names_what_it_does_not_know(tmp_path, capsys):
    assert main(["pipeline", "nothing", "--out", str(tmp_path)]) == 1
    assert "there is no scene 'nothing'" in capsys.readouterr().err
    assert main(["pipeline", "phong", "--stage", "clipping", "--out", str(tmp_path)]) == 1
    assert "there is no stage 'clipping'" in capsys.readouterr().err
    assert main(["pipeline", "list"]) == 0
    assert "depth less" in capsys.readouterr().out


def test_every_stage_has_a_picture_of_its_own():
    trace = demo().emulate()
    found = {stage: picture(trace, stage) for stage in STAGES}
    for stage, rows in found.items():
        assert rows.shape == (150, 200, 3), stage
        assert rows.std() > 2, stage
    assert len({rows.tobytes() for rows in found.values()}) == len(STAGES)
    with pytest.raises(GpgpuError, match="there is no stage 'hardware'"):
        picture(trace, "hardware")


def test_the_page_shows_every_scene_and_counts(tmp_path, monkeypatch):
    some = [scene for scene in scenes() if scene.name in ("depth less", "discard")]
    monkeypatch.setattr(page, "scenes", lambda: iter(some))
    monkeypatch.setattr(page, "GALLERY", {})
    assert page.write_page(tmp_path) == (2, 0)
    text = (tmp_path / "index.html").read_text()
    assert "2 of 2 scenes are equal" in text
    assert len(list((tmp_path / "pictures").iterdir())) == 6
    assert all(f"pictures/{file.name}" in text for file in (tmp_path / "pictures").iterdir())


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        (["demos/pipeline_stages.py", "--headless", "--scene", "depth less", "--click", "57", "64", "--out"], len(STAGES) + 2),
        (["demos/pixel_history.py", "--pixel", "57", "64", "--out"], 1),
    ],
)
def test_demos_run_without_a_display(tmp_path, arguments, files):
    out = tmp_path / "out" if files > 1 else tmp_path / "out.png"
    command = [sys.executable, *arguments, str(out)]
    environment = {"PATH": "", "PYTHONPATH": str(CHECKOUT)}  # no DISPLAY
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "pixel (57, 64)" in done.stdout
    assert "written" in done.stdout
    written = list(out.iterdir()) if files > 1 else [out]
    assert len(written) == files
    shown = [file for file in written if "final" in file.name or files == 1]
    assert np.asarray(Image.open(shown[0])).std() > 10


def test_a_hosts_context_keeps_its_state(device):
    """In a host's context the emulator leaves the host's GL state alone, and draws the same."""
    from gpgpu_gl.gl.raw import raw

    scene = next(s for s in scenes() if s.name == "stencil incr")
    expected = scene.emulate().color.numpy()
    gl = raw()
    awkward = ("GL_CULL_FACE", "GL_BLEND", "GL_SCISSOR_TEST", "GL_DEPTH_TEST", "GL_STENCIL_TEST")
    try:
        host = gg.use(device.ctx)
        for name in awkward:
            gl.glEnable(getattr(gl, name))
        gl.glColorMask(True, False, True, False)
        trace, frame = scene.emulate(), scene.rasterise()
        assert all(gl.glIsEnabled(getattr(gl, name)) for name in awkward)
        assert list(gl.glGetBooleanv(gl.GL_COLOR_WRITEMASK)) == [True, False, True, False]
        found, real = trace.color.numpy(), frame.color.numpy()
        del trace, frame
        host.engine.release()
    finally:
        for name in awkward:
            gl.glDisable(getattr(gl, name))
        gl.glColorMask(True, True, True, True)
        gg.use(device)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(real, expected, atol=1e-4)
