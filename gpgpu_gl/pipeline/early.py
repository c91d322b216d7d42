"""Early depth test: quads none of whose fragments will pass are not shaded, where OpenGL allows it (section 14.9)."""

from __future__ import annotations

from gpgpu_gl.dtypes import float32, int32
from gpgpu_gl.ops.shape import getitem
from gpgpu_gl.pipeline.bins import Pairs
from gpgpu_gl.pipeline.expand import expand
from gpgpu_gl.pipeline.merge import MOST_PAIRS, Frame
from gpgpu_gl.pipeline.quads import Quads
from gpgpu_gl.pipeline.stage import make
from gpgpu_gl.pipeline.state import COMPARE, State
from gpgpu_gl.tensor import Tensor

_LATE = {"discard", "gl_FragDepth"}


def allowed(state: State, words: frozenset[str], pairs: Pairs) -> bool:
    """Whether tests may come before shading without a difference: the shader cannot change coverage or depth, and no
    stencil value hangs on the order. With several samples, or more pairs in a tile than one pass can go through, the
    tests stay late."""
    plain = state.depth_test is not None and state.stencils is None and state.samples == 1
    return plain and not _LATE & words and pairs.most <= MOST_PAIRS


def early_depth(
    state: State,
    size: tuple[int, int],
    pairs: Pairs,
    quads: Quads,
    coord: Tensor,
    onto: Frame | None,
) -> Tensor:
    """(height, width, 4) for the packed fragments: 1 where it is covered and passes, 1 where it is covered, its depth."""
    inputs = {
        "quads": quads.table, "starts": pairs.starts, "pairs": quads.facts, "coverage": quads.coverage, "coord": coord,
    }  # fmt: skip
    if onto is not None:
        inputs["ds"] = onto.held()
    defines = {
        "DEPTH_TEST": COMPARE.index(state.depth_test or ""),
        "DEPTH_WRITE": int(state.depth_write),
        "ONTO": int(onto is not None),
    }
    uniforms = {
        "count": len(quads), "columns": quads.columns, "across": pairs.across, "size": size,
        "range": tuple(sorted(state.depth_range)) if state.depth_clamp else (0.0, 1.0), "clear_depth": state.clear_depth,
    }  # fmt: skip
    return make("pipeline_early", inputs, (*quads.shape, 4), float32, defines, **uniforms)


def survivors(quads: Quads, early: Tensor) -> tuple[Quads, Tensor]:
    """The quads with a fragment that passes, packed anew, and (n,) each quad's place among them, -1 for the others.

    early: what early_depth found.
    """
    passing = make("pipeline_early_count", {"early": early}, (len(quads), 4), int32, columns=quads.columns)
    flags = getitem(passing, (slice(None), 0))
    kept = expand(flags)
    return quads.taken(kept), flags * kept.ends - 1
