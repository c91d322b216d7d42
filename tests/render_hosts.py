"""A host application that owns its window and lets the library draw in its context; run by test_render_window.py.

    python tests/render_hosts.py moderngl-window|pygame        prints what was found as JSON
"""

import json
import sys

import moderngl
import numpy as np

import gpgpu_gl as gg
from gpgpu_gl import render as R


def window_of(kind: str) -> moderngl.Context:
    """A window of 200 x 150 and its context, current."""
    if kind == "pygame":
        import pygame

        pygame.display.init()
        for name, value in (("MAJOR_VERSION", 3), ("MINOR_VERSION", 3), ("PROFILE_MASK", 1)):
            pygame.display.gl_set_attribute(getattr(pygame, f"GL_CONTEXT_{name}"), value)
        pygame.display.set_mode((200, 150), pygame.OPENGL | pygame.DOUBLEBUF)
        return moderngl.create_context(require=330)
    import moderngl_window

    window = moderngl_window.get_local_window_cls("pyglet")(size=(200, 150), gl_version=(3, 3), vsync=False)
    moderngl_window.activate_context(window=window)
    globals()["kept"] = window  # or it closes
    return window.ctx


def main(kind: str) -> None:
    from test_state import changes, dump

    ctx = window_of(kind)
    gg.use(ctx)
    mesh = R.Mesh(R.shapes.quad(1, 1), R.UnlitMaterial(color=(0, 1, 0)))
    scene = R.Scene([mesh, R.OrthographicCamera(height=2, position=(0, 0, 5))], background=(1, 0, 0))
    # Something of the host's own, drawn before and after.
    theirs = ctx.simple_framebuffer((16, 16))
    theirs.use()
    ctx.enable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    ctx.clear(0.0, 0.0, 1.0)
    before = dump(ctx)
    x = gg.tensor(np.eye(3, dtype=np.float32)) @ gg.tensor(np.full((3, 3), 2.0, np.float32))
    found = R.image(scene, 40, 30).array
    differs = sorted(changes(before, dump(ctx)))
    blue = np.frombuffer(theirs.read(components=4), np.uint8).reshape(16, 16, 4)
    result = {
        "product": x.numpy().tolist(),
        "middle": found[15, 20].tolist(),
        "corner": found[0, 0].tolist(),
        "changed": differs,
        "theirs": blue[8, 8].tolist(),
        "error": ctx.error,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
