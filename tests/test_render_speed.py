"""How fast drawing is, against a few lines of moderngl that draw the same."""

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from render_help import released  # noqa: F401

from gpgpu_gl import render as R
from gpgpu_gl.gl import source
from gpgpu_gl.gl.context import Device
from gpgpu_gl.gl.state import unbind_framebuffer
from gpgpu_gl.render import renderer
from gpgpu_gl.render.gpu import SRGB8_ALPHA8, gpu
from gpgpu_gl.render.state import CULL_FACE, DEPTH_TEST, FRAMEBUFFER_SRGB

SIZE = (640, 480)
pytestmark = pytest.mark.slow  # measures


def scene() -> tuple[R.Scene, R.Mesh, R.Camera]:
    teapot = R.Mesh(R.shapes.teapot(), R.PhongMaterial("#c04030", specular=0.3, shininess=40))
    camera = R.PerspectiveCamera(position=(1, 2.2, 5), target=(0, 0.7, 0))
    return R.Scene([teapot, camera, R.DirectionalLight(position=(1, 2, 1.5)), R.AmbientLight(intensity=0.1)]), teapot, camera


def costs(runs: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Milliseconds of processor time (of all threads) of each; the least of many, in turns, so that others' work counts little."""
    found: dict[str, float] = {}
    for _ in range(30):
        for name, run in runs.items():
            run()
            start = time.process_time()
            for _ in range(5):
                run()
            found[name] = min(found.get(name, 1e9), (time.process_time() - start) / 5 * 1e3)
    return found


def test_a_teapot_is_drawn_sixty_times_a_second(device: Device) -> None:
    if not device.software:
        pytest.skip("is about software rendering")
    root, teapot, _ = scene()
    turns = iter(np.arange(0, 1000, 0.01))

    def frame() -> None:
        teapot.rotation = R.turn((0, 1, 0), next(turns))
        R.image(root, *SIZE, samples=0)

    found = costs({"frame": frame})["frame"]
    print(f"a frame of {SIZE[0]} x {SIZE[1]} with its bytes: {found:.2f} ms of processor time")
    assert found < 1000 / 60


def test_drawing_costs_little_more_than_bare_moderngl(device: Device) -> None:
    if not device.software:
        pytest.skip("is about software rendering, whose work is measured as processor time")
    root, teapot, camera = scene()
    g, ctx = gpu(), device.ctx
    stages = [source.load(f"bare_{stage}.glsl", root=Path(__file__).parent / "shaders").text for stage in ("vertex", "fragment")]
    program = ctx.program(*stages)
    shape = teapot.geometry
    buffers = [ctx.buffer(a.tobytes()) for a in (shape.positions, shape.normals, shape.indices)]
    array = ctx.vertex_array(program, [(buffers[0], "3f", "in_position"), (buffers[1], "3f", "in_normal")], buffers[2])
    color = ctx.texture(SIZE, 4, dtype="f1", internal_format=SRGB8_ALPHA8)
    depth = ctx.depth_renderbuffer(SIZE)
    target = ctx.framebuffer([color], depth)
    flip = np.diag([1, -1, 1, 1])
    light = np.array([1, 2, 1.5]) / np.linalg.norm([1, 2, 1.5])
    given = {"eye": tuple(camera.translation), "to_light": tuple(light), "color": teapot.material.color}
    for name, value in (given | {"light": (1, 1, 1), "ambient": (0.1,) * 3, "specular": (0.3,) * 3, "shininess": 40.0}).items():
        program[name].value = value

    def matrices() -> tuple[bytes, bytes, bytes]:
        model = teapot.matrix
        clip = flip @ camera.projection(SIZE[0] / SIZE[1]) @ camera.view() @ model
        normals = np.linalg.inv(model[:3, :3]).T
        return tuple(m.T.astype("f4").tobytes() for m in (clip, model, normals))

    still = matrices()
    # Both draw the same six angles over and over, since a teapot costs what it shows; never twice the very same, whose
    # matrices would be kept.
    turns = (np.pi / 3 * (n % 6) + 1e-6 * n for n in itertools.count())

    def turn() -> None:
        teapot.rotation = R.turn((0, 1, 0), next(turns))

    def bare_moved() -> None:
        turn()
        bare(matrices())

    def bare(given: tuple[bytes, bytes, bytes] = still) -> None:
        target.use()
        for switch in (FRAMEBUFFER_SRGB, DEPTH_TEST, CULL_FACE):
            ctx.enable_direct(switch)
        ctx.front_face, ctx.cull_face = "cw", "back"
        target.clear(*root.background, 1.0)
        for name, value in zip(("model_view_projection", "model", "normals"), given, strict=True):
            program[name].write(value)
        array.render()
        ctx.finish()

    with g.drawing():
        view = renderer.prepare(g, root, camera, SIZE)
        framebuffer, _ = g.display(SIZE)

        def ours() -> None:
            renderer.draw(view, framebuffer, encode=True, flipped=True)
            ctx.finish()

        def moved() -> None:
            turn()
            frame()

        def frame() -> None:
            fresh = renderer.prepare(g, root, camera, SIZE)
            renderer.draw(fresh, framebuffer, encode=True, flipped=True)
            ctx.finish()

        found = costs({"bare": bare, "ours": ours, "frame": frame})
        found |= costs({"bare moved": bare_moved, "moved": moved})
        teapot.rotation = R.turn((0, 1, 0), 0.0)
        ours()
        same = np.frombuffer(framebuffer.read(components=4), np.uint8).astype(int)
        bare()
        expected = np.frombuffer(target.read(components=4), np.uint8)
    shown = ", ".join(f"{name} {ms:.2f} ms" for name, ms in found.items())
    print(f"processor time: {shown}")
    unbind_framebuffer(ctx)
    for one in (target, depth, color, array, *buffers, program):
        one.release()
    R.picture(R.tensor(root, 8, 8))  # another program becomes current: OpenGL keeps one that is
    assert np.abs(same - expected).max() <= 2  # it is the same picture
    assert found["frame"] < 1.15 * found["bare"]
    assert found["moved"] < 1.15 * found["bare moved"]
