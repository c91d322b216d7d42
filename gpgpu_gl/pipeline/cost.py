"""A lane and clock model: what a draw would cost on a machine that runs `lanes` invocations in step.

Counts are measured from the trace; clocks follow from the counts and a few numbers of the machine (`Clocks`). The
model is for comparing meshes and shaders with each other, not for predicting a device's milliseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpgpu_gl.pipeline.assemble import runs_of
from gpgpu_gl.pipeline.glsl import _COMMENT
from gpgpu_gl.pipeline.texture import Texture

if TYPE_CHECKING:
    from gpgpu_gl.pipeline.trace import Trace

_FETCH = re.compile(r"\b(texture|textureLod|textureProj|textureGrad|texelFetch|textureOffset)\s*\(")
_WORK = re.compile(
    r"[-+*/]|\b(dot|cross|normalize|length|mix|pow|exp|log|sin|cos|sqrt|inversesqrt|reflect|max|min|clamp|fract|floor)\s*\("
)
_BRANCH = re.compile(r"\b(if|for|while|discard)\b|\?")


@dataclass(frozen=True)
class Clocks:
    """The machine. operation: clocks of one arithmetic instruction of a wave; texels: texels filtered a clock;
    corners: primitives set up a clock; tiles: tiles of 8 x 8 pixels tested a clock; blends: samples blended a clock."""

    operation: float = 1.0
    texels: float = 4.0
    corners: float = 1.0
    tiles: float = 1.0
    blends: float = 8.0


@dataclass(frozen=True)
class Stage:
    """One stage's work: invocations (or primitives, tiles, samples), lanes that ran without a use, and clocks."""

    name: str
    items: int
    wasted: int
    clocks: float


@dataclass(frozen=True)
class Cost:
    """The whole draw. The fields named like OpenGL's pipeline statistics count what those queries count.

    clipping_output_primitives: before culling. Mesa's software rasteriser takes vertices in batches of about a thousand: it
    counts before culling too where a batch lies wholly in view, but clips and culls before it counts where a vertex does not,
    and counts nothing where both faces are culled. block_lanes:
    fragment_shader_invocations of a device that shades blocks of 4 x 4 pixels, as Mesa's software rasteriser did before
    version 25. helper_lanes: pixels shaded only to complete a quad. early_quads: quads that the early depth test kept from
    being shaded; OpenGL's statistics count their fragments, the clocks here do not. divergent_quads: quads of which some
    pixels were discarded and some were not. divergent_branches: how often an if was taken in some pixels of a quad and
    passed by in others, summed over quads and ifs, where the run counted them. branches, fetches: in the fragment
    shader's text. texels: read by all fragments, filtering included.
    """

    lanes: int
    vertices_submitted: int
    primitives_submitted: int
    vertex_shader_invocations: int
    clipping_input_primitives: int
    clipping_output_primitives: int
    fragment_shader_invocations: int
    block_lanes: int
    quads: int
    helper_lanes: int
    early_quads: int
    divergent_quads: int
    divergent_branches: int | None
    branches: int
    fetches: int
    texels: int
    samples_tested: int
    samples_passed: int
    stages: tuple[Stage, ...]

    @property
    def clocks(self) -> float:
        """Clocks of the slowest stage: the stages run at the same time."""
        return max(stage.clocks for stage in self.stages)

    def __str__(self) -> str:
        lines = [f"{'stage':22s} {'items':>10s} {'wasted lanes':>12s} {'clocks':>12s}"]
        lines += [f"{s.name:22s} {s.items:10d} {s.wasted:12d} {s.clocks:12.0f}" for s in self.stages]
        lines.append(
            f"{self.quads} quads, {self.helper_lanes} helper lanes, {self.early_quads} kept out early, "
            f"{self.divergent_quads} divergent, {self.texels} texels; "
            + (f"{self.divergent_branches} divergent branches; " if self.divergent_branches is not None else "")
            + f"slowest stage: {max(self.stages, key=lambda s: s.clocks).name}, {self.clocks:.0f} clocks"
        )
        return "\n".join(lines)


def count_cost(trace: Trace, lanes: int, clocks: Clocks) -> Cost:
    """Counts a trace. Fragments that no sample covers are helpers; every quad occupies four lanes."""
    quads, fetched = trace.quads_found, trace.fetched
    shaded = len(np.unique(trace.assembled.corners))
    sides = trace.assembled.corners.shape[1]
    whole = trace.state.mode in ("points", "lines", "triangles")
    runs = [len(run) // sides * sides if whole else len(run) for run in runs_of(fetched.stream)]
    submitted = sum(n for n in runs if n >= sides)
    covered = np.asarray(trace.covered().any(2))
    helpers = int((~covered).sum())
    blocks = len(np.unique(np.stack([quads.pair, quads.x // 4, quads.y // 4]), axis=1).T)
    alive, _ = trace.living()
    divergent = int((covered & alive).any(1).astype(int) @ (covered & ~alive).any(1).astype(int))
    vertex, fragment = (_COMMENT.sub(" ", s.text) for s in (trace.pipeline.vertex, trace.pipeline.fragment))
    kept = len(trace.quads_shaded)
    early, useful = (
        len(quads) - kept,
        int(covered[trace.place >= 0].sum() if trace.early is not None else covered.sum()),
    )
    vertex_waves, fragment_waves = -(-shaded // lanes), -(-4 * kept // lanes)
    fetches = len(_FETCH.findall(fragment))
    texels = fetches * 4 * kept * _texels_a_fetch(trace)
    counts = trace.frame.counts
    tested, passed = (
        (int(v) for v in counts.numpy().reshape(-1, 2).sum(0, dtype=np.int64)) if counts is not None else (0, 0)
    )
    shading = fragment_waves * len(_WORK.findall(fragment)) * clocks.operation + texels / clocks.texels
    stages = (
        Stage(
            "vertex shading",
            shaded,
            vertex_waves * lanes - shaded,
            vertex_waves * len(_WORK.findall(vertex)) * clocks.operation,
        ),
        Stage("assembly and clipping", len(trace.assembled), 0, len(trace.assembled) / clocks.corners),
        Stage("rasterisation", len(trace.pairs), 0, len(trace.pairs) / clocks.tiles),
        Stage("fragment shading", useful, fragment_waves * lanes - useful, shading),
        Stage("tests and blending", tested, 0, tested / clocks.blends),
    )
    return Cost(
        lanes, submitted * fetched.instances, len(trace.assembled), shaded, len(trace.assembled),
        len(trace.clipped.primitives), int(covered.sum()), 16 * blocks, len(quads), helpers, early, divergent, _branches(trace),
        len(_BRANCH.findall(fragment)), fetches, texels, tested, passed, stages,
    )  # fmt: skip


def _branches(trace: Trace) -> int | None:
    """Pairs of a quad and an if that some of its pixels took and others did not; discarded pixels are not known."""
    if not trace.counted:
        return None
    notes = trace.packed_shaded(trace.alive)
    ran = notes[..., 0] > 0
    taken, passed = (np.where(ran, notes[..., i], 0).astype(np.int64) for i in (2, 3))
    either = [np.bitwise_or.reduce(bits, axis=1) for bits in (taken, passed)]
    every = [np.bitwise_and.reduce(np.where(ran, bits, -1), axis=1) for bits in (taken, passed)]
    # In a loop a pixel may both take a branch and pass it by: that diverges only where the pixels differ.
    both = either[0] & either[1] & ((either[0] & ~every[0]) | (either[1] & ~every[1]))
    return int(sum((both >> k & 1).sum() for k in range(24)))


def _texels_a_fetch(trace: Trace) -> int:
    """Texels that the most expensive of the draw's textures reads for one lookup."""
    most = 0
    for value in trace.uniforms.values():
        if isinstance(value, Texture):
            linear, levels = value.mag_filter == "linear", 2 if value.min_filter.endswith("mipmap_linear") else 1
            most = max(most, (4 if linear else 1) * levels)
    return max(most, 1)
