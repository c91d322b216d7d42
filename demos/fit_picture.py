"""A network learns a picture: from coordinates to colour, evaluated for every pixel while it converges."""

import argparse

import numpy as np
from matplotlib import cbook
from PIL import Image

import gpgpu_gl as gg
from gpgpu_gl import nn, optim
from gpgpu_gl import render as gr
from gpgpu_gl.render.texture import read_picture


def features(side: int, waves: int) -> np.ndarray:
    """Sines and cosines of every pixel's place, in random directions (M. Tancik and others, 2020): (side^2, 2 waves)."""
    y, x = (np.mgrid[0:side, 0:side] + 0.5) / side
    along = np.random.default_rng(0).standard_normal((2, waves)) * 3.5
    phase = 2 * np.pi * np.stack([x.ravel(), y.ravel()], axis=1) @ along
    return np.concatenate([np.sin(phase), np.cos(phase)], axis=1).astype(np.float32)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?", help="what to learn; by default a photograph that comes with matplotlib")
    parser.add_argument("--side", type=int, default=64, help="pixels along a side")
    parser.add_argument("--steps", type=int, default=10, help="of training for each frame")
    app = gr.App(__doc__ or "", size=(720, 400), argv=argv, parser=parser)
    side = app.options.side
    photo = read_picture(app.options.picture or cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)).convert("RGB")
    short = min(photo.size)
    photo = photo.crop((0, 0, short, short)).resize((side, side), Image.Resampling.LANCZOS)
    wanted = np.asarray(photo, np.float32).reshape(-1, 3) / 255
    gg.manual_seed(0)
    model = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3), nn.Sigmoid())
    optimizer = optim.Adam(model.parameters(), lr=6e-3)
    x, y = gg.tensor(features(side, 64)), gg.tensor(wanted)

    @gg.compile
    def train(x: gg.Tensor, y: gg.Tensor) -> gg.Tensor:
        found = model(x)
        loss = (found - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return found.detach()

    learned = gr.Mesh(gr.shapes.quad(1, 1), gr.UnlitMaterial(), translation=(0.53, 0, 0))
    original = gr.Mesh(gr.shapes.quad(1, 1), gr.UnlitMaterial(map=photo), translation=(-0.53, 0, 0))
    scene = gr.Scene([learned, original, gr.OrthographicCamera(height=1.2, position=(0, 0, 1))], background="#14181e")

    def frame(t: float) -> gr.Scene:
        for _ in range(app.options.steps):
            found = train(x, y)
        learned.material.map = gr.Texture(found.reshape(side, side, 3).copy(), srgb=True, smooth=False)
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
