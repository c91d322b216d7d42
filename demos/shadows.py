"""Shadows and lights: a sun, a coloured spot and a point light over a small stage."""

import numpy as np

from gpgpu_gl import render as gr


def main(argv: list[str] | None = None) -> None:
    app = gr.App(__doc__ or "", argv=argv)
    scene = gr.Scene(background="#10141c", tone="aces", fog=gr.Fog("#10141c", density=0.035))
    scene.add(gr.Mesh(gr.shapes.plane(24, 24), gr.LambertMaterial("#b0aca4")))
    teapot = gr.Mesh(gr.shapes.teapot(), gr.PhongMaterial("#c8603c"))
    ring = gr.Mesh(gr.shapes.torus(0.7, 0.22), gr.StandardMaterial("#88a8d8", roughness=0.3), translation=(2.6, 1.1, 0.6))
    scene.add(teapot, ring)
    for n in range(7):
        x = -4.5 + 1.5 * n
        scene.add(gr.Mesh(gr.shapes.cube(0.6), gr.LambertMaterial("#88b080"), translation=(x, 0.3 + 0.25 * (n % 3), -2.5)))
    sun = gr.DirectionalLight(position=(3, 4, 2), intensity=0.7, shadow=True, shadow_size=2048)
    spot = gr.SpotLight(target=(0, 0.3, 0), angle=24, penumbra=0.4, color="#ff9050", intensity=26, shadow=True)
    lamp = gr.PointLight(position=(2.6, 1.1, 0.6), color="#70b0ff", intensity=1.6, range=5)
    bulb = gr.Mesh(gr.shapes.sphere(0.12), gr.UnlitMaterial("#a0d0ff"), translation=lamp.translation)
    scene.add(sun, spot, lamp, bulb, gr.AmbientLight(intensity=0.05))
    scene.add(gr.PerspectiveCamera(fov_y=40, position=(-2.5, 4.5, 9), target=(0.3, 0.6, 0)))

    def frame(t: float) -> gr.Scene:
        spot.translation = 5 * np.sin(0.8 * t - 0.7), 4.5, 4 * np.cos(0.8 * t - 0.7)
        spot.look_at((0, 0.3, 0))
        ring.rotation = gr.turn((1, 0.3, 0), 1.2 + t)
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
