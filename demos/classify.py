"""A network looks at a rendered picture: a digit drawn in 3-D is classified in the same frame, the chances shown as bars."""

import argparse
from itertools import pairwise

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl import nn, optim
from gpgpu_gl import render as gr
from gpgpu_gl.data import load, normalise

# Strokes from 0 to 1, y downwards: what is drawn headless, and at first in the window.
DIGITS = {
    2: [(0.25, 0.3), (0.35, 0.15), (0.6, 0.12), (0.72, 0.28), (0.62, 0.48), (0.4, 0.68), (0.25, 0.86), (0.5, 0.86), (0.76, 0.84)],
    7: [(0.24, 0.17), (0.5, 0.15), (0.75, 0.17), (0.64, 0.4), (0.54, 0.62), (0.46, 0.87)],
    3: [(0.3, 0.18), (0.55, 0.13), (0.7, 0.28), (0.5, 0.46), (0.7, 0.64), (0.62, 0.82), (0.45, 0.88), (0.27, 0.8)],
    0: [(0.5, 0.13), (0.3, 0.25), (0.25, 0.5), (0.32, 0.78), (0.5, 0.87), (0.7, 0.76), (0.75, 0.5), (0.68, 0.24), (0.5, 0.13)],
}


def trained(steps: int) -> nn.Module:
    """A small network, trained on MNIST for a few seconds."""
    gg.manual_seed(1)
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))
    mnist, rng = load("mnist"), np.random.default_rng(0)
    optimizer = optim.Adam(model.parameters(), lr=3e-3)

    @gg.compile
    def step(images: gg.Tensor, labels: gg.Tensor) -> gg.Tensor:
        loss = gg.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    for _ in range(steps):
        pick = rng.integers(0, len(mnist.train_images), 128)
        step(gg.tensor(normalise(mnist.train_images[pick])), gg.tensor(mnist.train_labels[pick]))
    return model


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300, help="of training before the first frame")
    app = gr.App(__doc__ or "", size=(720, 400), argv=argv, parser=parser)
    model = trained(app.options.steps)
    ink = gr.Group()
    sheet = gr.Scene([ink, gr.OrthographicCamera(height=1, position=(0, 0, 2))], background=0.0)

    def draw(points: list[tuple[float, float]]) -> None:
        ink.remove(*ink.children)
        path = np.array([(x - 0.5, 0.5 - y, 0.0) for x, y in points])
        dense = np.concatenate([np.linspace(a, b, 12) for a, b in pairwise(path)] or [path])
        ink.add(gr.Points(dense, size=0.085, world_size=True, color=1.0))

    quad = gr.Mesh(gr.shapes.quad(3.2, 3.2), gr.UnlitMaterial(), translation=(-2.6, 0, 0))
    bars = [gr.Mesh(gr.shapes.cube(1.0), gr.PhongMaterial("#5a6a80"), translation=(0.2 + 0.48 * n, 0, 0)) for n in range(10)]
    scene = gr.Scene([quad, *bars], background="#14181e")
    for n in range(10):
        sign = gr.UnlitMaterial(map=label(n))
        scene.add(gr.Mesh(gr.shapes.quad(0.34, 0.34), sign, translation=(0.2 + 0.48 * n, -1.85, 0.3)))
    scene.add(gr.DirectionalLight(position=(1, 2, 3)), gr.AmbientLight(intensity=0.25))
    scene.add(gr.PerspectiveCamera(fov_y=40, position=(0.2, 0.2, 8.6), target=(0.2, -0.1, 0)))
    held: list[tuple[float, float]] = []

    def drag(x: float, y: float, begins: bool) -> None:
        """Draws with the left button on the sheet, in fractions of the window."""
        if begins:
            held.clear()
        held.append(((x - 0.06) / 0.36, (y - 0.13) / 0.67))
        draw(held)

    app.drag = drag

    def frame(t: float) -> gr.Scene:
        if not held:
            draw(DIGITS[list(DIGITS)[int(t) % len(DIGITS)]])
        seen = gr.tensor(sheet, 112, 112, samples=0)
        small = gg.avg_pool2d(seen[..., :1].reshape(1, 112, 112, 1), 4)
        quad.material.map = gr.Texture(small.reshape(28, 28, 1).copy(), smooth=False)
        with gg.no_grad():
            chances = gg.softmax(model(small * (1 / 0.3081) - 0.1307 / 0.3081), axis=1).numpy()[0]
        for n, bar in enumerate(bars):
            high = max(3.2 * float(chances[n]), 0.02)
            bar.scale, bar.translation = (0.34, high, 0.34), (0.2 + 0.48 * n, -1.6 + high / 2, 0)
            bar.material.color = (0.05, 0.5, 0.16) if n == chances.argmax() else (0.1, 0.14, 0.22)
        return scene

    app.run(frame)


def label(digit: int) -> np.ndarray:
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (48, 48), "#14181e")
    ImageDraw.Draw(picture).text((24, 24), str(digit), font=ImageFont.load_default(40), anchor="mm", fill="#c8d0dc")
    return np.asarray(picture)


if __name__ == "__main__":
    main()
