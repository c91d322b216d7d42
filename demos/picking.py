"""Picking: click an object; its outline, and the triangle, point and weights under the pointer, show what was hit."""

import numpy as np

from gpgpu_gl import render as gr


def main(argv: list[str] | None = None) -> None:
    app = gr.App(__doc__ or "", argv=argv)
    rng = np.random.default_rng(3)
    scene = gr.Scene(background="#1c2026")
    shapes = [gr.shapes.teapot(5), gr.shapes.sphere(0.8), gr.shapes.torus(0.7, 0.3), gr.shapes.cube(1.3)]
    for n in range(12):
        color = tuple(0.15 + 0.7 * rng.random(3))
        at = (n % 4 * 3.4 - 5.1, 0.3 * (n % 3), n // 4 * -3.2 + 2)
        shape = shapes[(n + n // 4) % 4]
        scene.add(gr.Mesh(shape, gr.PhongMaterial(color), translation=at, name=f"object {n}").rotate((0, 1, 0), 0.5 * n))
    camera = gr.PerspectiveCamera(fov_y=40, position=(0, 7, 13), target=(0, 0, -1))
    marker = gr.Mesh(gr.shapes.sphere(0.07), gr.UnlitMaterial("#ff2020"))
    edge = gr.Lines(np.zeros((4, 3)), color="#ffffff", size=2.5)
    marker.visible = edge.visible = False
    scene.add(camera, marker, edge)
    scene.add(gr.DirectionalLight(position=(1, 3, 2)), gr.AmbientLight(intensity=0.2))

    def click(x: int, y: int) -> None:
        marker.visible = edge.visible = False
        hit = gr.pick(scene, x, y, *(app.window.size if app.window else app.size), camera)
        scene.outlined = []
        if hit is None or hit.barycentrics is None or not isinstance(hit.node, gr.Mesh):
            print("nothing there")
            return
        scene.outlined = [hit.node]
        marker.translation, marker.visible = hit.position, True
        corners = hit.node.geometry.positions[hit.node.geometry.indices[hit.primitive]]
        m = hit.node.world_matrix()
        world = corners @ m[:3, :3].T + m[:3, 3]
        scene.remove(scene.children[scene.children.index(edge)])
        edge.__init__(world[[0, 1, 2, 0]] + 0.01 * (camera.translation - hit.position), color="#ffffff", size=2.5)
        scene.add(edge)
        weights = ", ".join(f"{w:.2f}" for w in hit.barycentrics)
        place = np.round(hit.position, 2)
        print(f"{hit.node.name}, triangle {hit.primitive}, weights {weights}, at {place}, {hit.distance:.2f} away")

    app.click = click
    spots = [(0.37, 0.61), (0.62, 0.56), (0.2, 0.6), (0.62, 0.43)]  # headless, these are clicked one after the other

    def frame(t: float) -> gr.Scene:
        if app.headless:
            x, y = spots[int(t * 2) % len(spots)]
            click(int(x * app.size[0]), int(y * app.size[1]))
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
