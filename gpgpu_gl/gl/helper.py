"""Compiles programs in a process of its own: run by gl/ahead.py, which says what and why. Imports nothing of the package.

Reads the context that it needs from standard input, as a line of JSON, then names of files with one job a line, and writes
"started N" and "done N" to standard output. What it compiles reaches the other process through the driver's own cache on
disk.
"""

import json
import sys
from typing import Any

NEAREST = 0x2600
MOST_DEVICES = 4


def run(job: dict[str, Any], ctx: Any) -> None:
    """Compiles one program and makes the driver generate its code, by a draw or dispatch that writes next to nothing.

    The driver's code depends on the formats of what is bound and on whether its sides are powers of two.
    """
    things = []
    try:
        texts = job["stages"]
        if "compute" in texts:
            program = ctx.compute_shader(texts["compute"])
        else:
            program = ctx.program(vertex_shader=texts["vertex"], fragment_shader=texts["fragment"])
        things.append(program)
        names = set(program)

        def texture(width: int, height: int, layers: int, kind: str) -> Any:
            size = (width, height, *([layers] if layers else []))
            made = (ctx.texture_array if layers else ctx.texture)(size, 4, dtype=kind)
            made.filter = (NEAREST, NEAREST)
            made.repeat_x = made.repeat_y = False
            things.append(made)
            return made

        for unit, name, *kind in job["inputs"]:
            texture(*kind).use(unit)
            if name in names:
                program[name].value = unit
        targets = [texture(width, height, 0, kind) for width, height, _, kind in job["targets"]]
        if "compute" in texts:
            for n, target in enumerate(targets):
                target.bind_to_image(n, False, True)
                if f"image{n}" in names:
                    program[f"image{n}"].value = n
            program.run(1, 1, 1)
        else:
            framebuffer = ctx.framebuffer(targets)
            array = ctx.vertex_array(program, [])
            things += [framebuffer, array]
            framebuffer.use()
            framebuffer.viewport = (0, 0, 1, 1)
            array.render(ctx.TRIANGLES, 3)
        ctx.finish()
    finally:
        for thing in reversed(things):
            thing.release()


def context(want: dict[str, Any]) -> Any:
    """A context of the same device and version; None where there is none."""
    import moderngl

    for libegl, libgl in want["libraries"]:
        for device in range(MOST_DEVICES):
            settings: dict[str, Any] = {"libegl": libegl, "libgl": libgl, "device_index": device, "backend": "egl"}
            try:
                ctx = moderngl.create_context(require=want["version"], standalone=True, **settings)
            except Exception:  # glcontext raises plain Exception
                break
            if ctx.info["GL_RENDERER"] == want["renderer"]:
                ctx.disable_direct(want["off"])
                return ctx
            ctx.release()
    return None


def main() -> None:
    sys.path.pop(0)  # this file's folder
    ctx = context(json.loads(sys.stdin.readline()))
    if ctx is None:
        return
    for line in sys.stdin:
        with open(line.rstrip("\n"), encoding="utf-8") as jobs:
            for text in jobs:
                job = json.loads(text)
                print("started", job["number"], flush=True)
                run(job, ctx)
                print("done", job["number"], flush=True)


if __name__ == "__main__":
    main()
