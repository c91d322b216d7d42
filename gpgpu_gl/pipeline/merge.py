"""Per-fragment operations: scissor, stencil and depth tests, blending, masks; then the multisample resolve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpgpu_gl.dtypes import float32, int32
from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.ops.create import zeros
from gpgpu_gl.ops.elementwise import astype, floor
from gpgpu_gl.ops.reduce import mean
from gpgpu_gl.ops.reduce import sum as sum_
from gpgpu_gl.ops.shape import getitem, reshape, stack
from gpgpu_gl.pipeline.stage import run
from gpgpu_gl.pipeline.state import COMPARE, EQUATIONS, FACTORS, FORMATS, STENCIL_OPERATIONS, State, Stencil
from gpgpu_gl.tensor import Tensor, new

if TYPE_CHECKING:
    from gpgpu_gl.pipeline.trace import Trace

_FORMAT = {"rgba32f": 0, "rgba8": 1, "srgb8_alpha8": 2, "rgba32i": 3}

# Pairs of a tile that one pass goes through: Mesa's software renderer leaves loops after 32,768 steps, without a word.
MOST_PAIRS = 16384


@dataclass
class Frame:
    """What the targets hold. colors: (H, W, 4) each, linear values; depth, stencil: (H, W).

    samples: with multisampling the same before the resolve, (samples, H, W, ...): colours, and depth with stencil.
    """

    colors: list[Tensor]
    depth: Tensor
    stencil: Tensor
    counts: Tensor | None = None
    samples: tuple[list[Tensor], Tensor] | None = None

    @property
    def color(self) -> Tensor:
        """The first colour target."""
        return self.colors[0]

    def held(self) -> Tensor:
        """(H, W, 4) depth and stencil as the kernels read them."""
        nothing = zeros(self.depth.shape)
        return stack([self.depth, astype(self.stencil, float32), nothing, nothing], axis=-1)


def merge(trace: Trace, shader_depth: bool) -> Frame:
    """Runs every sample's fragments, in drawing order, through the tests and onto the targets.

    shader_depth: the shader wrote the depth of all samples itself.
    """
    state, profile, pairs, quads, onto = trace.state, trace.profile, trace.pairs, trace.quads_found, trace.onto
    width, height = trace.size
    samples, colors = state.samples, trace.shaded
    inputs: dict[str, Tensor] = {
        "starts": pairs.starts, "pairs": quads.facts, "coverage": quads.coverage, "primitives": trace.planes.table,
    }  # fmt: skip
    if trace.places is None:
        inputs["alive"] = trace.alive
    else:
        inputs |= {"coord": trace.fragcoord, "slots": trace.places}
    kinds = trace.pipeline._kinds()
    formats = [target_format(state, i, kind) for i, kind in enumerate(kinds)]
    inputs |= {f"c{i}": t for i, t in enumerate(colors)}
    if onto is not None:
        inputs |= {f"d{i}": t for i, t in enumerate(onto.colors)}
        inputs["ds"] = onto.held()
    one = 1 << profile.subpixel_bits
    places = [(x / one - 0.5, y / one - 0.5) for x, y in profile.offsets(samples)]
    near, far = sorted(state.depth_range) if state.depth_clamp else (0.0, 1.0)
    uniforms: dict[str, Any] = {
        "clear_color": state.clear_color, "clear_depth": state.clear_depth, "clear_stencil": state.clear_stencil,
        "height": height, "across": pairs.across, "columns": quads.columns, "shaded_columns": trace.quads_shaded.columns,
        "places": [*places, *[(0.0, 0.0)] * (4 - len(places))], "scissor": state.scissor or (0, 0, 0, 0),
        "range": (near, far),
    }  # fmt: skip
    defines = _defines(state, kinds, formats, shader_depth) | {"EARLY": int(trace.early is not None)}
    defines["FIXED_BLENDS"] = int(profile.fixed_blends)
    for i in range(len(colors)):
        blend = state.blend_of(i)
        uniforms[f"constant{i}"] = blend.constant if blend else (0.0, 0.0, 0.0, 0.0)
    if state.stencils is not None:
        for name, s in zip(("stencil_front", "stencil_back"), state.stencils, strict=True):
            uniforms[name] = (s.reference & 255, s.read_mask & 255, s.write_mask & 255, 0)
    for first in range(0, max(pairs.most, 1), MOST_PAIRS):  # each part goes on from what the one before left
        outputs = [new((samples * height, width, 4), int32 if t.dtype == int32 else float32) for t in colors]
        outputs.append(new((samples * height, width, 4), float32))
        onto_it = {"ONTO": int("ds" in inputs)}
        run("pipeline_merge", inputs, outputs, defines | onto_it, **uniforms, first=first, most=MOST_PAIRS)
        inputs |= {f"d{i}": t for i, t in enumerate(outputs[:-1])} | {"ds": outputs[-1]}
    return _frame(outputs, state, trace.size)


def target_format(state: State, target: int, kind: str) -> str:
    """The format of a colour target for outputs of a kind: integer outputs have integer targets.

    Raises GpgpuError where floats would be written to integers.
    """
    if kind == "int":
        return "rgba32i"
    if kind == "none":
        return "rgba32f"
    form = state.format_of(target)
    if form == "rgba32i":
        raise GpgpuError(f"colour target {target} has the format rgba32i, and the fragment shader writes floats to it")
    return form


def _defines(
    state: State, kinds: Sequence[str], formats: Sequence[str], shader_depth: bool
) -> dict[str, str | int]:
    defines: dict[str, str | int] = {
        "TARGETS": len(formats),
        "SAMPLES": state.samples,
        "TEXELS": -(-state.samples // 2),
        "DEPTH_TEST": -1 if state.depth_test is None else COMPARE.index(state.depth_test),
        "DEPTH_WRITE": int(state.depth_write),
        "SHADER_DEPTH": int(shader_depth),
        "SCISSOR": int(state.scissor is not None),
        "STENCIL": int(state.stencils is not None),
    }
    for i in range(len(formats)):
        blend = state.blend_of(i)
        defines[f"FORMAT_{i}"] = _FORMAT[formats[i]]
        defines[f"KEEP_{i}"] = (
            "vec4(" + ", ".join("1.0" if c in state.mask_of(i) and kinds[i] != "none" else "0.0" for c in "rgba") + ")"
        )
        defines[f"BLEND_{i}"] = int(blend is not None)
        if blend is not None:
            source, destination = blend.pair("source"), blend.pair("destination")
            four = (source[0], destination[0], source[1], destination[1])
            defines[f"FACTORS_{i}"] = "ivec4(" + ", ".join(str(FACTORS.index(f)) for f in four) + ")"
            defines[f"EQUATIONS_{i}"] = (
                "ivec2(" + ", ".join(str(EQUATIONS.index(e)) for e in blend.pair("equation")) + ")"
            )
    for name, s in zip(("FRONT", "BACK"), state.stencils or (Stencil(), Stencil()), strict=True):
        defines[f"{name}_0"] = COMPARE.index(s.compare)
        for i, operation in enumerate((s.fail, s.depth_fail, s.depth_pass)):
            defines[f"{name}_{i + 1}"] = STENCIL_OPERATIONS.index(operation)
    return defines


def _frame(outputs: list[Tensor], state: State, size: tuple[int, int]) -> Frame:
    width, height = size
    *colors, facts = outputs
    if state.samples == 1:
        stencil = astype(getitem(facts, (..., 1)), int32)
        return Frame(colors, getitem(facts, (..., 0)), stencil, getitem(facts, (..., slice(2, None))))
    apart = [reshape(t, (state.samples, height, width, 4)) for t in outputs]
    resolved = [resolve(t, state.format_of(i)) for i, t in enumerate(apart[:-1])]
    # The resolve of depth and stencil takes one sample, the first.
    held = apart[-1]
    first, counts = getitem(held, 0), sum_(getitem(held, (..., slice(2, None))), axis=0)
    depth, stencil = getitem(first, (..., 0)), astype(getitem(first, (..., 1)), int32)
    return Frame(resolved, depth, stencil, counts, (apart[:-1], held))


def resolve(samples: Tensor, form: str) -> Tensor:
    """(samples, H, W, 4) to (H, W, 4): the mean, in linear light, of bytes a byte; integers take the first sample."""
    if form not in FORMATS or samples.dtype == int32:
        return getitem(samples, 0)
    found = mean(samples, axis=0)
    return floor(found * 255.0 + 0.5) / 255.0 if form == "rgba8" else found
