"""A million particles around two attractors; where they are, how fast and of what colour are tensors, drawn as they lie."""

import argparse

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl import render as gr


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--warm-up", type=int, default=60, help="steps before the first frame")
    app = gr.App(__doc__ or "", argv=argv, parser=parser)
    width = 1024 if app.options.count > 1024 else app.options.count
    rows = -(-app.options.count // width)
    rng = np.random.default_rng(0)
    place = rng.standard_normal((rows, width, 4)).astype(np.float32) * (1.6, 0.25, 1.6, 0)
    speed = np.stack([-place[..., 2], 0.15 * place[..., 0], place[..., 0], 0 * place[..., 0]], axis=2) * 0.55
    position, velocity = gg.tensor(place), gg.tensor(speed)
    clock = 0.0

    def step(dt: float) -> gg.Tensor:
        nonlocal position, velocity, clock
        clock += dt
        around = np.array([np.cos(0.7 * clock), 0.3 * np.sin(clock), np.sin(0.7 * clock)]) * 0.8
        pulls = [(*around, 0.9), (*(-around), 0.9)]
        given = {"position": position, "velocity": velocity}
        position, velocity, color = gr.paint("particles", (width, rows), given, outputs=3, dt=dt, attractor=pulls)
        return color

    for _ in range(app.options.warm_up):
        step(0.03)
    cloud = gr.Points(np.zeros((1, 3)), size=1, round=False, opacity=min(1.0, 0.3 * (80_000 / app.options.count) ** 0.7))
    cloud.additive = True
    cloud.extent = np.array([[-3.0, -1, -3], [3, 1, 3]])
    camera = gr.PerspectiveCamera(fov_y=42, position=(0, 3, 5.5), target=(0, 0, 0))
    scene = gr.Scene([cloud, camera], background="#020308", tone="reinhard", exposure=2.2)

    def frame(t: float) -> gr.Scene:
        color = step(0.03)
        count = rows * width
        cloud.positions, cloud.colors = position.reshape(count, 4), color.reshape(count, 4)
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
