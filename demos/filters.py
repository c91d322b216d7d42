"""Filters on a photograph by convolution: blur, sharpen, edges, emboss, bloom, one after another and side by side."""

import argparse

import numpy as np
from matplotlib import cbook
from PIL import Image

import gpgpu_gl as gg
from gpgpu_gl import render as gr
from gpgpu_gl.render import post
from gpgpu_gl.render.color import decode
from gpgpu_gl.render.texture import read_picture

FILTERS = [
    ("as it is", lambda p: p),
    ("blur", lambda p: post.blur(p, 4.0)),
    ("sharpen", lambda p: post.sharpen(p, 2.0)),
    ("edges", lambda p: post.edges(p) * 0.8),
    ("emboss", lambda p: post.emboss(p) * 0.5 + 0.1),
    ("bloom", lambda p: post.bloom(p, 0.55, 6.0, 1.5)),
]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?", help="a photograph; by default one that comes with matplotlib")
    app = gr.App(__doc__ or "", size=(720, 480), argv=argv, parser=parser)
    path = app.options.picture or cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)
    photo = read_picture(path).convert("RGB")
    width, height = app.size[0] // 3, app.size[1] // 2
    side = min(photo.width, photo.height * width // height)
    cut = photo.crop((0, 0, side, side * height // width)).resize((width, height), Image.Resampling.LANCZOS)
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :3] = decode(np.asarray(cut) / 255.0)
    picture = gg.tensor(pixels)

    def frame(t: float) -> gg.Tensor:
        done = [effect(picture) for _, effect in FILTERS]
        rows = [gg.concat(done[n : n + 3], axis=1) for n in (0, 3)]
        return gg.concat(rows, axis=0)

    app.run(frame)


if __name__ == "__main__":
    main()
