"""A fluid in fragment passes: colour carried by a velocity that is kept free of sources (stable fluids)."""

import argparse

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl import render as gr


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grid", type=int, default=160, help="height of the grid in cells")
    parser.add_argument("--warm-up", type=int, default=60, help="steps before the first frame")
    app = gr.App(__doc__ or "", size=(640, 480), argv=argv, parser=parser)
    height = app.options.grid
    size = (height * 4 // 3, height)
    area = (float(size[0]), float(size[1]))
    velocity = dye = pressure = gg.zeros((height, size[0], 4))
    clock = 0.0

    def step(dt: float) -> None:
        nonlocal velocity, dye, pressure, clock
        clock += dt
        places, pushes, inks = [], [], []
        for n, (x, ink) in enumerate(((0.25, (1.0, 0.25, 0.05, 0)), (0.75, (0.05, 0.3, 1.0, 0)))):
            sway = np.sin(2.1 * clock + 2 * n) * 0.35
            angle = (0.15 if n == 0 else np.pi - 0.15) + sway
            places.append((x * area[0], (0.55 - 0.1 * n) * area[1], 0.035 * area[1], 1.0))
            pushes.append((2.6 * np.cos(angle), -2.6 * np.sin(angle), 0.0, 0.0))
            inks.append(tuple(0.16 * c for c in ink))
        flow = {"dt": dt * 20, "source": places}
        moved = gr.paint("fluid_advect", size, {"field": velocity, "velocity": velocity}, fade=0.998, source_value=pushes, **flow)
        for _ in range(16):
            pressure = gr.paint("fluid_pressure", size, {"pressure": pressure, "velocity": moved})
        velocity = gr.paint(
            "fluid_pressure", size, {"pressure": pressure, "velocity": moved}, defines={"PROJECT": 1}
        )
        dye = gr.paint("fluid_advect", size, {"field": dye, "velocity": velocity}, fade=0.992, source_value=inks, **flow)

    for _ in range(app.options.warm_up):
        step(0.05)
    screen = gr.Mesh(gr.shapes.quad(4 / 3, 1), gr.UnlitMaterial())
    scene = gr.Scene([screen, gr.OrthographicCamera(height=1, position=(0, 0, 1))], background=0.0, tone="reinhard", exposure=2.0)

    def frame(t: float) -> gr.Scene:
        step(0.05)
        screen.material.map = gr.Texture(dye, wrap="clamp")  # the tensor itself is the texture
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
