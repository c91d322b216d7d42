"""The teapot in every material, side by side."""

import numpy as np

from gpgpu_gl import render as gr


def bumps(side: int = 128) -> np.ndarray:
    """A normal map of round bumps."""
    y, x = np.mgrid[0:side, 0:side] / side * 8 * np.pi
    slope = np.stack([-np.cos(x) * np.sin(y), np.sin(x) * np.cos(y), np.full_like(x, 2.2)], axis=2)
    slope /= np.linalg.norm(slope, axis=2, keepdims=True)
    return np.round(255 * (slope * 0.5 + 0.5)).astype(np.uint8)


def stripes(side: int = 128) -> np.ndarray:
    y, x = np.mgrid[0:side, 0:side]
    return np.where(((x + y) // 16 % 2)[..., None], (230, 190, 120), (90, 40, 30)).astype(np.uint8)


MATERIALS = [
    lambda: gr.UnlitMaterial(map=stripes()),
    lambda: gr.LambertMaterial("#7fae5a"),
    lambda: gr.PhongMaterial("#c0402e", specular=0.8, shininess=60),
    lambda: gr.StandardMaterial("#e8b860", metallic=1.0, roughness=0.25),
    lambda: gr.StandardMaterial("#d8d8e0", metallic=1.0, roughness=0.12, normal_map=bumps(), normal_scale=0.5),
    lambda: gr.StandardMaterial("#3a68b8", roughness=0.35, emissive="#101828"),
    lambda: gr.LambertMaterial("#78c8e0", opacity=0.45, double_sided=True),
    lambda: gr.NormalMaterial(),
    lambda: gr.DepthMaterial(near=14.5, far=17.5),
    lambda: gr.WireframeMaterial(color="#d0d0d0"),
]


def main(argv: list[str] | None = None) -> None:
    app = gr.App(__doc__ or "", size=(960, 480), argv=argv)
    sky = gr.Environment.gradient(sun=(-0.5, 0.8, 0.6))
    scene = gr.Scene(environment=sky, tone="aces", background="#30343c")
    teapot = gr.shapes.teapot(6)
    pots = []
    for n, material in enumerate(MATERIALS):
        pots.append(gr.Mesh(teapot, material(), translation=(n % 5 * 3.4 - 6.8, n // 5 * -2.4 + 0.6, 0)))
    scene.add(*pots, gr.DirectionalLight(position=(-1, 2, 2), intensity=0.8))
    scene.add(gr.PerspectiveCamera(fov_y=30, position=(0, 1.6, 16), target=(0, 0.1, 0)))

    def frame(t: float) -> gr.Scene:
        for pot in pots:
            pot.rotation = gr.turn((0, 1, 0), 0.6 * t)
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
