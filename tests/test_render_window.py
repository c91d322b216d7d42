"""The live window under Xvfb, with real mouse and key events; and windows of other libraries as hosts."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from render_help import released  # noqa: F401

from gpgpu_gl import render as R
from gpgpu_gl.errors import DeviceError, GpgpuError
from gpgpu_gl.render.controls import Controls

CHECKOUT = Path(__file__).parents[1]
PATIENCE = 60  # seconds for a program to start on a busy machine

needs_display = pytest.mark.skipif(
    not (sys.platform.startswith("linux") and shutil.which("Xvfb") and shutil.which("xdotool")),
    reason="needs Xvfb and xdotool: apt install xvfb xdotool",
)


@pytest.fixture(scope="module")
def display() -> Iterator[dict[str, str]]:
    """The environment of programs that open windows on a virtual display."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "800x600x24"], pass_fds=(writing,), stderr=subprocess.DEVNULL
    )
    os.close(writing)
    with os.fdopen(reading) as answer:
        number = answer.readline().strip()
    env = {k: v for k, v in os.environ.items() if k != "WAYLAND_DISPLAY"}
    yield env | {"DISPLAY": f":{number}", "PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'tests'}", "PYTHONUNBUFFERED": "1"}
    server.terminate()
    server.wait()


SCENE = """
import sys
from gpgpu_gl import render as R
app = R.App("one quad", size=(200, 150), argv=["--samples", "0"])
board = R.Mesh(R.shapes.quad(1, 1), R.UnlitMaterial(color=(0, 1, 0), double_sided=True))
camera = R.PerspectiveCamera(fov_y=60, position=(0, 0, 3))
scene = R.Scene([board, camera], background=(1, 0, 0))
times = []
app.click = lambda x, y: print("clicked", x, y, R.pick(scene, x, y, *app.window.size).node is board)
def frame(t):
    times.append(t)
    print("at", *camera.translation.round(3), len(times), t, *app.window.size)
    return scene
app.run(frame)
print("closed")
"""


class Live:
    """A program with a window, what it prints, and events sent to it."""

    def __init__(self, display: dict[str, str], folder: Path) -> None:
        self.env, self.log = display, folder / "log.txt"
        with self.log.open("w") as log:
            self.program = subprocess.Popen(
                [sys.executable, "-c", SCENE], cwd=folder, env=display, stdout=log, stderr=subprocess.STDOUT
            )
        self.wait(lambda: self.lines("at"), "the first frame")
        self.window = self.do("search", "--pid", str(self.program.pid)).split()[-1]

    def do(self, *words: str) -> str:
        done = subprocess.run(["xdotool", *words], env=self.env, capture_output=True, text=True, check=True)
        return done.stdout

    def lines(self, word: str) -> list[list[str]]:
        whole = self.log.read_text().rpartition("\n")[0]  # the last line may be half written
        return [line.split() for line in whole.splitlines() if line.startswith(word)]

    def at(self) -> np.ndarray:
        """Where the camera is, after what was sent so far has been seen."""
        count = len(self.lines("at"))
        self.wait(lambda: len(self.lines("at")) > count + 3, "more frames")
        return np.array(self.lines("at")[-1][1:4], float)

    def wait(self, condition, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert self.program.poll() is None, f"the program ended before {what}:\n{self.log.read_text()[-2000:]}"
            assert time.monotonic() < end, f"no {what} in {PATIENCE} s"
            time.sleep(0.02)

    def drag(self, button: int, x: int, y: int) -> None:
        self.do("mousemove", "--window", self.window, "100", "75")
        self.do("mousedown", str(button))
        for n in range(1, 5):
            self.do("mousemove", "--window", self.window, str(100 + x * n // 4), str(75 + y * n // 4))
        self.do("mouseup", str(button))


@needs_display
def test_window_answers_mouse_and_keys(display, tmp_path):
    live = Live(display, tmp_path)
    try:
        start = live.at()
        assert (start == (0, 0, 3)).all()
        live.drag(1, 40, 0)  # orbit: a fifth of the width is a fifth of half a turn, to the left
        found = live.at()
        angle = np.pi * 0.2
        assert np.abs(found - (-3 * np.sin(angle), 0, 3 * np.cos(angle))).max() < 0.1
        live.do("key", "Home")
        assert np.abs(live.at() - start).max() < 1e-3
        live.drag(3, 0, 30)  # pan: what was grabbed moves down with the pointer, the camera up
        found = live.at()
        assert np.abs(found - (0, 0.2 * 2 * 3 * np.tan(np.radians(30)), 3)).max() < 0.05
        live.do("key", "Home")
        live.do("click", "4", "click", "4")  # the wheel, twice
        assert abs(live.at()[2] - 3 * 0.81) < 1e-2
        live.do("key", "Home")
        live.do("keydown", "w")
        live.wait(lambda: float(live.lines("at")[-1][3]) < 2.9, "flight")
        live.do("keyup", "w")
        live.do("key", "Home")
        live.do("mousemove", "--window", live.window, "100", "75", "click", "1")
        live.wait(lambda: live.lines("clicked"), "a click")
        assert live.lines("clicked")[-1][1:] == ["100", "75", "True"]
        live.do("key", "space")  # pause: frames go on, time does not
        live.at()
        one, other = live.lines("at")[-1], (live.at(), live.lines("at")[-1])[1]
        assert int(other[4]) > int(one[4])
        assert float(other[5]) == float(one[5])
        live.do("key", "space")
        live.do("windowsize", "--sync", live.window, "300", "120")
        live.wait(lambda: live.lines("at")[-1][6:] == ["300", "120"], "another size")
        live.do("key", "p")
        live.wait(lambda: live.lines("wrote"), "a screenshot")
        picture = np.asarray(Image.open(tmp_path / live.lines("wrote")[0][1]))
        assert picture.shape == (120, 300, 3)
        assert tuple(picture[60, 150]) == (0, 255, 0)
        assert tuple(picture[5, 5]) == (255, 0, 0)
        seen = screen(live, tmp_path)  # what the display itself shows
        assert tuple(seen[60, 150]) == (0, 255, 0)
        assert tuple(seen[110, 290]) == (255, 0, 0)
        assert (seen[8:20, 8:60].max(axis=2) > 200).sum() > (seen[60:72, 230:282].min(axis=2) > 200).sum()
        name = live.do("getwindowname", live.window)
        assert "one quad" in name
        assert "ms" in name
        live.do("key", "Escape")
        assert live.program.wait(PATIENCE) == 0
        assert live.lines("closed")
    finally:
        live.program.kill()
        live.program.wait()


def screen(live: Live, folder: Path) -> np.ndarray:
    """The window's pixels, read from the display."""
    if not shutil.which("import"):
        pytest.skip("needs ImageMagick's import")
    path = folder / "screen.png"
    subprocess.run(["import", "-window", live.window, str(path)], env=live.env, check=True, capture_output=True)
    return np.asarray(Image.open(path).convert("RGB"))


@needs_display
def test_show_copies_from_a_device_that_is_there(display, tmp_path):
    program = (
        "import numpy as np, gpgpu_gl as gg\n"
        "from gpgpu_gl import render as R\n"
        "x = gg.full((30, 40, 4), 0.5)\n"  # starts a device of its own
        "window = R.Window('copied', 40, 30)\n"
        "assert not window.shared\n"
        "window.run(lambda t: x, frames=2)\n"
        "print(float((x * 2).sum()))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env=display, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["4800.0"]


@needs_display
@pytest.mark.parametrize("kind", ["moderngl-window", "pygame"])
def test_other_libraries_windows_as_hosts(display, kind):
    program = [sys.executable, str(CHECKOUT / "tests" / "render_hosts.py"), kind]
    done = subprocess.run(program, env=display, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["product"] == [[2.0] * 3] * 3
    assert found["middle"] == [0, 255, 0, 255]
    assert found["corner"] == [255, 0, 0, 255]
    assert found["theirs"] == [0, 0, 255, 0]
    assert found["changed"] == []
    assert found["error"] == "GL_NO_ERROR"


def test_without_a_display_the_remedy_is_named(tmp_path):
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")} | {"PYTHONPATH": str(CHECKOUT)}
    if not sys.platform.startswith("linux"):
        pytest.skip("other systems always have a display")
    done = subprocess.run(
        [sys.executable, "-m", "gpgpu_gl", "demo", "cube"], env=env, cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "No window can be opened" in done.stderr
    assert "--headless" in done.stderr


def test_a_window_of_no_size_is_refused():
    with pytest.raises(GpgpuError, match="0 x 10 pixels"):
        R.Window("nothing", 0, 10)
    assert issubclass(DeviceError, GpgpuError)


# --- the controls themselves


def camera(**more):
    return R.PerspectiveCamera(position=(0, 0, 4), target=(0, 0, 0), **more)


def test_orbit_keeps_the_target_and_the_distance():
    controls = Controls(camera())
    controls.orbit(0.25, 0.1)
    assert np.abs(controls.target).max() < 1e-9
    assert abs(np.linalg.norm(controls.camera.translation) - 4) < 1e-9
    assert abs(controls.camera.translation[1] - 4 * np.sin(0.1 * np.pi)) < 1e-9
    controls.orbit(0, 5)  # stops before the pole
    assert controls.camera.translation[1] < 4
    assert controls.camera.matrix[1, 1] > 0  # still upright


def test_zoom_of_an_orthographic_camera_changes_its_height():
    seen = R.OrthographicCamera(height=2, position=(0, 0, 4))
    Controls(seen).zoom(1)
    assert seen.height == pytest.approx(1.8)
    assert seen.translation[2] == 4


def test_reset_goes_back_to_the_start():
    controls = Controls(camera())
    before = controls.camera.matrix
    controls.orbit(0.3, 0.2)
    controls.pan(0.1, 0.1)
    controls.zoom(3)
    controls.fly({"w", "a"}, 0.5)
    controls.reset()
    assert np.abs(controls.camera.matrix - before).max() < 1e-9
    assert abs(controls.distance - 4) < 1e-9
