"""A pixel's history ends at the pixel's colour; the cost model counts what OpenGL counts."""

import numpy as np
import pytest
from pipeline_rig import settle
from render_help import mesa

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.pipeline.compare import compare
from gpgpu_gl.pipeline.pipeline import Pipeline
from gpgpu_gl.pipeline.scenes import _pipeline, scenes
from gpgpu_gl.pipeline.state import Blend, Stencil

ALL = {scene.name: scene for scene in scenes()}
VERTEX = "#version 330\nin vec4 position; in vec4 tint; out vec4 c; void main() { gl_Position = position; c = tint; }\n"
FRAGMENT = "#version 330\nin vec4 c; out vec4 color; void main() { color = c * 1.0; }\n"


@pytest.mark.parametrize(
    "name",
    ["depth less", "stencil incr_wrap", "stencil of two faces", "blend separate", "blend saturate", "blend in sRGB", "discard",
     "scissor", "multisample", "fragment depth", "depth clamp", "colour mask"],
)  # fmt: skip
def test_a_pixels_history_ends_at_its_colour_depth_and_stencil(name):
    trace = ALL[name].emulate()
    color, depth, stencil = trace.color.numpy(), trace.depth.numpy(), trace.stencil.numpy()
    if trace.state.samples > 1:
        color = trace.frame.samples[0][0].numpy()[0]
    width, height = trace.size
    seen = set()
    for x, y in [(20 * i + 5, 24 * j + 7) for i in range(8) for j in range(5)]:
        events = trace.pixel(x, y)
        seen |= {event.verdict for event in events}
        last = [e for e in events if 0 in e.samples][-1:]
        if last:
            np.testing.assert_allclose(last[0].color[1], color[y, x], rtol=1e-5, atol=1e-6)
            assert last[0].depth[1] == pytest.approx(depth[y, x], rel=1e-6)
            assert last[0].stencil[1] == stencil[y, x]
        assert [e.primitive for e in events] == sorted(e.primitive for e in events)
    assert "written" in seen
    settle()
    expected = {"depth less": "depth", "stencil of two faces": "stencil", "discard": "discarded", "scissor": "scissor"}
    assert expected.get(name, "written") in seen
    with pytest.raises(ShapeError, match=f"outside the target of {width} x {height}"):
        trace.pixel(width, 0)


def test_an_event_says_what_the_shader_read_and_wrote():
    position = np.array([[-1, -1, 0, 1], [1, -1, 0, 1], [0, 1, 0.5, 1]], np.float32)
    tint = np.eye(3, 4, dtype=np.float32)
    with Pipeline(VERTEX, FRAGMENT, blend=Blend("one", "one")) as pipeline:
        trace = pipeline.run({"position": position, "tint": tint}, size=(8, 8))
    (event,) = trace.pixel(4, 3)
    settle()
    x, y = 4.5, 3.5
    np.testing.assert_allclose(event.position[:2], (x, y))
    up = y / 8
    weights = [(1 - up) - (x / 8 - up / 2), x / 8 - up / 2, up]
    np.testing.assert_allclose(event.weights, weights, atol=1e-6)
    np.testing.assert_allclose(event.inputs["c"][:3], weights, atol=1e-6)
    np.testing.assert_allclose(event.outputs[0], event.inputs["c"])
    assert str(event).startswith("primitive    0 front depth 0.609375  written")


COUNTED = ["depth less", "triangle fan", "strip with restart", "instances", "lines", "points", "cull back", "cull front"]


@pytest.mark.parametrize("name", COUNTED)
def test_the_totals_agree_with_opengls_pipeline_statistics(device, name):
    (draw,) = ALL[name].draws
    counted = {}
    with _pipeline(draw) as pipeline:
        theirs = pipeline.run_hardware(size=ALL[name].size, statistics=counted, **draw.arguments)
        trace = pipeline.run(size=ALL[name].size, **draw.arguments)
    settle()
    assert compare(trace, theirs, pipeline.state).equal
    if not counted:
        pytest.skip("this device has no pipeline statistics queries")
    cost = trace.cost()
    shaded = counted.pop("fragment_shader_invocations")
    mine = {key: getattr(cost, key) for key in counted}
    if name == "points":  # Mesa does not send points through its clipper
        for key in ("clipping_input_primitives", "clipping_output_primitives"):
            counted.pop(key)
            mine.pop(key)
    if device.software and pipeline.state.cull:  # Mesa culls before it counts what clipping puts out
        assert trace.culled > 0
        mine["clipping_output_primitives"] -= trace.culled
    assert mine == counted
    if device.software and mesa(device.version) >= (25, 0):  # counts the fragments that its early depth test lets through
        assert cost.samples_passed == shaded
    elif device.software and name not in ("lines", "points"):  # Mesa before: the lanes of whole blocks
        assert cost.block_lanes == shaded
    else:
        assert cost.fragment_shader_invocations <= shaded


def test_the_cost_shows_what_smaller_triangles_waste():
    def cost(parts):
        steps = np.linspace(-1, 1, parts + 1)
        corners = [(x, y) for y in (0, 1) for x in (0, 1)]
        cells = [[steps[i + x], steps[j + y], 0, 1] for i in range(parts) for j in range(parts) for x, y in corners]
        indices = [4 * k + n for k in range(parts * parts) for n in (0, 2, 1, 1, 2, 3)]
        attributes = {"position": np.array(cells, np.float32), "tint": np.ones((len(cells), 4), np.float32)}
        with Pipeline(VERTEX, FRAGMENT) as pipeline:
            return pipeline.run(attributes, indices, size=(64, 64)).cost(lanes=32)

    coarse, fine = cost(1), cost(32)
    settle()
    assert coarse.fragment_shader_invocations == fine.fragment_shader_invocations == 64 * 64
    # Triangles of 2 x 2 pixels: half of the lanes of every quad are helpers. Along the
    # diagonal, the 32 quads are shaded for both triangles.
    assert fine.helper_lanes == 64 * 64
    assert coarse.helper_lanes == 32 * 4
    assert fine.stages[3].clocks > 1.9 * coarse.stages[3].clocks
    assert coarse.quads * 4 == coarse.fragment_shader_invocations + coarse.helper_lanes
    assert "fragment shading" in str(coarse)


def test_quads_that_discard_in_part_are_divergent():
    half = FRAGMENT.replace("color =", "if (gl_FragCoord.x < 3.0) discard; color =")
    position = np.array([[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]], np.float32)
    with Pipeline(VERTEX, half) as pipeline:
        trace = pipeline.run({"position": position, "tint": np.ones((3, 4), np.float32)}, size=(8, 8))
    cost = trace.cost()
    settle()
    assert cost.divergent_quads == 4  # pixel columns 2 and 3 are one column of quads
    assert cost.branches == 2
    assert (trace.overdraw.numpy() == np.where(np.arange(8) < 3, 0, 1)).all()


def test_the_early_depth_test_keeps_hidden_quads_from_being_shaded():
    """Three layers over the whole target, nearest first: only the first is shaded; farthest first: all are."""
    def run(order, fragment=FRAGMENT, **state):
        corners = np.array([[-1, -1], [3, -1], [-1, 3]], np.float32)
        position = np.concatenate([np.c_[corners, np.full(3, z), np.ones(3)] for z in order]).astype(np.float32)
        tint = np.repeat(np.eye(3, 4, dtype=np.float32), 3, axis=0)
        with Pipeline(VERTEX, fragment, **state) as pipeline:
            trace = pipeline.run({"position": position, "tint": tint}, size=(16, 12))
            theirs = pipeline.run_hardware({"position": position, "tint": tint}, size=(16, 12))
        assert compare(trace, theirs, pipeline.state).equal
        return trace

    near, far = (-0.5, 0.0, 0.5), (0.5, 0.0, -0.5)
    found = run(near, depth_test="less")
    layer = len(found.quads_found) // 3  # the clipped layer is two triangles, which share the quads on their edge
    assert layer >= 48
    assert [len(found.quads_shaded), found.cost().early_quads] == [layer, 2 * layer]
    assert [e.verdict for e in found.pixel(3, 4)] == ["written", "depth", "depth"]
    assert [bool(e.outputs) for e in found.pixel(3, 4)] == [True, False, False]
    assert run(far, depth_test="less").cost().early_quads == 0
    assert run(near, depth_test="less", depth_write=False).cost().early_quads == 0
    # Not allowed: the shader discards, writes depth, or a stencil value depends on the fragments.
    late = FRAGMENT.replace("color =", "if (c.x > 2.0) discard; color =")
    assert run(near, late, depth_test="less").early is None
    assert run(near, depth_test="less", stencil=Stencil(depth_fail="incr")).early is None
    settle()


def test_divergent_branches_are_counted_by_quads():
    branchy = FRAGMENT.replace("color = c * 1.0;", """
  float sum = 0.0;
  for (int i = 0; i < 3; ++i) { if (i == 1) sum += 0.1; }  // the same in every pixel
  if (gl_FragCoord.x < 5.0 && (gl_FragCoord.y > 0.0)) sum += 1.0;  // splits the column of quads at x = 4
  if (gl_FragCoord.x < 6.0)  // splits none
    sum *= 2.0;
  else if (int(gl_FragCoord.y) % 2 == 0) sum = 3.0;  // splits every quad from x = 6 on
  color = c + sum;
""")
    position = np.array([[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]], np.float32)
    attributes = {"position": position, "tint": np.ones((3, 4), np.float32)}
    with Pipeline(VERTEX, branchy) as pipeline:
        plain, found = (pipeline.run(attributes, size=(10, 8), branches=branches) for branches in (False, True))
    settle()
    np.testing.assert_array_equal(plain.color.numpy(), found.color.numpy())
    assert plain.cost().divergent_branches is None
    twice = len(found.quads_found) - 20  # quads on the line where clipping cut the triangle in two
    across = np.unique(np.stack([found.quads_found.x, found.quads_found.y]), axis=1, return_counts=True)
    expected = sum(n * ((x == 4) + (x >= 6)) for (x, _), n in zip(across[0].T, across[1], strict=True))
    assert found.cost().divergent_branches == expected >= 4 + 8
    assert twice > 0
    assert "divergent branches" in str(found.cost())
