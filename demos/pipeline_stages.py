"""Steps through the stages of the emulated pipeline; a click on a pixel prints its history.

In the window: left and right step through the stages, up and down through the scenes, C prints the cost, Escape closes.
Without a display: python demos/pipeline_stages.py --headless --out DIR [--scene NAME] [--click X Y]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import moderngl
import numpy as np

import gpgpu_gl as gg
from gpgpu_gl.errors import DeviceError, GpgpuError
from gpgpu_gl.gl import source
from gpgpu_gl.pipeline.gallery import GALLERY, demo
from gpgpu_gl.pipeline.pictures import STAGES, enlarged, picture
from gpgpu_gl.pipeline.scenes import Scene, scenes

NAMES = (*STAGES, "hardware", "difference")


class Tour:
    """The scene and the stage on show."""

    def __init__(self, makers: Sequence[Callable[[], Scene]]) -> None:
        self.makers = makers
        self.scene_number = self.stage_number = 0
        self.load()

    def load(self) -> None:
        """Draws the scene, emulated and real."""
        self.scene = self.makers[self.scene_number]()
        self.trace, self.hardware = self.scene.emulate(), self.scene.rasterise()

    def step(self, stages: int = 0, scene: int = 0) -> None:
        """Goes to another stage or scene."""
        self.stage_number = (self.stage_number + stages) % len(NAMES)
        if scene:
            self.scene_number = (self.scene_number + scene) % len(self.makers)
            self.load()

    @property
    def title(self) -> str:
        return f"{self.scene.name}: {NAMES[self.stage_number]} ({self.stage_number + 1} of {len(NAMES)})"

    def picture(self) -> np.ndarray:
        return picture(self.trace, NAMES[self.stage_number], self.hardware)

    def history(self, x: int, y: int) -> str:
        """The fragments of a pixel, y from the bottom."""
        events = self.trace.pixel(x, y)
        return "\n".join([f"pixel ({x}, {y}) of {self.scene.name}: {len(events)} fragments", *(f"  {e}" for e in events)])


def window(tour: Tour, make: Callable[[], Any], factor: int) -> None:
    """Shows the tour until the window is closed."""
    import glfw

    handle, ctx = make()
    program = ctx.program(
        vertex_shader=source.load("main/cover.glsl").text, fragment_shader=source.load("pipeline/show.frag").text
    )
    vao = ctx.vertex_array(program, [])
    shown: dict[str, Any] = {"texture": None}

    def refresh() -> None:
        rows = tour.picture()
        if shown["texture"] is not None:
            shown["texture"].release()
        shown["texture"] = ctx.texture((rows.shape[1], rows.shape[0]), 3, rows.tobytes(), alignment=1)
        shown["texture"].filter = (moderngl.NEAREST, moderngl.NEAREST)
        glfw.set_window_title(handle, tour.title)

    def on_key(_: Any, key: int, __: int, action: int, ___: int) -> None:
        if action not in (glfw.PRESS, glfw.REPEAT):
            return
        moves = {glfw.KEY_RIGHT: (1, 0), glfw.KEY_LEFT: (-1, 0), glfw.KEY_DOWN: (0, 1), glfw.KEY_UP: (0, -1)}
        if key in moves:
            tour.step(*moves[key])
            refresh()
        elif key == glfw.KEY_C:
            print(tour.trace.cost())
        elif key == glfw.KEY_ESCAPE:
            glfw.set_window_should_close(handle, True)

    def on_click(_: Any, button: int, action: int, __: int) -> None:
        if button == glfw.MOUSE_BUTTON_LEFT and action == glfw.PRESS:
            (x, y), (width, height) = glfw.get_cursor_pos(handle), glfw.get_window_size(handle)
            size = tour.trace.size
            place = (int(x / width * size[0]), size[1] - 1 - int(y / height * size[1]))
            if 0 <= place[0] < size[0] and 0 <= place[1] < size[1]:
                print(tour.history(*place))

    glfw.set_key_callback(handle, on_key)
    glfw.set_mouse_button_callback(handle, on_click)
    glfw.set_window_size(handle, tour.trace.size[0] * factor, tour.trace.size[1] * factor)
    refresh()
    print(__doc__)
    while not glfw.window_should_close(handle):
        width, height = glfw.get_framebuffer_size(handle)
        ctx.detect_framebuffer(0).use()
        ctx.viewport = (0, 0, width, height)
        program["size"] = (width, height)
        shown["texture"].use(0)
        vao.render(moderngl.TRIANGLES, vertices=3)
        glfw.swap_buffers(handle)
        glfw.wait_events_timeout(0.2)
    glfw.terminate()


def open_window() -> tuple[Any, moderngl.Context]:
    """A GLFW window whose context becomes the library's device. Raises DeviceError with the remedy if there is none."""
    import glfw

    if not glfw.init():
        raise DeviceError("No window can be opened: there is no display. Run with --headless --out DIR, or use xvfb-run.")
    for name, value in ((glfw.CONTEXT_VERSION_MAJOR, 3), (glfw.CONTEXT_VERSION_MINOR, 3), (glfw.OPENGL_FORWARD_COMPAT, True)):
        glfw.window_hint(name, value)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    handle = glfw.create_window(640, 480, "The pipeline, stage by stage", None, None)
    if not handle:
        raise DeviceError("No window with OpenGL 3.3 can be opened. Run with --headless --out DIR.")
    glfw.make_context_current(handle)
    ctx = moderngl.create_context(require=330)
    gg.use(ctx)
    return handle, ctx


def main() -> None:
    makers: dict[str, Callable[[], Scene]] = {"demo": demo, **GALLERY, **{s.name: (lambda s=s: s) for s in scenes()}}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", default="demo", choices=tuple(makers), metavar="NAME", help="where to start (default demo)")
    parser.add_argument("--headless", action="store_true", help="write the pictures of all stages instead of opening a window")
    parser.add_argument("--out", type=Path, default=Path("pipeline_stages"), help="where pictures go with --headless")
    parser.add_argument("--enlarge", type=int, default=4, help="screen pixels for each pixel")
    parser.add_argument("--click", type=int, nargs=2, metavar=("X", "Y"), help="print the history of a pixel, y from the bottom")
    arguments = parser.parse_args()
    order = list(makers)[list(makers).index(arguments.scene) :] + list(makers)[: list(makers).index(arguments.scene)]
    try:
        opened = None if arguments.headless else open_window()
        tour = Tour([makers[name] for name in order])
        if arguments.click:
            print(tour.history(*arguments.click))
        if opened is not None:
            window(tour, lambda: opened, arguments.enlarge)
            return
        arguments.out.mkdir(parents=True, exist_ok=True)
        for number, stage in enumerate(NAMES):
            enlarged(tour.picture(), arguments.enlarge).save(arguments.out / f"{number:02d}-{stage}.png")
            tour.step(1)
        print(f"{len(NAMES)} pictures of {tour.scene.name} in {arguments.out}/")
    except GpgpuError as error:
        raise SystemExit(f"pipeline_stages: {error}") from None


if __name__ == "__main__":
    main()
