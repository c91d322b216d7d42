"""The game of life: neighbours are counted by a convolution, and the board is a texture in a scene."""

import argparse

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl import render as gr

AROUND = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], np.float32)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", type=int, default=96, help="cells along a side")
    parser.add_argument("--warm-up", type=int, default=40, help="steps before the first frame")
    app = gr.App(__doc__ or "", size=(640, 480), argv=argv, parser=parser)
    side = app.options.board
    start = np.zeros((1, side, side, 4), np.float32)
    start[..., 0] = np.random.default_rng(4).random((1, side, side)) < 0.3
    cells = gg.tensor(start)  # channel 0: alive; the others: how long ago, for the colour
    count = gg.tensor(np.repeat(AROUND[:, :, None, None], 4, axis=3))

    def step() -> None:
        nonlocal cells
        neighbours = gg.conv2d(cells, count, padding="same", groups=4)
        alive = ((neighbours == 3) | ((neighbours == 2) & (cells == 1))).astype(np.float32)[..., :1]
        trail = (cells[..., 1:2] * 0.92).clip(0, 1)
        trail = gg.maximum(trail, alive)
        cells = gg.concat([alive, trail, trail * 0.6 + alive * 0.2, alive * 0 + 1], axis=3)

    for _ in range(app.options.warm_up):
        step()
    screen = gr.Mesh(gr.shapes.plane(4, 4), gr.UnlitMaterial())
    camera = gr.PerspectiveCamera(fov_y=40, position=(0, 3.6, 3.6), target=(0, -0.2, 0.15))
    scene = gr.Scene([screen, camera], background="#0a0e14")

    def frame(t: float) -> gr.Scene:
        step()
        board = cells.reshape(side, side, 4)
        screen.material.map = gr.Texture(board, smooth=False)
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
