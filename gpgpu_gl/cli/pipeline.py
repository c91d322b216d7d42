"""gpgpu-gl pipeline: pictures of every stage of the emulated pipeline, and the page that compares it with the hardware."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpgpu_gl.errors import FileError, GpgpuError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gpgpu-gl pipeline`."""
    parser.add_argument(
        "scene",
        metavar="SCENE",
        nargs="?",
        default="demo",
        help="demo (the default), list, all (the page of all scenes), the name of a scene, or an .obj, .ply, .gltf or .glb file",
    )
    parser.add_argument(
        "--stage", default="all", help="all, or one: vertices, clip, window, coverage, quads, ... (default all)"
    )
    parser.add_argument("--out", default="pipeline", metavar="DIR", help="where pictures go (default pipeline)")
    parser.add_argument("--enlarge", type=int, default=2, metavar="N", help="draw every pixel as N x N (default 2)")
    parser.add_argument(
        "--pixel", type=int, nargs=2, metavar=("X", "Y"), help="print the history of one pixel, y from the bottom"
    )
    parser.add_argument("--lanes", type=int, default=32, help="lanes of the cost model (default 32)")


def run(arguments: argparse.Namespace) -> int:
    """Draws and writes; returns 0, or 1 where the page found a scene that differs from the hardware."""
    from gpgpu_gl.pipeline.compare import compare
    from gpgpu_gl.pipeline.pictures import STAGES, enlarged, picture
    from gpgpu_gl.pipeline.state import State

    makers = _makers()
    if arguments.scene == "list":
        print("\n".join(makers))
        return 0
    out = Path(arguments.out)
    if arguments.scene == "all":
        return _page(out)
    if arguments.enlarge < 1 or arguments.lanes < 1:
        raise GpgpuError("--enlarge and --lanes are at least 1")
    scene = makers[arguments.scene]() if arguments.scene in makers else _from_file(arguments.scene, makers)
    stages = [*STAGES, "hardware", "difference"] if arguments.stage == "all" else [arguments.stage]
    trace, hardware = scene.emulate(branches=True), scene.rasterise()
    found = compare(trace, hardware, State.of(**scene.draws[-1].state), scene.levels)
    for number, stage in enumerate(stages):
        made = enlarged(picture(trace, stage, hardware), arguments.enlarge)
        try:
            out.mkdir(parents=True, exist_ok=True)
            made.save(out / (f"{number:02d}-{stage}.png" if len(stages) > 1 else f"{stage}.png"))
        except OSError as error:
            raise FileError(f"cannot write pictures to {out}: {error}") from error
    print(f"{scene.name}: {found}")
    print(trace.cost(arguments.lanes))
    if arguments.pixel:
        events = trace.pixel(*arguments.pixel)
        print(f"pixel {tuple(arguments.pixel)}: {len(events)} fragments")
        for event in events:
            print(f"  {event}")
    print(f"Pictures: {out}/")
    return 0


def _makers() -> dict[str, Callable[[], Any]]:
    from gpgpu_gl.pipeline.gallery import GALLERY, demo
    from gpgpu_gl.pipeline.scenes import scenes

    every: dict[str, Callable[[], Any]] = {"demo": demo, **GALLERY}
    for scene in scenes():
        every[scene.name] = lambda scene=scene: scene  # type: ignore[misc]
    return every


def _page(out: Path) -> int:
    from gpgpu_gl.pipeline.page import write_page

    count, off = write_page(out, lambda name, found: print(f"{name}: {found}"))
    print(f"{count - off} of {count} scenes are equal to the hardware's. Page: {out}/index.html")
    return int(off > 0)


def _from_file(name: str, makers: dict[str, Callable[[], Any]]) -> Any:
    path = Path(name)
    if path.suffix.lower() not in (".obj", ".ply", ".gltf", ".glb"):
        raise GpgpuError(
            f"there is no scene {name!r}; `gpgpu-gl pipeline list` names {len(makers)}, or give an .obj, .ply, .gltf or .glb file"
        )
    from gpgpu_gl.pipeline.models import model_scene

    return model_scene(path)
