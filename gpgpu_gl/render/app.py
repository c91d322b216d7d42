"""One program, live in a window or headless into a file: what every demo runs in."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TypeAlias

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.render.image import Picture, check_size, image, picture
from gpgpu_gl.render.movie import check_name, save_frames
from gpgpu_gl.render.nodes import Node
from gpgpu_gl.render.window import Window
from gpgpu_gl.tensor import Tensor

Shown: TypeAlias = "Node | Tensor | Picture"
Frame: TypeAlias = Callable[[float], Shown]


def add_arguments(parser: argparse.ArgumentParser, size: tuple[int, int]) -> None:
    """The options of every program: --headless, --frames, --out, --size, --fps, --samples."""
    parser.add_argument("--headless", action="store_true", help="no window: write pictures")
    parser.add_argument("--frames", type=int, default=1, help="how many, headless; live, stop after so many (default: endless)")
    parser.add_argument("--out", default="", help="file of the pictures: .png, .gif, .apng, or with %%04d in its name")
    parser.add_argument("--size", default=f"{size[0]}x{size[1]}", help="width x height in pixels (default %(default)s)")
    parser.add_argument("--fps", type=float, default=20.0, help="frames a second of what is written (default %(default)g)")
    parser.add_argument("--samples", type=int, default=4, help="of multisampling, 0 for none (default %(default)s)")


class App:
    """Parses the options, opens the window where there is to be one, and runs frames.

    title: what it shows. size: of the picture. argv: the command line, None for the process's own. parser: to add options.
    Make it before scenes and tensors: live, they belong to the window's context. `options` holds the parsed options.
    """

    def __init__(
        self, title: str, size: tuple[int, int] = (800, 600), argv: Sequence[str] | None = None,
        parser: argparse.ArgumentParser | None = None,
    ) -> None:  # fmt: skip
        parser = parser or argparse.ArgumentParser(description=title)
        add_arguments(parser, size)
        self.options = parser.parse_args(argv)
        self.title = title.strip().splitlines()[0].rstrip(".")
        self.size = _size(self.options.size)
        self.headless: bool = self.options.headless
        self.click: Callable[[int, int], None] | None = None  # called with the pixel that was clicked
        # Called in place of orbiting, with the pointer in fractions of the window, and whether the button went down just now.
        self.drag: Callable[[float, float, bool], None] | None = None
        if self.headless:
            if self.options.frames < 1:
                raise GpgpuError(f"--frames {self.options.frames}: at least one frame has to be drawn")
            check_name(self.options.out or "out.png")
        self.window = None if self.headless else Window(self.title, *self.size, samples=self.options.samples)

    def run(self, frame: Frame) -> None:
        """Calls frame(t) for each frame, t in seconds, and shows what it returns: a node, a tensor or a picture."""
        if self.window is None:
            shown = (self.drawn(frame(n / self.options.fps)) for n in range(self.options.frames))
            print(f"wrote {save_frames(shown, self.options.out or 'out.png', self.options.fps)}")
            return
        self.window.run(frame, self.click, self.drag, self.options.frames if self.options.frames > 1 else None)

    def drawn(self, shown: Shown) -> Picture:
        """What a frame returned, as a picture."""
        if isinstance(shown, Node):
            return image(shown, *self.size, samples=self.options.samples)
        return picture(shown) if isinstance(shown, Tensor) else shown


def _size(text: str) -> tuple[int, int]:
    try:
        width, height = (int(side) for side in text.lower().split("x"))
    except ValueError:
        raise GpgpuError(f"--size {text}: give width and height in pixels, such as 800x600") from None
    check_size(width, height)
    return width, height


def show(scene: Node, width: int = 800, height: int = 600, title: str = "gpgpu_gl", samples: int = 4) -> None:
    """Opens a window that shows a scene until it is closed. Mouse and keys: see gpgpu_gl.render.window.

    Raises DeviceError, with the remedy, where there is no display: use image(scene).save(...) there.
    """
    Window(title, width, height, samples=samples).run(lambda t: scene)
