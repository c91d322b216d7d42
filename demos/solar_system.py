"""A solar system: matrices of a hierarchy, from the sun through planets to their moons."""

import numpy as np

from gpgpu_gl import render as gr

# name, colour, radius, distance, turns in a second, moons (radius, distance, turns in a second)
PLANETS = [
    ("Mercury", "#9c8f84", 0.12, 1.3, 0.45, []),
    ("Venus", "#d8b070", 0.2, 1.9, 0.3, []),
    ("Earth", "#3f78c8", 0.22, 2.7, 0.2, [(0.06, 0.42, 0.9)]),
    ("Mars", "#b8543a", 0.16, 3.5, 0.14, [(0.03, 0.28, 1.3), (0.03, 0.38, 0.8)]),
    ("Jupiter", "#c8a078", 0.48, 4.9, 0.08, [(0.07, 0.72, 0.9), (0.06, 0.9, 0.6), (0.08, 1.08, 0.4)]),
    ("Saturn", "#d8c490", 0.4, 6.4, 0.05, [(0.07, 0.95, 0.5)]),
]


def orbit(radius: float) -> gr.Lines:
    angle = np.linspace(0, 2 * np.pi, 97)
    ring = np.stack([radius * np.cos(angle), 0 * angle, radius * np.sin(angle)], axis=1)
    return gr.Lines(ring, color="#303848", size=1.5)


def main(argv: list[str] | None = None) -> None:
    app = gr.App(__doc__ or "", argv=argv)
    ball = gr.shapes.sphere(1.0, 32, 16)
    scene = gr.Scene(background="#05060a")
    rng = np.random.default_rng(1)
    stars = rng.standard_normal((900, 3))
    stars *= 40 / np.linalg.norm(stars, axis=1, keepdims=True)
    scene.add(gr.Points(stars, color="#8890a0", size=2))
    scene.add(gr.Mesh(ball, gr.UnlitMaterial("#ffd060"), scale=0.7, name="Sun"), gr.PointLight(intensity=9.0))
    scene.add(gr.AmbientLight(intensity=0.06))
    turning: list[tuple[gr.Node, float]] = []
    for name, color, radius, distance, speed, moons in PLANETS:
        path = gr.Group(name=f"path of {name}")  # turns about the sun and carries its planet along
        place = gr.Group(translation=(distance, 0, 0))
        light = gr.LambertMaterial(color) if distance < 4 else gr.LambertMaterial(color, emissive="#1c1812")
        planet = gr.Mesh(ball, light, scale=radius, name=name)
        scene.add(path.add(place.add(planet)), orbit(distance))
        turning.append((path, speed))
        for size, away, rate in moons:
            circle = gr.Group()
            place.add(circle.add(gr.Mesh(ball, gr.LambertMaterial("#b0b0b0"), scale=size, translation=(away, 0, 0))))
            turning.append((circle, rate))
        if name == "Saturn":
            ring = gr.Mesh(gr.shapes.torus(0.68, 0.14, 64, 4), gr.LambertMaterial("#a89868", emissive="#181408"))
            ring.scale = (1, 0.05, 1)
            place.add(ring.rotate((1, 0, 0), 0.4))
    scene.add(gr.PerspectiveCamera(fov_y=40, position=(0, 7, 12), target=(0, -0.6, 0)))

    def frame(t: float) -> gr.Scene:
        for n, (node, speed) in enumerate(turning):
            node.rotation = gr.turn((0, 1, 0), 2.4 * n + 2 * np.pi * speed * t)
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
