"""Writing pictures in sequence: GIF, APNG, or numbered PNG files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from gpgpu_gl.errors import FileError, GpgpuError
from gpgpu_gl.render.image import Picture

KINDS = (".png", ".gif", ".apng", ".jpg", ".webp")


def check_name(path: str | os.PathLike[str]) -> None:
    """Raises FileError for an ending that cannot be written, or a folder that is not there."""
    path = Path(path)
    if path.suffix.lower() not in KINDS:
        raise FileError(f"{path}: pictures are written as {', '.join(KINDS)}")
    if not path.absolute().parent.is_dir():
        raise FileError(f"{path}: there is no folder {path.absolute().parent}; make it first")


def save_frames(pictures: Iterable[Picture], path: str | os.PathLike[str], fps: float = 20.0, loop: int = 0) -> Path:
    """Writes frames: .gif and .apng move; a name with %04d gives numbered files; else the last frame is written.

    loop: how often it plays, 0 for ever. Returns the path. Raises FileError, GpgpuError where there is no frame.
    """
    check_name(path)
    target = Path(path)
    frames = [p.pil() for p in pictures]
    if not frames:
        raise GpgpuError("there are no frames to write")
    kind = target.suffix.lower()
    duration = max(1, round(1000 / fps))
    if "%" in target.name:
        for n, frame in enumerate(frames):
            frame.save(str(target) % n)
    elif kind == ".gif" and len(frames) > 1:
        # One palette for all frames keeps still parts still, and the file small.
        palette = frames[len(frames) // 2].convert("RGB").quantize(128, method=Image.Quantize.MEDIANCUT)
        flat = [f.convert("RGB").quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
        flat[0].save(target, save_all=True, append_images=flat[1:], duration=duration, loop=loop, optimize=True)
    elif kind == ".apng":
        frames[0].save(target, "PNG", save_all=True, append_images=frames[1:], duration=duration, loop=loop)
    else:
        last = frames[-1]
        last.convert("RGB" if kind == ".jpg" else last.mode).save(target)
    return target
