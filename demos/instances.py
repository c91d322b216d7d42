"""A hundred thousand cubes in one draw call, their matrices a tensor."""

import argparse

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl import render as gr


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    app = gr.App(__doc__ or "", argv=argv, parser=parser)
    count = app.options.count
    # A sunflower's spiral: each cube turns by the golden angle and goes outwards.
    n = np.arange(count)
    radius, angle = 0.05 * np.sqrt(n * (100_000 / count)), n * np.pi * (3 - np.sqrt(5))
    height = 1.6 * np.cos(radius * 1.1) * np.exp(-0.1 * radius)
    places = np.stack([radius * np.cos(angle), height, radius * np.sin(angle)], axis=1)
    side = 0.06 * np.sqrt(100_000 / count)
    # All matrices are composed on the device, in one pass.
    axis = gg.tensor(np.tile([0.0, 1.0, 0.0], (count, 1)))
    turned = gr.transform.rotate(axis, gg.tensor(-angle))
    matrices = gr.transform.translate(gg.tensor(places)) @ turned @ gr.transform.scale(gg.tensor(np.full(3, side)))
    hue = 0.5 + 0.5 * np.cos(radius[:, None] * 0.9 + np.array([0.0, 2.1, 4.2]))
    colors = np.concatenate([0.1 + 0.8 * hue**2, np.ones((count, 1))], axis=1)
    cubes = gr.InstancedMesh(gr.shapes.cube(1.0), matrices, gr.LambertMaterial(), colors=colors)
    cubes.extent = np.array([[-16.0, -2, -16], [16, 2, 16]])  # so that the matrices need not be read back
    scene = gr.Scene([cubes, gr.DirectionalLight(position=(1, 2, 1)), gr.AmbientLight(intensity=0.2)])
    scene.add(gr.PerspectiveCamera(fov_y=40, position=(0, 11, 17), target=(0, -1.5, 1)))

    def frame(t: float) -> gr.Scene:
        cubes.rotation = gr.turn((0, 1, 0), 0.2 * t)
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
