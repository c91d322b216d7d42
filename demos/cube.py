"""A spinning cube with a texture that gets its mipmaps from the device."""

import numpy as np

from gpgpu_gl import render as gr


def board(side: int = 256, cells: int = 8) -> np.ndarray:
    """A checkerboard whose cells run through the colours."""
    y, x = np.mgrid[0:side, 0:side] * cells // side
    dark = ((x + y) % 2)[..., None]
    hue = np.stack([x / cells, y / cells, 1 - (x + y) / (2 * cells)], axis=2)
    return (255 * (0.25 + 0.75 * hue) * (1 - 0.75 * dark)).astype(np.uint8)


def main(argv: list[str] | None = None) -> None:
    app = gr.App(__doc__ or "", argv=argv)
    cube = gr.Mesh(gr.shapes.cube(1.6), gr.PhongMaterial(map=board(), specular=0.4))
    scene = gr.Scene([cube, gr.PerspectiveCamera(position=(0, 1.2, 4), target=(0, 0, 0))])
    scene.add(gr.DirectionalLight(position=(1, 2, 2)), gr.AmbientLight(intensity=0.15))

    def frame(t: float) -> gr.Scene:
        cube.rotation = gr.turn((0, 1, 0), 0.5 + t)
        cube.rotate((1, 0, 0), 0.35)
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
