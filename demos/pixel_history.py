"""Tells how a pixel got its colour: every fragment that came, in order, and which test it failed.

    python demos/pixel_history.py                        the most contested pixel of a scene
    python demos/pixel_history.py --scene "blend alpha" --pixel 80 60 --out history.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.pipeline.gallery import GALLERY, demo
from gpgpu_gl.pipeline.history import Event
from gpgpu_gl.pipeline.pictures import enlarged, image, overdraw
from gpgpu_gl.pipeline.scenes import scenes
from gpgpu_gl.pipeline.trace import Trace

FACTOR = 3


def sheet(trace: Trace, x: int, y: int, events: list[Event]) -> Image.Image:
    """The picture and the overdraw with the pixel marked, and below them a row for each fragment."""
    width, height = trace.size
    canvas = Image.new("RGB", (2 * width * FACTOR + 12, height * FACTOR + 16 + 22 * (len(events) + 1)), (24, 26, 32))
    draw = ImageDraw.Draw(canvas)
    for i, made in enumerate((image(trace), overdraw(trace))):
        left = i * (width * FACTOR + 12)
        canvas.paste(enlarged(made, FACTOR), (left, 0))
        cx, cy = left + x * FACTOR + FACTOR // 2, (height - 1 - y) * FACTOR + FACTOR // 2
        draw.ellipse([cx - 7, cy - 7, cx + 7, cy + 7], outline=(255, 255, 255), width=2)
    top = height * FACTOR + 12
    for i, event in enumerate(events):
        for j, color in enumerate((event.outputs[0] if event.outputs else np.zeros(4), *event.color)):
            rgb = tuple(int(v) for v in np.clip(np.nan_to_num(color[:3]), 0, 1) * 255)
            draw.rectangle([6 + 26 * j, top + 22 * i, 26 + 26 * j, top + 22 * i + 16], fill=rgb, outline=(90, 90, 90))
        draw.text((92, top + 22 * i + 2), str(event), fill=(220, 220, 220))
    draw.text((6, top + 22 * len(events)), "the fragment's colour, the pixel before, the pixel after", fill=(140, 140, 150))
    return canvas


def main() -> None:
    makers = {"demo": demo, **GALLERY, **{s.name: (lambda s=s: s) for s in scenes()}}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", default="depth less", choices=tuple(makers), metavar="NAME", help="default: depth less")
    parser.add_argument("--pixel", type=int, nargs=2, metavar=("X", "Y"), help="y from the bottom; default: the busiest one")
    parser.add_argument("--out", type=Path, help="a PNG with the picture, the overdraw and the fragments")
    arguments = parser.parse_args()
    try:
        trace = makers[arguments.scene]().emulate()
        counts = trace.overdraw.numpy()
        y, x = np.unravel_index(int(counts.argmax()), counts.shape)
        x, y = arguments.pixel or (int(x), int(y))
        events = trace.pixel(x, y)
        print(f"{arguments.scene}, pixel ({x}, {y}): {len(events)} fragments")
        for event in events:
            print(f"  {event}")
            for name, value in event.inputs.items():
                print(f"      {name} = {', '.join(f'{v:.4g}' for v in value)}")
        if arguments.out:
            sheet(trace, x, y, events).save(arguments.out)
            print(f"Picture: {arguments.out}")
    except GpgpuError as error:
        raise SystemExit(f"pixel_history: {error}") from None


if __name__ == "__main__":
    main()
