"""Interpolated values and depth against float64 and the hardware; fifty blended layers in order."""

import numpy as np
import pytest
from pipeline_rig import settle
from pipeline_twin import operations, raster

from gpgpu_gl.pipeline import Blend, Pipeline, State, Stencil
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.pipeline.state import COMPARE, EQUATIONS, FACTORS, STENCIL_OPERATIONS

VERTEX = """#version 330
in vec4 position; in vec4 tint;
out vec4 curved; noperspective out vec4 straight; flat out vec4 first; flat out ivec3 number;
void main() { gl_Position = position; curved = straight = first = tint; number = ivec3(gl_VertexID, gl_InstanceID, -5); }
"""
FRAGMENT = """#version 330
in vec4 curved; noperspective in vec4 straight; flat in vec4 first; flat in ivec3 number;
layout(location = 0) out vec4 a; layout(location = 1) out vec4 b; layout(location = 2) out vec4 c;
layout(location = 3) out ivec4 d; layout(location = 4) out vec4 e;
void main() { a = curved; b = straight; c = first; d = ivec4(number, gl_FrontFacing ? 1 : 2); e = gl_FragCoord; }
"""
COLOR = "#version 330\nin vec4 curved; out vec4 color; void main() { color = curved; }\n"
SIZE = (96, 80)
# Float32 barycentrics of triangles that are no slivers; the issue's own bound for both comparisons.
RELATIVE = 4e-5

pytestmark = pytest.mark.gl33


def triangles(seed, count):
    """Triangles of fair shape in view, in perspective, with positive tints."""
    rng = np.random.default_rng(seed)
    center = rng.uniform(-0.6, 0.6, (count, 1, 2))
    angle = rng.uniform(0, 2 * np.pi, (count, 1)) + np.array([0, 2.1, 4.2]) + rng.uniform(-0.4, 0.4, (count, 3))
    xy = center + np.stack([np.cos(angle), np.sin(angle)], -1) * rng.uniform(0.15, 0.38, (count, 3, 1))
    w = rng.uniform(0.4, 3, (count, 3, 1))
    position = np.concatenate([xy * w, rng.uniform(-0.9, 0.9, (count, 3, 1)) * w, w], -1).astype(np.float32)
    return {"position": position.reshape(-1, 4), "tint": rng.uniform(0.5, 2, (count * 3, 4)).astype(np.float32)}


def test_inputs_and_depth_equal_float64_and_the_hardware(path):
    attributes = triangles(0, 24)
    with Pipeline(VERTEX, FRAGMENT, depth_test="less") as pipeline:
        trace = pipeline.run(attributes, size=SIZE)
        theirs = pipeline.run_hardware(attributes, size=SIZE)
    for i, (mine, other) in enumerate(zip(trace.colors, theirs.colors, strict=True)):
        a, b = mine.numpy(), other.numpy()
        if i == 3:
            np.testing.assert_array_equal(a, b)
        else:
            assert (np.abs(a - b) <= RELATIVE * np.maximum(np.abs(b), 1)).all(), i
    np.testing.assert_allclose(trace.depth.numpy(), theirs.depth.numpy(), rtol=RELATIVE)
    check_against_twin(trace, attributes)
    settle()


def check_against_twin(trace, attributes):
    coord, shares = trace.packed(trace.fragcoord), trace.packed(trace.barycentric)
    curved, straight = (trace.packed_input(n) for n in ("curved", "straight"))
    window = trace.window[trace.primitives.corners]
    tint = attributes["tint"].reshape(-1, 3, 4).astype(float)
    covered = trace.covered()[..., 0]
    checked = 0
    for q in np.nonzero(trace.place >= 0)[0][::7]:
        p = trace.quads_found.primitive[q]
        for s in np.nonzero(covered[q])[0]:
            x, y = coord[q, s, :2]
            linear = raster.weights(window[p], float(x), float(y))
            weights = raster.perspective(linear, window[p, :, 3])
            np.testing.assert_allclose(shares[q, s, :3], weights, atol=RELATIVE)
            np.testing.assert_allclose(curved[q, s], weights @ tint[p], rtol=RELATIVE)
            np.testing.assert_allclose(straight[q, s], linear @ tint[p], rtol=RELATIVE)
            assert coord[q, s, 2] == pytest.approx(linear @ window[p, :, 2].astype(float), rel=RELATIVE)
            assert coord[q, s, 3] == pytest.approx(linear @ window[p, :, 3].astype(float), rel=RELATIVE)
            checked += 1
    assert checked > 300


def test_quads_are_the_twins(path):
    attributes = triangles(1, 20)
    with Pipeline(VERTEX, COLOR) as pipeline:
        trace = pipeline.run(attributes, size=(61, 47))
    settle()
    snapped = np.rint(trace.window[trace.primitives.corners][..., :2] * 256).astype(int)
    quads = trace.quads.numpy()
    for p in range(len(trace.primitives)):
        expected = raster.quads(raster.coverage(snapped[p], (61, 47)))
        assert {tuple(row[:2]) for row in quads[quads[:, 2] == p].tolist()} == expected


@pytest.mark.parametrize("size", [(96, 1), (1, 80), (1, 1)])
def test_targets_of_one_line_or_column(size, path):
    attributes = triangles(7, 12)
    with Pipeline(VERTEX, COLOR, depth_test="less") as pipeline:
        trace, theirs = pipeline.run(attributes, size=size), pipeline.run_hardware(attributes, size=size)
    settle()
    assert (theirs.color.numpy() != 0).any()
    np.testing.assert_allclose(trace.color.numpy(), theirs.color.numpy(), rtol=RELATIVE)
    np.testing.assert_allclose(trace.depth.numpy(), theirs.depth.numpy(), rtol=RELATIVE)


def layers(count, seed=3):
    rng = np.random.default_rng(seed)
    position = np.tile(np.array([[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]], np.float32), (count, 1))
    position[:, 2] = np.repeat(rng.uniform(-0.9, 0.9, count), 3)
    return {"position": position, "tint": np.repeat(rng.uniform(0, 1, (count, 4)), 3, axis=0).astype(np.float32)}


@pytest.mark.parametrize("form", ["rgba32f", "rgba8"])
def test_fifty_blended_layers_in_order(device, path, form):
    attributes = layers(50)
    with Pipeline(VERTEX, COLOR, blend=Blend(), formats=form, clear_color=(0.1, 0.7, 0.3, 0.5)) as pipeline:
        mine = pipeline.run(attributes, size=(8, 8)).color.numpy()
        theirs = pipeline.run_hardware(attributes, size=(8, 8)).color.numpy()
    settle()
    held = np.array([0.1, 0.7, 0.3, 0.5])
    for color in attributes["tint"][::3]:
        held = operations.blend(Blend(), color, held)
    if form == "rgba32f":
        np.testing.assert_allclose(mine, np.broadcast_to(held, mine.shape), rtol=1e-5)
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    else:  # each blend rounds, but the factors let errors die out, so that they hardly add up
        assert np.abs(mine - theirs).max() <= (1e-6 if device.software else 2 / 255 * 1.001)
        assert np.abs(mine - held).max() <= 3 / 255


PLAIN = "#version 330\nin vec4 position; void main() { gl_Position = position; }\n"
BYTES = """#version 330
out vec4 color;
void main() {
  vec2 byte = (gl_FragCoord.xy - 0.5) / 255.0;
  color = vec4(byte.x, 1.0 - byte.x, byte.x * byte.y, byte.y);
}
"""
BLENDS = {
    "over": Blend(),
    "premultiplied": Blend("one", "one_minus_src_alpha"),
    "additive": Blend("src_alpha", "one"),
    "multiply": Blend("dst_color", "zero"),
    "subtract": Blend("one", "src_alpha", "reverse_subtract"),
    "max": Blend("zero", "zero", "max"),
    "constant": Blend("constant_color", "one_minus_constant_alpha", "add", (0.3, 0.6, 0.2, 0.7)),
    "saturate": Blend("src_alpha_saturate", "one"),
    "separate": Blend(("src_alpha", "one"), ("one_minus_dst_alpha", "dst_alpha"), ("add", "subtract")),
}


@pytest.mark.parametrize("blend", [None, Blend("one", "one")])
def test_colours_halfway_between_bytes_go_where_the_hardware_lets_them_go(device, path, blend):
    whole = {"position": np.array([[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]], np.float32)}
    halves = BYTES.replace("(gl_FragCoord.xy - 0.5)", "gl_FragCoord.xy")
    with Pipeline(PLAIN, halves, formats="rgba8", blend=blend) as pipeline:
        mine = pipeline.run(whole, size=(255, 8)).color.numpy()
        theirs = pipeline.run_hardware(whole, size=(255, 8)).color.numpy()
    settle()
    if device.software:
        np.testing.assert_allclose(mine[..., [0, 1, 3]], theirs[..., [0, 1, 3]], atol=1e-6)
    assert np.abs(mine - theirs).max() <= 1.001 / 255


@pytest.mark.parametrize("name", BLENDS)
def test_eight_bit_targets_blend_every_pair_of_bytes_as_the_hardware_does(device, path, name):
    state = {"blend": BLENDS[name], "formats": "rgba8", "clear_color": (51 / 255, 128 / 255, 229 / 255, 152 / 255)}
    whole = {"position": np.array([[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]], np.float32)}
    with Pipeline(PLAIN, BYTES, **state) as pipeline:
        trace = pipeline.run(whole, size=(256, 256))
        theirs = pipeline.run_hardware(whole, size=(256, 256)).color.numpy()
    settle()
    mine = trace.color.numpy()
    assert len(np.unique(theirs[..., 0])) > 50
    if device.software:  # exactly: Mesa rounds every product, and the probe finds that it does
        assert trace.profile.fixed_blends
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    else:
        assert np.abs(mine - theirs).max() <= 1.001 / 255
    for x, y in ((3, 200), (131, 77), (254, 9)):
        np.testing.assert_allclose(trace.pixel(x, y)[0].color[1], mine[y, x], atol=1e-6)


def test_more_layers_than_a_loop_may_have_steps(path):
    """Some drivers leave long loops early; every fragment counts all the same, and the depth test sees them in order."""
    count = 33_000
    attributes = layers(count)
    attributes["tint"][:] = 2.0**-10
    for options in ({"blend": Blend("one", "one")}, {"depth_test": "less"}):
        with Pipeline(VERTEX, COLOR, **options) as pipeline:
            trace = pipeline.run(attributes, size=(3, 2))
            theirs = pipeline.run_hardware(attributes, size=(3, 2))
        settle()
        assert (trace.overdraw.numpy() == count).all()
        np.testing.assert_array_equal(trace.color.numpy(), theirs.color.numpy())
        np.testing.assert_array_equal(trace.depth.numpy(), theirs.depth.numpy())


STATES = [
    *(State(depth_test=c, clear_depth=0.5) for c in COMPARE),
    *(
        State(stencil=Stencil("gequal", 4, 6, 0x1D, o, "incr", "zero"), depth_test="less", clear_stencil=3)
        for o in STENCIL_OPERATIONS
    ),
    *(State(stencil=(Stencil("equal", 3), Stencil("less", 1, depth_pass=o)), clear_stencil=254) for o in STENCIL_OPERATIONS),
    *(
        State(blend=Blend(f, FACTORS[-1 - i], EQUATIONS[i % 5], (0.2, 0.9, 0.4, 0.3)), color_mask="rba")
        for i, f in enumerate(FACTORS)
    ),
]  # fmt: skip


@pytest.mark.parametrize("state", STATES, ids=range(len(STATES)))
def test_operations_equal_the_twin(state):
    attributes = layers(9, seed=5)
    if state.stencils is not None:  # every second one shows its back
        position = attributes["position"].reshape(9, 3, 4)
        position[1::2] = position[1::2, ::-1].copy()
    changes = {name: getattr(state, name) for name in State.__dataclass_fields__}
    with Pipeline(VERTEX, COLOR, **changes) as pipeline:
        trace = pipeline.run(attributes, size=(4, 4))
    settle()
    pixel = (np.zeros(4), state.clear_depth, state.clear_stencil)
    for i in range(9):
        depth = np.float32(attributes["position"][3 * i, 2] * np.float32(0.5) + np.float32(0.5))
        pixel = operations.fragment(state, pixel, attributes["tint"][3 * i], depth, front=i % 2 == 0)
    np.testing.assert_allclose(trace.color.numpy()[2, 1], pixel[0], rtol=1e-5, atol=1e-6)
    assert trace.depth.numpy()[2, 1] == pytest.approx(float(pixel[1]), rel=1e-6)
    assert trace.stencil.numpy()[2, 1] == pixel[2]


@pytest.mark.parametrize(
    "options", [{}, {"depth_write": False}, {"depth_clamp": True, "depth_range": (0.7, 0.2)}], ids=str
)
@pytest.mark.parametrize("onto", [False, True])
@pytest.mark.parametrize("compare", ["less", "gequal", "notequal", "never"])
def test_the_early_test_is_the_twins(path, compare, onto, options):
    attributes, before = triangles(9, 30), triangles(10, 12)
    if "depth_clamp" in options:
        attributes["position"][::5, 2] *= 2
    with (
        Pipeline(VERTEX, COLOR, depth_test="less") as first,
        Pipeline(VERTEX, COLOR, depth_test=compare, clear_depth=0.55, **options) as pipeline,
    ):
        frame = first.run(before, size=SIZE).frame if onto else None
        trace = pipeline.run(attributes, size=SIZE, onto=frame)
    settle()
    held = frame.depth.numpy() if onto else np.full(SIZE[::-1], np.float32(0.55))
    found, coord, covered = trace.packed(trace.early), trace.packed(trace.fragcoord), trace.covered()[..., 0]
    np.testing.assert_array_equal(found[..., 1] == 1, covered)
    pixels = {}
    for q, s in np.argwhere(covered):  # the quads of a tile are in drawing order
        place = (int(trace.quads_found.x[q]) + s % 2, int(trace.quads_found.y[q]) + s // 2)
        pixels.setdefault(place, []).append((q, s))
    assert max(map(len, pixels.values())) >= 5
    shaded = set()
    for (x, y), fragments in pixels.items():
        expected = operations.early(trace.state, held[y, x], [coord[q, s, 2] for q, s in fragments])
        assert [bool(found[q, s, 0]) for q, s in fragments] == expected
        shaded |= {q for (q, _), passes in zip(fragments, expected, strict=True) if passes}
    assert set(np.nonzero(trace.place >= 0)[0]) == shaded


def test_samples_are_tested_blended_and_resolved_as_the_twin_does(path):
    size, attributes = (20, 14), layers(6, seed=8)
    corners = np.random.default_rng(19).integers(-256, 16 * 256, (6, 3, 2))
    position = attributes["position"].reshape(6, 3, 4)
    position[..., :2] = corners / 256 / np.array(size) * 2 - 1
    state = State(samples=4, depth_test="less", blend=Blend(), scissor=(3, 2, 14, 9), clear_color=(0.2, 0.3, 0.1, 1))
    changes = {name: getattr(state, name) for name in State.__dataclass_fields__}
    with Pipeline(VERTEX, COLOR, **changes) as pipeline:
        trace = pipeline.run(attributes, size=size)
    settle()
    snapped = np.rint(trace.window[trace.primitives.corners][..., :2] * 256).astype(int)
    covers = [[raster.coverage(c, size, at) for at in trace.profile.offsets(4)] for c in snapped]
    drawn = 0
    for y, x in np.ndindex(size[::-1]):
        pixels = [(np.array(state.clear_color, float), 1.0, 0)] * 4
        for i, p in enumerate(trace.source):
            depth = np.float32(position[p, 0, 2] * np.float32(0.5) + np.float32(0.5))
            for s in range(4):
                if covers[i][s][y, x] and operations.scissored(state, x, y):
                    pixels[s] = operations.fragment(state, pixels[s], attributes["tint"][3 * p], depth)
                    drawn += 1
        np.testing.assert_allclose(trace.color.numpy()[y, x], np.mean([p[0] for p in pixels], 0), rtol=1e-5, atol=1e-6)
    assert drawn > 300


def test_helper_pixels_give_the_hardwares_derivatives():
    """Also at the edges of triangles, where a quad's other pixels are not covered."""
    fragment = COLOR.replace("color = curved", "color = vec4(dFdx(curved.x), dFdy(curved.y), fwidth(curved.zw))")
    attributes = triangles(2, 30)
    with Pipeline(VERTEX, fragment) as pipeline:
        mine = pipeline.run(attributes, size=SIZE).color.numpy()
        theirs = pipeline.run_hardware(attributes, size=SIZE).color.numpy()
    settle()
    assert (theirs != 0).any(-1).sum() > 2000
    # A difference of two values near 2, each with an error of 4e-5 of it.
    np.testing.assert_allclose(mine, theirs, atol=2 * 2 * RELATIVE)


def test_instances_and_tensors_as_attributes(path):
    import gpgpu_gl as gg

    attributes = triangles(3, 4)
    with Pipeline(VERTEX, FRAGMENT) as pipeline:
        once = pipeline.run(attributes, size=SIZE)
        twice = pipeline.run({n: gg.tensor(a) for n, a in attributes.items()}, size=SIZE, instances=2)
    settle()
    assert len(twice.primitives) == 2 * len(once.primitives)
    np.testing.assert_array_equal(twice.colors[0].numpy(), once.colors[0].numpy())
    numbers = twice.colors[3].numpy()
    assert set(np.unique(numbers[..., 1])) == {0, 1}  # 1 on top, 0 where nothing was drawn


CENTROIDS = """#version 330
centroid in vec4 curved; noperspective centroid in vec4 straight; in vec4 plain;
layout(location = 0) out vec4 a; layout(location = 1) out vec4 b; layout(location = 2) out vec4 c;
void main() { a = curved; b = straight; c = plain; }
"""
TAKES = """#version 330
in vec4 position; in vec4 tint;
centroid out vec4 curved; noperspective centroid out vec4 straight; out vec4 plain;
void main() { gl_Position = position; curved = straight = plain = tint; }
"""


@pytest.mark.parametrize("samples", [1, 4])
def test_centroid_inputs_equal_the_hardware(path, samples):
    attributes = triangles(11, 30)
    with Pipeline(TAKES, CENTROIDS, samples=samples) as pipeline:
        mine, theirs = pipeline.run(attributes, size=SIZE), pipeline.run_hardware(attributes, size=SIZE)
    settle()
    for a, b in zip(mine.colors, theirs.colors, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=RELATIVE, atol=RELATIVE)
    moved = np.abs(mine.colors[0].numpy() - mine.colors[2].numpy()).max(-1) > 1e-3
    assert (moved.sum() > 300) == (samples > 1)


@pytest.mark.parametrize("centre_w", [False, True])
def test_centroid_inputs_are_the_twins(path, centre_w):
    """At the first covered sample; in perspective by OpenGL's rule, or by 1/w at the centre as some devices do."""
    attributes = triangles(12, 20)
    with Pipeline(TAKES, CENTROIDS, samples=4) as pipeline:
        trace = pipeline.run(attributes, size=SIZE, profile=Profile(centre_w=centre_w))
    settle()
    curved, straight, coord = trace.packed_input("curved"), trace.packed_input("straight"), trace.packed(trace.fragcoord)
    window, covered, checked = trace.window[trace.primitives.corners], trace.covered(), 0
    tint = attributes["tint"].reshape(-1, 3, 4).astype(float)
    for q, s in np.argwhere(covered.any(-1))[::17]:
        p, x, y = trace.quads_found.primitive[q], *coord[q, s, :2].astype(float)
        centre = raster.weights(window[p], x, y)
        if not covered[q, s].all():
            dx, dy = np.array(trace.profile.samples[np.argmax(covered[q, s])]) - 0.5
            x, y, checked = x + dx, y + dy, checked + 1
        linear, inverse = raster.weights(window[p], x, y), window[p, :, 3].astype(float)
        weights = linear * inverse / ((centre if centre_w else linear) @ inverse)
        np.testing.assert_allclose(straight[q, s], linear @ tint[p], rtol=RELATIVE, atol=RELATIVE)
        np.testing.assert_allclose(curved[q, s], weights @ tint[p], rtol=RELATIVE, atol=RELATIVE)
    assert checked > 40
