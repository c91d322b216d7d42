"""Whole scenes that exercise every state of the pipeline, for tests and for the page that compares with the hardware."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpgpu_gl.gl.source import shader_root
from gpgpu_gl.pipeline.merge import Frame
from gpgpu_gl.pipeline.pipeline import Pipeline
from gpgpu_gl.pipeline.state import COMPARE, STENCIL_OPERATIONS, Blend, Stencil
from gpgpu_gl.pipeline.texture import FILTERS, WRAPS, Texture
from gpgpu_gl.pipeline.trace import Trace

SIZE = (160, 120)


@dataclass(frozen=True)
class Draw:
    """One draw: shader files below shaders/pipeline/, state, and what `Pipeline.run` takes."""

    vertex: str
    fragment: str
    state: Mapping[str, Any]
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Scene:
    """A picture of one or several draws, each over the one before.

    levels: the tolerance of colours in levels of 8 bits: one for each filtered 8-bit texture that goes into a colour (see
    `compare`, which adds what blending into 8-bit targets may round). flips: pixels that may show the neighbouring texel, because a
    nearest lookup turns a difference of 1e-6 in a coordinate into another texel; they are counted in the report.
    """

    name: str
    draws: tuple[Draw, ...]
    size: tuple[int, int] = SIZE
    levels: float = 0.0
    flips: int = 0
    about: str = field(default="")

    def emulate(self, branches: bool = False) -> Trace:
        """Draws with the emulator. branches: count divergent ifs for the cost model."""
        frame: Frame | None = None
        for draw in self.draws:
            with _pipeline(draw) as pipeline:
                trace = pipeline.run(size=self.size, onto=frame, branches=branches, **draw.arguments)
                frame = trace.frame
        return trace

    def rasterise(self) -> Frame:
        """Draws with the hardware."""
        frame: Frame | None = None
        for draw in self.draws:
            with _pipeline(draw) as pipeline:
                frame = pipeline.run_hardware(size=self.size, onto=frame, **draw.arguments)
        assert frame is not None
        return frame


def _pipeline(draw: Draw) -> Pipeline:
    root = shader_root() / "pipeline"
    return Pipeline(root / draw.vertex, root / draw.fragment, **draw.state)


def soup(seed: int = 0, count: int = 14, spread: float = 0.5) -> dict[str, Any]:
    """Large triangles in all directions, crossing each other and the view's planes, with colours."""
    rng = np.random.default_rng(seed)
    w = rng.uniform(0.7, 1.6, (count * 3, 1))
    xyz = rng.uniform(-1.1, 1.1, (count * 3, 3)) * [1, 1, spread]
    tint = rng.uniform(0.1, 1, (count * 3, 4))
    return {"position": np.concatenate([xyz * w, w], 1).astype(np.float32), "tint": tint.astype(np.float32)}


def checks(side: int = 64) -> np.ndarray:
    """(side, side, 4) bytes: a check pattern with noise and a gradient."""
    rng = np.random.default_rng(11)
    y, x = np.mgrid[0:side, 0:side]
    board = ((x // 8 + y // 8) % 2 * 120)[..., None] + rng.integers(0, 60, (side, side, 3))
    return np.concatenate(
        [board + [[[40, 20, 0]]] * (x[..., None] * 75 // side > 30), np.full((side, side, 1), 255)], -1
    ).astype(np.uint8)


def floor_(scale: float = 3.0) -> dict[str, Any]:
    """A floor that runs away from the viewer, with texture coordinates."""
    position = np.array(
        [[-1.3, -0.9, 0, 1.02], [1.2, -0.93, 0, 1], [3.1, 2.4, 0.5, 3.3], [-3, 2.5, 0.5, 3.1]], np.float32
    )
    uv = np.array([[-0.31, 0.13], [1.26, 0.12], [1.21, 3.17], [-0.37, 3.28]], np.float32) * np.float32(scale / 3)
    return {"attributes": {"position": position, "uv": uv}, "indices": [0, 1, 2, 0, 2, 3]}


def _one(name: str, state: Mapping[str, Any], fragment: str = "color.frag", seed: int = 0, **options: Any) -> Scene:
    draw = Draw("scenes/color.vert", f"scenes/{fragment}", state, {"attributes": soup(seed)})
    return Scene(name, (draw,), **options)


def scenes() -> Iterator[Scene]:
    """Every scene; names are unique."""
    yield from _depths()
    yield from _stencils()
    yield from _blends()
    yield from _geometry()
    yield from _outputs()
    yield from _textures()


def _depths() -> Iterator[Scene]:
    for how in COMPARE:
        if how != "equal":
            yield _one(f"depth {how}", {"depth_test": how, "clear_depth": 0.55})
    first = Draw("scenes/color.vert", "scenes/flat.frag", {"depth_test": "less"}, {"attributes": soup(5)})
    again = Draw(
        "scenes/color.vert",
        "scenes/color.frag",
        {"depth_test": "equal", "blend": Blend("one", "one")},
        {"attributes": soup(5)},
    )
    yield Scene("depth equal", (first, again))
    yield _one("depth without writing", {"depth_test": "less", "depth_write": False})
    yield _one("depth range", {"depth_test": "less", "depth_range": (0.8, 0.3)})
    yield _one("depth clamp", {"depth_test": "less", "depth_clamp": True}, seed=3)
    yield _one("fragment depth", {"depth_test": "less"}, "depth.frag")
    shadow = Draw("scenes/color.vert", "scenes/color.frag", {"depth_test": "less"}, {"attributes": soup(5)})
    decal = Draw(
        "scenes/color.vert",
        "scenes/flat.frag",
        {"depth_test": "less", "polygon_offset": (-1.5, -4.0)},
        {"attributes": soup(5)},
    )
    yield Scene("polygon offset", (shadow, decal))


def _stencils() -> Iterator[Scene]:
    for operation in STENCIL_OPERATIONS:
        write = Stencil("always", 200, depth_pass=operation, depth_fail="invert")
        mask = Draw(
            "scenes/color.vert",
            "scenes/color.frag",
            {"stencil": write, "depth_test": "less", "clear_stencil": 3},
            {"attributes": soup(1)},
        )
        read = Stencil("greater", 5, read_mask=0x0F, fail="incr")
        show = Draw("scenes/color.vert", "scenes/flat.frag", {"stencil": read}, {"attributes": soup(2)})
        yield Scene(f"stencil {operation}", (mask, show))
    faces = (
        Stencil("always", 1, depth_pass="incr_wrap", write_mask=0x7F),
        Stencil("notequal", 2, fail="decr_wrap", depth_pass="replace"),
    )
    yield _one("stencil of two faces", {"stencil": faces, "depth_test": "lequal"})


def _blends() -> Iterator[Scene]:
    k = (0.3, 0.6, 0.2, 0.7)
    blends = {
        "alpha": Blend(), "additive": Blend("one", "one"), "multiply": Blend("dst_color", "zero"),
        "screen": Blend("one", "one_minus_src_color"), "subtract": Blend("one", "one", "subtract"),
        "reverse subtract": Blend("src_alpha", "one", "reverse_subtract"), "min": Blend("one", "one", "min"),
        "max": Blend("zero", "zero", "max"), "constant": Blend("constant_color", "one_minus_constant_alpha", "add", k),
        "saturate": Blend("src_alpha_saturate", "one"),
        "separate": Blend(("src_alpha", "one"), ("one_minus_dst_alpha", "dst_alpha"), ("add", "reverse_subtract")),
    }  # fmt: skip
    for name, blend in blends.items():
        yield _one(f"blend {name}", {"blend": blend, "clear_color": (0.2, 0.5, 0.4, 0.6)})
    yield _one("blend in 8 bits", {"blend": Blend(), "formats": "rgba8"})
    yield _one("blend in sRGB", {"blend": Blend(), "formats": "srgb8_alpha8"})
    yield _one("colour mask", {"color_mask": "ga", "clear_color": (0.5, 0.5, 0.5, 1)})
    yield _one("scissor", {"scissor": (23, 31, 70, 61)})


def _geometry() -> Iterator[Scene]:
    for cull in ("back", "front", "front_and_back"):
        yield _one(f"cull {cull}", {"cull": cull})
    yield _one("front face clockwise", {"cull": "back", "front_face": "cw"}, "facing.frag")
    yield _one("facing", {}, "facing.frag")
    for provoking in ("first", "last"):
        yield _one(f"provoking {provoking}", {"provoking": provoking}, "flat.frag", 3)
    yield _one("linear in the window", {}, "straight.frag", 3)
    yield _one("viewport", {"viewport": (17, 9, 101, 83)}, seed=2)
    fan = soup(6, 4)
    yield Scene(
        "triangle fan", (Draw("scenes/color.vert", "scenes/flat.frag", {"mode": "triangle_fan"}, {"attributes": fan}),)
    )
    order = [0, 1, 2, 3, 4, -1, 5, 6, 7, 8, -1, -1, 9, 10]
    restart = {"mode": "triangle_strip", "restart": -1, "depth_test": "less"}
    yield Scene(
        "strip with restart",
        (Draw("scenes/color.vert", "scenes/color.frag", restart, {"attributes": fan, "indices": order}),),
    )
    for mode in ("lines", "line_strip", "line_loop"):
        yield Scene(
            mode.replace("_", " "),
            (Draw("scenes/color.vert", "scenes/color.frag", {"mode": mode}, {"attributes": soup(7, 8)}),),
        )
    points = Draw(
        "scenes/point.vert",
        "scenes/point.frag",
        {"mode": "points", "point_size": None, "depth_test": "less"},
        {"attributes": soup(8, 12)},
    )
    yield Scene("points", (points,))
    border = dict(points.state) | {"viewport": (30, 30, 70, 60)}
    yield Scene("points at the viewport's border", (Draw(points.vertex, points.fragment, border, points.arguments),))
    fixed = {"mode": "points", "point_size": 9.0, "viewport": (30, 30, 70, 60)}
    yield Scene("points of one size", (Draw(points.vertex, points.fragment, fixed, points.arguments),))
    for mode in ("triangle_strip", "triangle_fan"):
        first = {"mode": mode, "provoking": "first"}
        yield Scene(
            f"{mode.replace('_', ' ')} first",
            (Draw("scenes/color.vert", "scenes/flat.frag", first, {"attributes": fan}),),
        )
    yield _one("upper left origin", {"clip_origin": "upper_left", "cull": "back", "depth_test": "less"}, "facing.frag")
    yield _one("depth from zero to one", {"clip_depth": "zero_to_one", "depth_test": "less"}, seed=3)
    yield Scene("instances", (_instances(),))
    clip = {"attributes": soup(9), "uniforms": {"plane": [0.4, 0.7, 0.2, 0.1]}}
    yield Scene(
        "user clip distances",
        (Draw("scenes/clipped.vert", "scenes/color.frag", {"clip_distances": 2, "depth_test": "less"}, clip),),
    )


def _instances() -> Draw:
    rng = np.random.default_rng(12)
    arguments = {
        "attributes": {"corner": np.array([[-1, -1], [1, -1], [0, 1.2]], np.float32)},
        "instances": 9,
        "instance_attributes": {
            "place": np.c_[rng.uniform(-0.8, 0.8, (9, 2)), rng.uniform(0.1, 0.4, 9)].astype(np.float32),
            "tint": rng.uniform(0, 1, (9, 4)).astype(np.float32),
        },
        "uniforms": {"aspect": 4 / 3},
    }
    return Draw("scenes/instances.vert", "scenes/color.frag", {"depth_test": "less"}, arguments)


def _outputs() -> Iterator[Scene]:
    yield _one("discard", {"depth_test": "less"}, "discard.frag")
    yield _one("derivatives", {"depth_test": "less"}, "derivatives.frag")
    formats = ("rgba8", "rgba32f", "rgba32i")
    yield _one(
        "several targets",
        {"depth_test": "less", "formats": formats, "blend": (Blend(), None, None)},
        "targets.frag",
    )
    yield _one("multisample", {"samples": 4, "depth_test": "less"})
    yield _one("multisample with blending", {"samples": 4, "blend": Blend(), "formats": "rgba8"})
    yield _one("multisample with discard", {"samples": 4, "depth_test": "less"}, "discard.frag")
    yield _one("multisample with fragment depth", {"samples": 4, "depth_test": "less"}, "depth.frag")
    yield _one(
        "multisample with stencil",
        {"samples": 4, "depth_test": "greater", "clear_depth": 0.0, "stencil": Stencil(depth_fail="incr")},
    )
    centroid = Draw("scenes/centroid.vert", "scenes/centroid.frag", {"samples": 4}, {"attributes": soup(5)})
    yield Scene("multisample with centroid inputs", (centroid,))
    lines = {"mode": "lines", "samples": 4, "depth_test": "less"}
    yield Scene("multisample lines", (Draw("scenes/color.vert", "scenes/color.frag", lines, {"attributes": soup(3, 6)}),))
    points = {"mode": "points", "point_size": None, "samples": 4, "depth_test": "less"}
    yield Scene("multisample points", (Draw("scenes/point.vert", "scenes/point.frag", points, {"attributes": soup(8, 12)}),))


def _textures() -> Iterator[Scene]:
    image = checks()
    floor = floor_()
    for name in FILTERS:
        texture = Texture(image, name, "nearest" if name.startswith("nearest") else "linear")
        flips = 4 if name.startswith("nearest") else 0
        yield Scene(f"filter {name.replace('_', ' ')}", (_textured(floor, texture),), levels=int(not flips), flips=flips)
    for wrap in WRAPS:
        texture = Texture(image, "linear", wrap=wrap, border=(0.9, 0.1, 0.2, 1.0))
        yield Scene(f"wrap {wrap.replace('_', ' ')}", (_textured(floor, texture),), levels=1)
    uniforms = {"image": Texture(image), "level": 2.3}
    yield Scene(
        "explicit level and bias",
        (Draw("scenes/textured.vert", "scenes/lod.frag", {}, floor | {"uniforms": uniforms}),),
        levels=1,
    )


def _textured(floor: dict[str, Any], texture: Texture) -> Draw:
    return Draw("scenes/textured.vert", "scenes/textured.frag", {}, floor | {"uniforms": {"image": texture}})
