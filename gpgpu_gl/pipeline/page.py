"""A page of all scenes: the emulator's picture, the hardware's, and their difference, with what differs in numbers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from gpgpu_gl.errors import FileError
from gpgpu_gl.gl.context import device
from gpgpu_gl.pipeline.compare import RELATIVE, Difference, compare
from gpgpu_gl.pipeline.gallery import GALLERY
from gpgpu_gl.pipeline.pictures import difference, image
from gpgpu_gl.pipeline.probe import probe
from gpgpu_gl.pipeline.scenes import Scene, scenes
from gpgpu_gl.pipeline.state import State

_STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;background:#fff;color:#222}
.scenes{display:grid;grid-template-columns:repeat(auto-fill,minmax(21rem,1fr));gap:1.2rem}
figure{margin:0;padding:.6rem;border:1px solid #ddd;border-radius:6px}figure.off{border-color:#c33}
img{width:32%;image-rendering:pixelated}figcaption b{display:block}small{color:#666}"""


def write_page(folder: Path, on_scene: Callable[[str, Difference], None] | None = None) -> tuple[int, int]:
    """Writes index.html and its pictures into `folder`. Returns (scenes, scenes that differ). FileError if it cannot."""
    try:
        (folder / "pictures").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error}") from error
    figures, off, count = [], 0, 0
    makers: list[Callable[[], Scene]] = [*GALLERY.values(), *((lambda s=scene: s) for scene in scenes())]
    for make in makers:
        scene = make()
        trace, theirs = scene.emulate(), scene.rasterise()
        found = compare(trace, theirs, State.of(**scene.draws[-1].state), scene.levels)
        differs = bool(found.depth or found.stencil or found.color > scene.flips)
        stem = re.sub(r"\W+", "-", scene.name)
        names = []
        for kind, pixels in (
            ("emulated", image(trace)),
            ("hardware", image(theirs)),
            ("difference", difference(trace.frame, theirs, 1 / 255)),
        ):
            names.append(f"pictures/{stem}-{kind}.png")
            Image.fromarray(pixels).save(folder / names[-1])
        figures.append(_figure(scene, found, differs, names))
        count, off = count + 1, off + differs
        if on_scene is not None:
            on_scene(scene.name, found)
    (folder / "index.html").write_text(_page(figures, count, off), encoding="utf-8")
    return count, off


def _figure(scene: Scene, found: Difference, differs: bool, names: list[str]) -> str:
    pictures = "".join(
        f'<img src="{name}" alt="{html.escape(scene.name)}, {kind}"> '
        for name, kind in zip(names, ("emulated", "hardware", "difference"), strict=True)
    )
    note = f"; {found.color} of {scene.flips} pixels that rounding may flip" if found.color and not differs else ""
    if found.allowed:
        note += f"; {found.allowed} pixels rounded otherwise in 8 bits"
    text = f"colour {found.largest_color:.2g}, depth {found.largest_depth:.2g}" if not differs else str(found)
    return (
        f"<figure{' class=off' if differs else ''}>{pictures}<figcaption><b>{html.escape(scene.name)}</b>"
        f"<small>largest difference: {text}{note}</small></figcaption></figure>"
    )


def _page(figures: list[str], count: int, off: int) -> str:
    profile = probe()
    known = (
        "as the model says"
        if profile.known
        else "differently from the model, so that differences are counted and not explained"
    )
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>The pipeline, emulated and real</title>
<style>{_STYLE}</style>
<h1>The pipeline, emulated and real</h1>
<p>Every scene is drawn twice with the same shaders: by the emulated pipeline, and by the device's own rasteriser
({html.escape(device().renderer)}). From left to right: emulated, hardware, and their difference, where white is one level of
8 bits. Interpolated floats and depth may differ by {RELATIVE:g} of their value; colours in 8-bit targets by one level for
every blend at that pixel, and colours from filtered 8-bit textures by one level for each texture, because Mesa's software
rasteriser filters those in 8-bit fixed point, where the last bit of a coordinate can give the next level: few pixels, which
are counted. {count - off} of {count} scenes are equal within that.</p>
<p>This device has {profile.subpixel_bits} subpixel bits, owns the {"left" if profile.left else "right"} and
{"bottom" if profile.bottom else "top"} edges, and rasterises {known}.</p>
<div class="scenes">{"".join(figures)}</div></html>
"""
