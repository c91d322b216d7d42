"""The history of one pixel: every fragment that touched it, in order, and why it won or lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.pipeline.hardware import srgb_decode, srgb_encode
from gpgpu_gl.pipeline.state import COMPARE, FACTORS, Blend, State, Stencil

if TYPE_CHECKING:
    from gpgpu_gl.pipeline.trace import Trace

_TESTS = (
    lambda a, b: False, lambda a, b: a < b, lambda a, b: a == b, lambda a, b: a <= b,
    lambda a, b: a > b, lambda a, b: a != b, lambda a, b: a >= b, lambda a, b: True,
)  # fmt: skip


@dataclass(frozen=True)
class Event:
    """One fragment at a pixel.

    primitive: its row in trace.triangles; number: gl_PrimitiveID; front: facing; samples: which samples it covers.
    position: gl_FragCoord; weights: barycentric. inputs: what the fragment shader read; outputs: what it wrote; both are
    empty where the early depth test kept the whole quad from being shaded.
    verdict: "written", "discarded", "scissor", "stencil", "depth" for each covered sample. depth, stencil, color:
    (before, after) at the first covered sample, colour of the first target.
    """

    primitive: int
    number: int
    front: bool
    samples: tuple[int, ...]
    position: tuple[float, float, float, float]
    weights: tuple[float, float, float]
    inputs: dict[str, np.ndarray]
    outputs: list[np.ndarray]
    verdicts: tuple[str, ...]
    depth: tuple[float, float]
    stencil: tuple[int, int]
    color: tuple[np.ndarray, np.ndarray] = field(repr=False)

    @property
    def verdict(self) -> str:
        """The verdict at the first covered sample."""
        return self.verdicts[0]

    def __str__(self) -> str:
        before, after = (", ".join(f"{c:.3f}" for c in color) for color in self.color)
        changed = f"({before}) -> ({after})" if self.verdict == "written" else ""
        face = "front" if self.front else "back "
        return f"primitive {self.number:4d} {face} depth {self.position[2]:.6f}  {self.verdict:9s} {changed}".rstrip()


def pixel_history(trace: Trace, x: int, y: int) -> list[Event]:
    """Every fragment of the trace at pixel (x, y), in drawing order. Raises ShapeError outside the target."""
    width, height = trace.size
    if not (0 <= x < width and 0 <= y < height):
        raise ShapeError(f"pixel ({x}, {y}) is outside the target of {width} x {height} pixels")
    state, quads = trace.state, trace.quads_found
    sub = (y & 1) * 2 + (x & 1)
    here = np.nonzero((quads.x == x // 2 * 2) & (quads.y == y // 2 * 2))[0]
    here = here[((quads.mask[here] >> sub) & 1).any(1)]
    coord, weights = (trace.packed(t)[here, sub] for t in (trace.fragcoord, trace.barycentric))
    alive, depths = (values[here, sub] for values in trace.living())
    inputs = {name: trace.packed_input(name)[here, sub] for name, _ in trace.pipeline.link.names}
    outputs = [trace.packed_shaded(t)[here, sub] for t in trace.shaded]
    shaded = trace.place[here] >= 0 if trace.early is not None else np.ones(len(here), bool)
    samples = [_Sample.start(trace, x, y) for _ in range(state.samples)]
    events = []
    for i, quad in enumerate(here):
        primitive = int(quads.primitive[quad])
        front = bool(trace.front[primitive])
        covered = tuple(s for s in range(state.samples) if (quads.mask[quad, s] >> sub) & 1)
        before = [(samples[s].depth, samples[s].stencil, samples[s].color.copy()) for s in covered]
        verdicts = []
        for s in covered:
            z = _depth(trace, primitive, s, float(depths[i]))
            color = outputs[0][i] if outputs else np.zeros(4, np.float32)
            verdicts.append(samples[s].meet(state, (x, y), bool(alive[i]), z, color, front))
        after = samples[covered[0]]
        position, share = (tuple(float(v) for v in row) for row in (coord[i], weights[i]))
        events.append(
            Event(
                primitive,
                int(trace.primitives.number[primitive]),
                front,
                covered,
                position,  # type: ignore[arg-type]
                share[:3],  # type: ignore[arg-type]
                {name: values[i] for name, values in inputs.items()} if shaded[i] else {},
                [values[i] for values in outputs] if shaded[i] else [],
                tuple(verdicts),
                (before[0][0], after.depth),
                (before[0][1], after.stencil),
                (before[0][2], after.color.copy()),
            )
        )
    return events


def _depth(trace: Trace, primitive: int, sample: int, z: float) -> float:
    """The depth of one sample: the shader's, or that of the centre moved along the primitive's slope."""
    state = trace.state
    if state.samples > 1 and "gl_FragDepth" not in trace.pipeline.fragment.interface.words:
        one = 1 << trace.profile.subpixel_bits
        x, y = trace.profile.offsets(state.samples)[sample]
        slope = trace.planes.slope[primitive, 3]
        z = z + slope[0] * (x / one - 0.5) + slope[1] * (y / one - 0.5)
    near, far = sorted(state.depth_range) if state.depth_clamp else (0.0, 1.0)
    return float(np.float32(min(max(z, near), far)))


@dataclass
class _Sample:
    """What one sample of the first target holds while the fragments come."""

    color: np.ndarray
    depth: float
    stencil: int
    fixed_blends: bool

    @classmethod
    def start(cls, trace: Trace, x: int, y: int) -> _Sample:
        state = trace.state
        if trace.onto is None:
            return cls(
                stored(state.format_of(0), np.array(state.clear_color, np.float32)),
                state.clear_depth,
                state.clear_stencil,
                trace.profile.fixed_blends,
            )
        color = trace.onto.colors[0].numpy()[y, x]
        depth, stencil = float(trace.onto.depth.numpy()[y, x]), int(trace.onto.stencil.numpy()[y, x])
        return cls(color, depth, stencil, trace.profile.fixed_blends)

    def meet(self, state: State, at: tuple[int, int], alive: bool, z: float, color: np.ndarray, front: bool) -> str:
        """Runs the tests and writes; returns the verdict."""
        if not alive:
            return "discarded"
        if state.scissor is not None:
            x, y, width, height = state.scissor
            if not (x <= at[0] < x + width and y <= at[1] < y + height):
                return "scissor"
        deep = state.depth_test is None or _TESTS[COMPARE.index(state.depth_test)](
            np.float32(z), np.float32(self.depth)
        )
        if state.stencils is not None:
            face = state.stencils[0 if front else 1]
            agrees = _TESTS[COMPARE.index(face.compare)](
                face.reference & face.read_mask & 255, self.stencil & face.read_mask
            )
            self.stencil = _stencil(
                face, face.fail if not agrees else face.depth_pass if deep else face.depth_fail, self.stencil
            )
            if not agrees:
                return "stencil"
        if not deep:
            return "depth"
        if state.depth_write and state.depth_test is not None:
            self.depth = z
        blend, form = state.blend_of(0), state.format_of(0)
        put = color if blend is None else blended(blend, color, self.color, form, self.fixed_blends)
        mask = np.array([c in state.mask_of(0) for c in "rgba"])
        self.color = np.where(mask, stored(form, put), self.color)
        return "written"


def _stencil(face: Stencil, operation: str, held: int) -> int:
    new = {
        "keep": held, "zero": 0, "replace": face.reference & 255, "incr": min(held + 1, 255), "incr_wrap": (held + 1) & 255,
        "decr": max(held - 1, 0), "decr_wrap": (held - 1) & 255, "invert": ~held & 255,
    }[operation]  # fmt: skip
    return (held & ~face.write_mask & 255) | (new & face.write_mask)


def blended(blend: Blend, source: np.ndarray, held: np.ndarray, form: str, fixed: bool) -> np.ndarray:
    """(4,) float32: the blend of one colour over another, as the kernel computes it; fixed: as `Profile.fixed_blends`."""
    k = np.array(blend.constant, np.float32)
    s, d = source.astype(np.float32), held.astype(np.float32)
    fixed = fixed and form == "rgba8"
    if form != "rgba32f":
        s, k = np.clip(s, 0, 1), np.clip(k, 0, 1)
    if fixed:
        s, k = stored(form, s), stored(form, k)
    one = np.ones(4, np.float32)
    table = [
        0 * one,
        one,
        s,
        1 - s,
        d,
        1 - d,
        s[3] * one,
        (1 - s[3]) * one,
        d[3] * one,
        (1 - d[3]) * one,
        k,
        1 - k,
        k[3] * one,
        (1 - k[3]) * one,
    ]
    table.append(np.append(np.full(3, min(s[3], 1 - d[3])), 1).astype(np.float32))
    parts = []
    for i in range(2):
        a = _product(s, table[FACTORS.index(blend.pair("source")[i])], fixed)
        b = _product(d, table[FACTORS.index(blend.pair("destination")[i])], fixed)
        kinds = {
            "add": a + b,
            "subtract": a - b,
            "reverse_subtract": b - a,
            "min": np.minimum(s, d),
            "max": np.maximum(s, d),
        }
        parts.append(kinds[blend.pair("equation")[i]])
    return np.append(parts[0][:3], parts[1][3])


def _product(a: np.ndarray, b: np.ndarray, fixed: bool) -> np.ndarray:
    if not fixed:
        return np.asarray(a * b)
    t = np.rint(a * 255).astype(np.int64) * np.rint(b * 255).astype(np.int64)
    return (((t + (t >> 8) + 128) >> 8) / np.float32(255)).astype(np.float32)


def stored(form: str, color: np.ndarray) -> np.ndarray:
    """The nearest colour that a target of that format holds, linear."""
    if form not in ("rgba8", "srgb8_alpha8"):
        return color
    c = np.clip(color, 0, 1)
    if form == "srgb8_alpha8":
        bytes_ = np.append(np.floor(srgb_encode(c[:3]) * np.float32(255) + np.float32(0.5)), np.rint(c[3] * np.float32(255)))
        c = (bytes_ / np.float32(255)).astype(np.float32)
        return np.append(srgb_decode(c[:3]), c[3])
    return (np.rint(c * np.float32(255)) / np.float32(255)).astype(np.float32)
