"""A viewer for any glTF, GLB, OBJ or PLY file; without one it shows a model that it builds."""

import argparse

from gpgpu_gl import render as gr


def built() -> gr.Node:
    """A small robot arm of nodes, so that there is something to see without a file."""
    metal, red = gr.StandardMaterial("#c0c4cc", metallic=0.9, roughness=0.35), gr.StandardMaterial("#b03028", roughness=0.4)
    base = gr.Mesh(gr.shapes.cube(1.0), red, scale=(1.2, 0.4, 1.2), translation=(0, 0.2, 0))
    arm = gr.Group(translation=(0, 0.5, 0), name="arm").rotate((0, 0, 1), -0.3)
    arm.add(gr.Mesh(gr.shapes.cube(1.0), metal, scale=(0.3, 1.4, 0.3), translation=(0, 0.7, 0)))
    elbow = gr.Group(translation=(0, 1.4, 0), name="elbow").rotate((0, 0, 1), 1.3)
    elbow.add(gr.Mesh(gr.shapes.sphere(0.26), red))
    elbow.add(gr.Mesh(gr.shapes.cube(1.0), metal, scale=(0.24, 1.1, 0.24), translation=(0, 0.55, 0)))
    elbow.add(gr.Mesh(gr.shapes.torus(0.2, 0.07), red, translation=(0, 1.25, 0)).rotate((1, 0, 0), 1.57))
    return gr.Group([base, arm.add(elbow)])


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", help=".gltf, .glb, .obj or .ply")
    app = gr.App(__doc__ or "", argv=argv, parser=parser)
    model = gr.load(app.options.model) if app.options.model else built()
    sky = gr.Environment.gradient(down="#8a8478", sun=(0.6, 0.7, 0.5), sun_intensity=20, intensity=0.6)
    scene = gr.Scene([model], environment=sky, sky=True, tone="aces")
    scene.sky_blur = 0.5
    if not any(isinstance(node, gr.Light) for node in model.walk()):
        scene.add(gr.DirectionalLight(position=(0.6, 0.7, 0.5), intensity=1.2))

    def frame(t: float) -> gr.Scene:
        if hasattr(model, "animate") and model.animations:
            model.animate(t)
        elif app.options.model is None:
            model.find("elbow").rotation = gr.turn((0, 0, 1), 1.3 + 0.5 * abs((t % 2) - 1))
        return scene

    app.run(frame)


if __name__ == "__main__":
    main()
