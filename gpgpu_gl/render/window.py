"""A live window.

Left button: orbit; right or middle button, or shift and left: pan; wheel: zoom; W A S D Q E: fly; Home: back to the start;
Space: pause; P: save a screenshot; F: frame time on or off; Escape: close.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from gpgpu_gl.errors import DeviceError, GpgpuError
from gpgpu_gl.gl import context
from gpgpu_gl.gl.context import Device
from gpgpu_gl.gl.start import VERSIONS, _GlfwLoader
from gpgpu_gl.gl.state import unbind_framebuffer
from gpgpu_gl.render.camera import Camera
from gpgpu_gl.render.controls import FLIGHT, Controls
from gpgpu_gl.render.gpu import gpu
from gpgpu_gl.render.image import Picture, check_size, draw_display, draw_tensor, image, picture, present
from gpgpu_gl.render.nodes import Node
from gpgpu_gl.render.state import BLEND
from gpgpu_gl.render.table import Table
from gpgpu_gl.render.view import as_scene, default_camera, find_camera, world_corners
from gpgpu_gl.tensor import Tensor

CLICK = 4  # pixels that the pointer may move between press and release of a click
_TEXT_EVERY = 0.5  # seconds between two updates of the frame time

# What the window shows where another device computes: that device's context cannot be shared with the window any more.
_NO_DISPLAY = (
    "No window can be opened: {why}. On a machine without a display run with --headless --out FILE, or save "
    "gpgpu_gl.render.image(scene); over ssh, set DISPLAY or use xvfb-run."
)


class Window:
    """A GLFW window. Where no device has been started yet, its context becomes the default device, so that tensors are
    shown without a copy; else pictures are copied from the device that is there.

    Raises DeviceError with the remedy where there is no display, GpgpuError for sizes that no window can have.
    """

    def __init__(self, title: str, width: int, height: int, samples: int = 4, vsync: bool = True) -> None:
        check_size(width, height)
        self.title, self.samples = title, samples
        self.shared = context._default is None or context._default.closed
        self.glfw, self.handle = _open(title, width, height, egl=not self.shared)
        ctx = moderngl.create_context(require=330, context=_GlfwLoader(self.glfw, self.handle))  # type: ignore[arg-type]
        self.glfw.swap_interval(1 if vsync else 0)
        self.device = Device(ctx, how="window")
        self.other = None if self.shared else context.device()
        context.use(self.other or self.device)
        self.controls: Controls | None = None
        self.keys: set[str] = set()
        self.paused = False
        self.show_time = True
        self.screenshots = 0
        self._pressed: tuple[int, float, float, bool] | None = None
        self._at = tuple(self.glfw.get_cursor_pos(self.handle))  # of the latest event
        self._click: Callable[[int, int], None] | None = None
        self._drag: Callable[[float, float, bool], None] | None = None
        self._text: Any = None
        self._times: list[float] = []
        self._last_text = -1.0
        self._ask_screenshot = False
        self._scene_camera: tuple[Node, Camera] | None = None
        glfw = self.glfw
        glfw.set_key_callback(self.handle, self._key)
        glfw.set_mouse_button_callback(self.handle, self._button)
        glfw.set_cursor_pos_callback(self.handle, self._move)
        glfw.set_scroll_callback(self.handle, self._scroll)

    # --- events ---------------------------------------------------------------------------------

    def _key(self, _window: Any, key: int, _scan: int, action: int, _mods: int) -> None:
        glfw = self.glfw
        letter = chr(key).lower() if 0 < key < 128 else ""
        if action == glfw.RELEASE:
            self.keys.discard(letter)
            return
        if letter in FLIGHT:
            self.keys.add(letter)
        if action != glfw.PRESS:
            return
        if key == glfw.KEY_ESCAPE:
            glfw.set_window_should_close(self.handle, True)
        elif key == glfw.KEY_SPACE:
            self.paused = not self.paused
        elif key == glfw.KEY_P:
            self._ask_screenshot = True
        elif key == glfw.KEY_F:
            self.show_time = not self.show_time
        elif key == glfw.KEY_HOME and self.controls is not None:
            self.controls.reset()

    def _button(self, _window: Any, button: int, action: int, mods: int) -> None:
        x, y = self._at  # where the event happened: the cursor may have gone on since, and its moves come next
        if action == self.glfw.PRESS:
            self._pressed = (button, x, y, bool(mods & self.glfw.MOD_SHIFT))
            if button == 0 and self._drag is not None:
                self._drag(*self._fraction(x, y), True)
        elif self._pressed is not None:
            _, x0, y0, _ = self._pressed
            if button == 0 and abs(x - x0) + abs(y - y0) <= CLICK and self._click is not None:
                width, height = self.glfw.get_window_size(self.handle)
                pixels = self.size
                self._click(int(x * pixels[0] / max(width, 1)), int(y * pixels[1] / max(height, 1)))
            self._pressed = None

    def _move(self, _window: Any, x: float, y: float) -> None:
        if self._pressed is not None and self._pressed[0] == 0 and self._drag is not None:
            self._drag(*self._fraction(x, y), False)
        elif self._pressed is not None and self.controls is not None:
            width, height = self.glfw.get_window_size(self.handle)
            dx, dy = (x - self._at[0]) / max(width, 1), (y - self._at[1]) / max(height, 1)
            if self._pressed[0] == 0 and not self._pressed[3]:
                self.controls.orbit(dx, dy)
            else:
                self.controls.pan(dx * width / max(height, 1), dy)
        self._at = (x, y)

    def _fraction(self, x: float, y: float) -> tuple[float, float]:
        width, height = self.glfw.get_window_size(self.handle)
        return x / max(width, 1), y / max(height, 1)

    def _scroll(self, _window: Any, _x: float, y: float) -> None:
        if self.controls is not None:
            self.controls.zoom(y)

    # --- frames ---------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """In pixels: on high-density displays more than the window's own units."""
        width, height = self.glfw.get_framebuffer_size(self.handle)
        return int(width), int(height)

    def run(
        self,
        frame: Callable[[float], Any],
        click: Callable[[int, int], None] | None = None,
        drag: Callable[[float, float, bool], None] | None = None,
        frames: int | None = None,
    ) -> None:
        """Shows frame(t) until the window is closed, or for so many frames; t is the time that was not paused.

        click(x, y): the pixel that was clicked. drag(x, y, begins): takes the place of orbiting, in fractions of the window.
        """
        self._click, self._drag = click, drag
        t, before, drawn = 0.0, time.perf_counter(), 0
        try:
            while not self.glfw.window_should_close(self.handle) and (frames is None or drawn < frames):
                now = time.perf_counter()
                passed, before = now - before, now
                if not self.paused:
                    t += passed
                self.glfw.poll_events()
                if 0 in self.size:  # minimised
                    self.glfw.wait_events_timeout(0.1)
                    continue
                if self.keys and self.controls is not None:
                    self.controls.fly(self.keys, passed)
                self._count(passed)
                self.draw(frame(t))
                drawn += 1
        finally:
            self.close()

    def draw(self, shown: Any) -> None:
        """Draws a node, a tensor or a picture into the window, and swaps its buffers."""
        camera = self._controlled(shown) if isinstance(shown, Node) else None
        if self.other is None:
            self._present(shown, camera)
            self.glfw.swap_buffers(self.handle)
            return
        # Drawn by the other device, and copied over.
        drawn = image(shown, *self.size, camera, self.samples) if isinstance(shown, Node) else shown
        drawn = picture(drawn) if isinstance(drawn, Tensor) else drawn
        context.use(self.device)
        try:
            self._present(drawn, None)
            self.glfw.swap_buffers(self.handle)
        finally:
            context.use(self.other)

    def _present(self, shown: Any, camera: Camera | None) -> None:
        g, size = gpu(), self.size
        with g.drawing():
            if isinstance(shown, Node):
                _, texture = draw_display(g, shown, size, camera, self.samples)
            elif isinstance(shown, Tensor):
                _, texture = draw_tensor(g, shown)
            elif isinstance(shown, Picture):
                key = ("shown", shown.size)
                (texture,) = g.keep(key, lambda: [g.ctx.texture(shown.size, 4, dtype="f1", internal_format=0x8C43)])
                texture.write(shown.array.tobytes())
            else:
                raise GpgpuError(f"a frame has to be a node, a tensor or a picture, not {type(shown).__name__}")
            texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
            target = g.ctx.detect_framebuffer(0)
            target.viewport = (0, 0, *size)
            program = g.program("cover", "present", {"FLIP": 1, "ENCODE": 1})

            def bind() -> None:
                texture.use(0)
                g.unsample(0)

            present(g, program, bind, target, size, 1.0, encode=False)
            if self.show_time and self._text is not None:
                self._overlay(g, size)
            if self._ask_screenshot:
                self._ask_screenshot = False
                width, height = texture.size
                self._save(np.frombuffer(texture.read(alignment=1), np.uint8).reshape(height, width, 4)[..., :3])
        g.device.check()

    def _controlled(self, root: Node) -> Camera:
        """The camera that mouse and keys move: the scene's own, or one made at first."""
        camera = find_camera(root)
        if camera is None:
            if self._scene_camera is None or self._scene_camera[0] is not root:
                self._scene_camera = (root, default_camera(root, self.size[0] / self.size[1]))
            camera = self._scene_camera[1]
        if self.controls is None or self.controls.camera is not camera:
            self.controls = Controls(camera, _distance(root, camera))
        return camera

    # --- what is written on the window ----------------------------------------------------------

    def _count(self, seconds: float) -> None:
        self._times = [*self._times[-60:], seconds]
        now = time.perf_counter()
        if self.show_time and now - self._last_text > _TEXT_EVERY:
            self._last_text = now
            mean = sum(self._times) / len(self._times)
            text = f"{mean * 1e3:.1f} ms  {1 / max(mean, 1e-6):.0f}/s" + ("  paused" if self.paused else "")
            self.glfw.set_window_title(self.handle, f"{self.title} - {text}")
            self._text = _lettering(text)

    def _overlay(self, g: Any, size: tuple[int, int]) -> None:
        pixels = self._text
        height, width = pixels.shape[:2]
        (texture,) = g.keep(("lettering", width, height), lambda: [g.ctx.texture((width, height), 4, dtype="f1")])
        texture.write(pixels.tobytes())
        texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        program = g.program("cover", "overlay", {})
        texture.use(0)
        program.bind("picture", 0)
        program.set("place", (8.0, 8.0, float(width), float(height)))
        program.set("target_size", (float(size[0]), float(size[1])))
        g.ctx.enable_direct(BLEND)
        g.ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        g.no_attributes(program).render(moderngl.TRIANGLES, vertices=3)
        g.ctx.disable_direct(BLEND)

    def _save(self, pixels: np.ndarray) -> None:
        while True:
            self.screenshots += 1
            path = Path(f"screenshot-{self.screenshots:03d}.png")
            if not path.exists():
                break
        Image.fromarray(np.ascontiguousarray(pixels)).save(path)
        print(f"wrote {path}", flush=True)

    def close(self) -> None:
        """Frees what was drawn with, closes the window, and lets the window library go."""
        if self.handle is None:
            return
        context.use(self.device)
        gpu().release()
        self.device.engine.release()
        self.device.closed = True
        context._default = None
        unbind_framebuffer(self.device.ctx)
        self.glfw.make_context_current(None)
        self.glfw.destroy_window(self.handle)
        self.handle = None
        if self.other is not None:
            context.use(self.other)
        self.glfw.terminate()


def _distance(root: Node, camera: Camera) -> float:
    """From the camera to the middle of what it sees, along its view."""
    from gpgpu_gl.render.mesh import Mesh, Points

    table = Table()
    corners = [world_corners(table, n) for n in as_scene(root).walk() if isinstance(n, (Mesh, Points))]
    if not corners:
        return float(np.linalg.norm(camera.translation))
    every = np.concatenate(corners)
    middle = (every.min(axis=0) + every.max(axis=0)) / 2
    return max(float((middle - camera.world_position()) @ camera.forward), 0.1)


def _lettering(text: str) -> np.ndarray:
    """White letters on a dark ground, (H, W, 4) uint8."""
    font = ImageFont.load_default(13)
    left, top, right, bottom = font.getbbox(text)
    picture = Image.new("RGBA", (int(right - left) + 12, int(bottom - top) + 10), (0, 0, 0, 150))
    ImageDraw.Draw(picture).text((6 - left, 5 - top), text, font=font, fill=(255, 255, 255, 255))
    return np.asarray(picture)


def _open(title: str, width: int, height: int, egl: bool) -> tuple[Any, Any]:
    """A visible window with the newest core context, current in this thread.

    egl: where Linux offers both, by EGL, because a context of GLX does not take turns with one of EGL in one thread.
    """
    try:
        import glfw
    except ImportError as error:
        raise DeviceError(_NO_DISPLAY.format(why=f"the glfw package cannot be loaded ({error})")) from error
    said: list[str] = []
    previous: Any = glfw.set_error_callback(lambda code, text: said.append(f"{text.decode() if isinstance(text, bytes) else text}"))
    try:
        if not glfw.init():
            raise DeviceError(_NO_DISPLAY.format(why="; ".join(dict.fromkeys(said)) or "GLFW does not start"))
        for version in VERSIONS:
            glfw.default_window_hints()
            glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, version // 100)
            glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, version // 10 % 10)
            glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
            glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, glfw.TRUE)
            if egl and sys.platform.startswith("linux"):
                glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)
            if sys.platform == "darwin":
                glfw.window_hint(glfw.COCOA_RETINA_FRAMEBUFFER, glfw.TRUE)
            handle = glfw.create_window(width, height, title, None, None)
            if handle:
                glfw.make_context_current(handle)
                return glfw, handle
        glfw.terminate()
        raise DeviceError(_NO_DISPLAY.format(why="; ".join(dict.fromkeys(said)) or "no OpenGL 3.3 context"))
    finally:
        glfw.set_error_callback(previous)


