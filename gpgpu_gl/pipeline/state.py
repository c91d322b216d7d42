"""The fixed-function state of a pipeline, as one immutable value."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, fields

from gpgpu_gl.errors import GpgpuError, ShapeError

COMPARE = ("never", "less", "equal", "lequal", "greater", "notequal", "gequal", "always")
STENCIL_OPERATIONS = ("keep", "zero", "replace", "incr", "incr_wrap", "decr", "decr_wrap", "invert")
EQUATIONS = ("add", "subtract", "reverse_subtract", "min", "max")
FACTORS = (
    "zero", "one", "src_color", "one_minus_src_color", "dst_color", "one_minus_dst_color", "src_alpha",
    "one_minus_src_alpha", "dst_alpha", "one_minus_dst_alpha", "constant_color", "one_minus_constant_color",
    "constant_alpha", "one_minus_constant_alpha", "src_alpha_saturate",
)  # fmt: skip
FORMATS = ("rgba32f", "rgba8", "srgb8_alpha8", "rgba32i")
MODES = ("points", "lines", "line_strip", "line_loop", "triangles", "triangle_strip", "triangle_fan")
LARGEST_SIDE = 8192  # edge functions relative to a tile are 32-bit up to here
MOST_PIXELS = 1 << 25
LARGEST_VIEWPORT, FARTHEST = 16384, 32768  # its sides and its place: devices cut larger ones off without a word


@dataclass(frozen=True)
class Blend:
    """How a fragment's colour meets the one that is there: result = equation(source * factor, destination * factor).

    A pair is (for red, green and blue; for alpha). min and max ignore the factors. constant: the blend colour.
    """

    source: str | tuple[str, str] = "src_alpha"
    destination: str | tuple[str, str] = "one_minus_src_alpha"
    equation: str | tuple[str, str] = "add"
    constant: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    def pair(self, name: str) -> tuple[str, str]:
        """(for colour, for alpha) of `source`, `destination` or `equation`."""
        value = getattr(self, name)
        return (value, value) if isinstance(value, str) else (value[0], value[1])

    def __post_init__(self) -> None:
        for name, known in (("source", FACTORS), ("destination", FACTORS), ("equation", EQUATIONS)):
            for value in self.pair(name):
                _one_of(f"Blend.{name}", value, known)


@dataclass(frozen=True)
class Stencil:
    """One face's stencil test: (reference & read_mask) compare (stored & read_mask), and what is stored then.

    fail: the test failed; depth_fail: it passed and the depth test failed; depth_pass: both passed.
    """

    compare: str = "always"
    reference: int = 0
    read_mask: int = 0xFF
    write_mask: int = 0xFF
    fail: str = "keep"
    depth_fail: str = "keep"
    depth_pass: str = "keep"

    def __post_init__(self) -> None:
        _one_of("Stencil.compare", self.compare, COMPARE)
        for name in ("fail", "depth_fail", "depth_pass"):
            _one_of(f"Stencil.{name}", getattr(self, name), STENCIL_OPERATIONS)


@dataclass(frozen=True)
class State:
    """Everything between the two shaders and after them. The defaults are OpenGL's.

    stencil: one test for both faces, or (front, back). blend: None, one for all targets, or one for each.
    color_mask: "rgba" or fewer letters, for all targets or for each. polygon_offset: (factor, units).
    viewport: (x, y, width, height) in pixels from the bottom left, None for the whole target. scissor likewise.
    formats: of the colour targets, one for all or one for each; "rgba32f", "rgba8", "srgb8_alpha8" or "rgba32i".
    samples: 1 or 4. restart: the index that starts a strip anew, None for none. clip_distances: user planes in use.
    """

    mode: str = "triangles"
    restart: int | None = None
    provoking: str = "last"
    clip_distances: int = 0
    clip_depth: str = "negative_one_to_one"
    clip_origin: str = "lower_left"
    depth_clamp: bool = False
    viewport: tuple[int, int, int, int] | None = None
    depth_range: tuple[float, float] = (0.0, 1.0)
    front_face: str = "ccw"
    cull: str | None = None
    polygon_offset: tuple[float, float] | None = None
    point_size: float | None = 1.0
    line_width: float = 1.0
    scissor: tuple[int, int, int, int] | None = None
    stencil: Stencil | tuple[Stencil, Stencil] | None = None
    depth_test: str | None = None
    depth_write: bool = True
    blend: Blend | tuple[Blend | None, ...] | None = None
    color_mask: str | tuple[str, ...] = "rgba"
    formats: str | tuple[str, ...] = "rgba32f"
    samples: int = 1
    clear_color: tuple[float, float, float, float] = field(default=(0.0, 0.0, 0.0, 0.0))
    clear_depth: float = 1.0
    clear_stencil: int = 0

    def __post_init__(self) -> None:
        _one_of("mode", self.mode, MODES)
        _one_of("provoking", self.provoking, ("last", "first"))
        _one_of("clip_depth", self.clip_depth, ("negative_one_to_one", "zero_to_one"))
        _one_of("clip_origin", self.clip_origin, ("lower_left", "upper_left"))
        _one_of("front_face", self.front_face, ("ccw", "cw"))
        _one_of("cull", self.cull, (None, "back", "front", "front_and_back"))
        _one_of("depth_test", self.depth_test, (None, *COMPARE))
        _one_of("samples", self.samples, (1, 4))
        for value in (self.formats,) if isinstance(self.formats, str) else self.formats:
            _one_of("formats", value, FORMATS)
        for value in (self.color_mask,) if isinstance(self.color_mask, str) else self.color_mask:
            if set(value) - set("rgba"):
                raise GpgpuError(f"color_mask is {value!r}; give some of the letters r, g, b, a")
        if not 0 <= self.clip_distances <= 8:
            raise GpgpuError(f"clip_distances is {self.clip_distances}; OpenGL has 0 to 8")
        if self.line_width != 1.0:
            raise GpgpuError(f"line_width is {self.line_width}; core profiles draw lines of width 1 only")
        for name in ("viewport", "scissor"):
            box = getattr(self, name)
            if box is not None and (len(box) != 4 or box[2] < 0 or box[3] < 0):
                raise ShapeError(f"{name} is {box}; give (x, y, width, height) with sides of at least 0")

        x, y, *sides = self.viewport or (0, 0)
        if max(sides, default=0) > LARGEST_VIEWPORT or max(abs(x), abs(y)) > FARTHEST:
            raise ShapeError(
                f"viewport is {self.viewport}; sides go up to {LARGEST_VIEWPORT} pixels, places from {-FARTHEST} to {FARTHEST}. "
                "Change the projection instead"
            )

    @classmethod
    def of(cls, **values: object) -> State:
        """A state from keywords. Raises GpgpuError naming an unknown one."""
        known = {f.name for f in fields(cls)}
        for name in values:
            if name not in known:
                raise GpgpuError(f"a pipeline has no state {name!r}; it has {', '.join(sorted(known))}")
        return cls(**values)  # type: ignore[arg-type]

    def blend_of(self, target: int) -> Blend | None:
        """The blending of one colour target."""
        if isinstance(self.blend, tuple):
            return self.blend[target] if target < len(self.blend) else None
        return self.blend

    def mask_of(self, target: int) -> str:
        """The letters of one colour target's write mask."""
        if isinstance(self.color_mask, tuple):
            return self.color_mask[target] if target < len(self.color_mask) else "rgba"
        return self.color_mask

    def format_of(self, target: int) -> str:
        """The format of one colour target."""
        if isinstance(self.formats, tuple):
            return self.formats[target] if target < len(self.formats) else "rgba32f"
        return self.formats

    @property
    def stencils(self) -> tuple[Stencil, Stencil] | None:
        """(front, back), or None where the test is off."""
        if self.stencil is None or isinstance(self.stencil, tuple):
            return self.stencil
        return (self.stencil, self.stencil)

    @property
    def primitive(self) -> str:
        """What is drawn in the end: "points", "lines" or "triangles"."""
        return "points" if self.mode == "points" else "lines" if self.mode.startswith("line") else "triangles"


def check_size(size: tuple[int, int]) -> tuple[int, int]:
    """(width, height) of the targets. Raises ShapeError for sides that are no positive integers or too large."""
    try:
        width, height = (operator.index(side) for side in size)
    except (TypeError, ValueError):
        raise ShapeError(f"size is {size!r}; give (width, height) in whole pixels") from None
    if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE and width * height <= MOST_PIXELS):
        raise ShapeError(
            f"a target of {width} x {height} pixels cannot be emulated; sides go from 1 to {LARGEST_SIDE}, "
            f"with at most {MOST_PIXELS} pixels. Draw it in parts, with a viewport for each"
        )
    return width, height


def _one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        raise GpgpuError(f"{name} is {value!r}; choose one of {', '.join(map(repr, known))}")
