"""Random states, all at once, against the hardware: what one stage passes on to the next."""

import numpy as np
import pytest
from pipeline_rig import settle

from gpgpu_gl.pipeline import Blend, Pipeline, Stencil
from gpgpu_gl.pipeline.state import EQUATIONS, FACTORS, STENCIL_OPERATIONS

pytestmark = pytest.mark.gl33

VERTEX = """#version 330
in vec4 position; in vec4 tint;
out vec4 curved; flat out vec4 first;
DECLARED
void main() {
  gl_Position = position; gl_PointSize = 1.0 + 6.0 * tint.x; curved = first = tint;
  WRITTEN
}
"""
FRAGMENT = """#version 330
in vec4 curved; flat in vec4 first; out vec4 color;
void main() {
  color = vec4(curved.xy + 0.1 * first.xy, curved.zw);
  if (DISCARDS && curved.z > 0.7) discard;
  color.z += 0.1 * float(gl_FrontFacing) + 0.01 * float(gl_PrimitiveID);
}
"""
# Left out, as the last bit of a depth decides or the device leaves OpenGL (docs/pipeline): tests for equality, ranges of no
# depth, several samples with a scissor box or with lines.
MODES = ["triangles", "triangles", "triangle_strip", "triangle_fan", "lines", "line_strip", "line_loop", "points"]


def random_state(r, gl45):
    """Keywords of Pipeline, the size of the target, and what `run` takes."""
    pick = lambda *choices: choices[r.integers(len(choices))]  # noqa: E731
    whole = lambda low, high, n: tuple(int(v) for v in r.integers(low, high, n))  # noqa: E731
    mode = pick(*MODES)
    state = {
        "mode": mode, "samples": 1 if "line" in mode else pick(1, 1, 4), "depth_test": pick(None, "less", "gequal", "always"),
        "depth_write": bool(r.random() < 0.8), "clear_depth": pick(1.0, 0.5, 0.0), "cull": pick(None, None, "front", "back"),
        "front_face": pick("cw", "ccw"), "depth_clamp": bool(r.random() < 0.3), "provoking": pick("first", "last"),
        "clip_distances": pick(0, 0, 1), "color_mask": pick("rgba", "rgba", "rb", "a"), "depth_range": pick((0, 1), (0.8, 0.1)),
        "clear_color": tuple(r.random(4)), "point_size": pick(None, 1.0, 3.3),
    }  # fmt: skip
    if gl45:
        state["clip_origin"] = pick("lower_left", "lower_left", "upper_left")
        state["clip_depth"] = pick("negative_one_to_one", "zero_to_one")
    if r.random() < 0.4:
        state["polygon_offset"] = (float(r.uniform(-2, 2)), float(r.uniform(-50, 50)))
    if r.random() < 0.5:
        factors = (pick(*FACTORS), pick(*FACTORS)), (pick(*FACTORS), pick(*FACTORS))
        state["blend"] = Blend(*factors, pick(*EQUATIONS), tuple(r.random(4)))
    if r.random() < 0.5:
        operations = [pick(*STENCIL_OPERATIONS) for _ in range(3)]
        state["stencil"] = Stencil(pick("less", "always", "notequal"), *whole(0, 256, 3), *operations)
        state["clear_stencil"] = int(r.integers(256))
    if r.random() < 0.3 and state["samples"] == 1:
        state["scissor"] = (*whole(-5, 40, 2), *whole(0, 60, 2))
    if r.random() < 0.3:
        state["viewport"] = (*whole(-20, 30, 2), *whole(1, 120, 2))
    n = int(r.integers(1, 40))
    position = np.c_[r.uniform(-1.5, 1.5, (n, 3)), r.uniform(0.3, 1.7, n)].astype(np.float32)
    arguments = {"attributes": {"position": position, "tint": r.uniform(0.05, 1, (n, 4)).astype(np.float32)}}
    if r.random() < 0.4:
        state["restart"] = -1
        indices = r.integers(0, n, int(r.integers(0, 60)))
        arguments["indices"] = np.where(r.random(len(indices)) < 0.15, -1, indices)
    return state, arguments | {"size": whole(1, 90, 2)}


# Each state compiles its programs anew (seconds): most are for `make test-all`.
SEEDS = [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 60))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_states_equal_the_hardware(device, path, seed):
    r = np.random.default_rng(seed)
    state, arguments = random_state(r, device.version_code >= 450)
    # Distances that nobody enabled too, which some devices heed and the probe finds.
    writes = state["clip_distances"] or r.random() < 0.5
    vertex = VERTEX.replace("DECLARED", "out float gl_ClipDistance[1];" if writes else "")
    vertex = vertex.replace("WRITTEN", "gl_ClipDistance[0] = position.x + 0.9 * position.w;" if writes else "")
    with Pipeline(vertex, FRAGMENT.replace("DISCARDS", "true" if r.random() < 0.5 else "false"), **state) as pipeline:
        mine, theirs = pipeline.run(**arguments), pipeline.run_hardware(**arguments)
    settle()
    # Several blends, each with factors of up to 1 and inputs that are 4e-5 apart.
    np.testing.assert_allclose(mine.color.numpy(), theirs.color.numpy(), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(mine.depth.numpy(), theirs.depth.numpy(), rtol=4e-5, atol=1e-6)
    np.testing.assert_array_equal(mine.stencil.numpy(), theirs.stencil.numpy())
