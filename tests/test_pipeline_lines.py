"""Points and lines before rasterisation, against their twin; lines against the specification's rule and allowances."""

import itertools

import numpy as np
import pytest
from pipeline_rig import all_of, check_edges, emulated, random_primitives, settle, window_of
from pipeline_twin import clipping, lines

from gpgpu_gl.pipeline import Pipeline
from gpgpu_gl.pipeline.bins import bin_primitives
from gpgpu_gl.pipeline.clip import clip
from gpgpu_gl.pipeline.edges import find_edges
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.pipeline.setup import anchor, find_planes
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.pipeline.vertex import Vertices
from gpgpu_gl.tensor import tensor

pytestmark = pytest.mark.gl33

# Every way of a device to rasterise lines: which centres on ends are held, how halves round, which sides own their samples.
RULES = [
    Profile(exact_ends=exact, halves_even=even, left=left, bottom=bottom, drops_lines=not even)
    for exact, even, left, bottom in itertools.product([True, False], repeat=4)
]


def table_of(window):
    return all_of(len(window), window.shape[1]), tensor(window.reshape(-1, 4))


def tied(count, step):
    """(count, 2, 4) lines between positions on a grid of `step` pixels, one in four without a length."""
    window = np.zeros((count, 2, 4), np.float32)
    window[..., :2] = np.random.default_rng(15).integers(0, round(6 / step), (count, 2, 2)) * step
    window[::4, 1] = window[::4, 0] + np.array([step, 0, 0, 0], np.float32) * (np.arange(len(window[::4])) % 2)[:, None]
    return window


@pytest.mark.parametrize("mode", ["lines", "points"])
def test_lines_and_points_are_clipped_as_the_twin_does(mode, path):
    position = random_primitives(22, 450, mode, (64, 48))
    n = position.shape[1]
    found = clip(Vertices(tensor(position.reshape(-1, 4))), all_of(len(position), n), State(mode=mode))
    left = {int(i): found.vertices.clip[rows] for i, rows in zip(found.source, found.primitives.corners, strict=True)}
    cut = 0
    for i, corners in enumerate(position.astype(float)):
        if mode == "points":
            assert (i in left) == clipping.holds(corners[0])
            continue
        part = clipping.clip_line(*corners)
        assert (i in left) == (part is not None)
        if part is not None:
            expected = [corners[0] + t * (corners[1] - corners[0]) for t in part]
            np.testing.assert_allclose(left[i], expected, rtol=0, atol=1e-6 * np.abs(corners).max())
            cut += part != (0, 1)
    assert len(left) < 0.8 * len(position)
    assert cut > 60 or mode == "points"


@pytest.mark.parametrize("profile", RULES, ids=range(len(RULES)))
def test_ends_of_lines_are_the_twins(profile, path):
    """Ends on centres and borders of pixels, halfway between subpixels, and anywhere."""
    window = np.concatenate(
        [tied(400, 0.5), tied(100, 2.0**-9), *(window_of(k, mode="lines")[0] for k in (0, 2, 3, 6))]
    )
    found = find_edges(*table_of(window), None, State(mode="lines"), profile)
    corners, empty = lines.parallelogram_corners(window, profile)
    assert 60 < empty.sum() < 300
    bare = lines.placed(window, profile)
    assert 50 < ((corners[:, 0] + corners[:, 3]) // 2 != bare[:, 0]).any(1).sum() < len(window) - 50  # ends that move
    check_edges(found, corners, profile, empty)


@pytest.mark.parametrize("profile", RULES[::3], ids=range(0, len(RULES), 3))
def test_rectangles_of_multisample_lines_are_the_twins(profile, path):
    window = np.concatenate(
        [tied(200, 0.5), tied(100, 2.0**-9), *(window_of(k, mode="lines")[0] for k in (0, 2, 3, 6))]
    )
    corners, empty = lines.rectangle_corners(window, profile)
    assert empty.sum() > 20
    check_edges(find_edges(*table_of(window), None, State(mode="lines", samples=4), profile), corners, profile, empty)


@pytest.mark.parametrize("profile", RULES[::3], ids=range(0, len(RULES), 3))
def test_squares_of_points_are_the_twins(profile, path):
    window = np.concatenate([tied(200, 0.5)[:, :1], *(window_of(k, mode="points")[0] for k in (0, 3, 6))])
    given, table = table_of(window)
    fixed = find_edges(given, table, None, State(mode="points", point_size=2.5), profile)
    sides = np.full(len(window), 2.5, np.float32)
    check_edges(fixed, lines.point_corners(window[:, 0], sides, profile), profile)
    sides = np.random.default_rng(16).uniform(0, 9, len(window)).astype(np.float32)
    own = find_edges(
        given,
        table,
        tensor(np.repeat(sides[:, None], 4, 1)),
        State(mode="points", point_size=None, viewport=(1, 2, 30, 20)),
        profile,
    )
    border = [[1, 2], [31, 22]] if profile.cuts_points else None
    check_edges(own, lines.point_corners(window[:, 0], sides, profile, border), profile)


def pixels(positions, size=(16, 16)):
    """[{(x, y), ...}, ...] what the emulator covers of (n, 2, 2) lines in pixels."""
    clip = np.zeros((len(positions), 2, 4), np.float32)
    clip[..., :2], clip[..., 3] = positions / np.array(size) * 2 - 1, 1
    masks, _ = emulated(clip, "lines", size)
    assert masks.max() <= 1
    return [{(int(x), int(y)) for y, x in np.argwhere(mask[0])} for mask in masks]


def random_lines(count, corners=2):
    """(count, corners, 2) positions on the subpixel grid with no two coordinates on a pixel's border or centre."""
    return (np.random.default_rng(17).integers(256, 15 * 256, (count, corners, 2)) // 2 * 2 + 1) / 256


def test_lines_keep_to_the_specifications_allowances(path):
    """Section 14.5.1: fragments lie within a pixel of the diamond-exit rule's, one for a column (or row), one more or less."""
    positions, same = random_lines(200), 0
    for (a, b), found in zip(positions, pixels(positions), strict=True):
        expected = lines.diamond_exit(a, b)
        assert abs(len(found) - len(expected)) <= 1
        assert all(any(max(abs(x - u), abs(y - v)) <= 1 for u, v in expected) for x, y in found)
        axis = 0 if abs(b - a)[0] >= abs(b - a)[1] else 1
        assert len({p[axis] for p in found}) == len(found)
        same += found == expected
    assert same > 180  # the others end in a pixel outside its diamond, or pass a centre line where snapping decides


def test_lines_that_share_an_end_neither_repeat_nor_leave_out_a_pixel(path):
    """The same, for lines that go the same way along the same axis."""
    positions = random_lines(600, 3)
    d = np.diff(positions, axis=1)
    major = np.abs(d).argmax(-1)
    way = np.sign(np.take_along_axis(d, major[..., None], -1))[..., 0]
    positions = positions[(major[:, 0] == major[:, 1]) & (way[:, 0] == way[:, 1])]
    assert len(positions) > 40
    axes = np.abs(np.diff(positions, axis=1)).argmax(-1)[:, 0]
    for axis, first, second in zip(axes, pixels(positions[:, :2]), pixels(positions[:, 1:]), strict=True):
        steps = sorted(p[axis] for p in [*first, *second])
        assert steps == list(range(steps[0], steps[-1] + 1))


@pytest.mark.parametrize(("samples", "ahead"), [(1, True), (4, False), (4, True)])
def test_planes_of_lines_are_the_twins(samples, ahead, path):
    state, profile, checked = State(mode="lines", samples=samples), Profile(lines_ahead=ahead), 0
    centre = 1 if samples > 1 and ahead else 0.5
    for kind in (0, 2, 3, 5, 6):
        window, given, table = window_of(kind, 40, "lines")
        pairs = bin_primitives(find_edges(given, table, None, state, profile), (64, 48), 8)
        planes = anchor(find_planes(given, table, None, state, 8), pairs, given, table, state, profile)
        anchors, rows = planes.anchors.numpy(), planes.table.numpy()
        np.testing.assert_array_equal(rows[:, 8:11], window[:, [0, 1, 1], 3])
        for i in range(0, len(pairs), 2):
            line = window[pairs.primitive[i]]
            x, y = pairs.x[i] * 8 + centre, pairs.y[i] * 8 + centre
            along, depth = lines.line_planes(line, x, y, samples)
            # Differences, quotient and product are rounded once each, of the larger of the two distances.
            loss = 2.0**-22 * float(
                max(1, abs(along), np.abs([x, y] - line[0, :2]).max() / np.abs(line[1] - line[0])[:2].max())
            )
            np.testing.assert_allclose(anchors[i, :3], [1 - along, along, 0], atol=2 * loss, rtol=0)
            assert anchors[i, 3] == pytest.approx(depth, rel=0, abs=3 * loss * float(np.abs(line[:, 2]).max()))
            across = [
                np.subtract(lines.line_planes(line, *p, samples), (along, depth)) for p in ((x + 1, y), (x, y + 1))
            ]
            slope = planes.slope[pairs.primitive[i]]
            np.testing.assert_allclose(slope[[1, 3]].T, across, rtol=1e-5, atol=1e-6 * np.abs(across).max() + 1e-9)
            np.testing.assert_array_equal(slope[0], -slope[1])
            assert not slope[2].any()
            checked += 1
    assert checked > 150


VALUES = """#version 330
noperspective in vec2 straight; in vec2 curved; out vec4 color;
void main() { color = vec4(straight, curved) + vec4(gl_PointCoord, gl_FragCoord.xy) * POINT; }
"""


@pytest.mark.parametrize("origin", ["lower_left", "upper_left"])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("mode", ["lines", "line_loop", "points"])
def test_values_of_lines_and_points_equal_the_hardware(device, mode, samples, origin, path):
    """Inputs, depth and gl_PointCoord, with several samples too, where devices may take them elsewhere than OpenGL asks."""
    if origin == "upper_left" and device.version_code < 450:
        pytest.skip("glClipControl needs OpenGL 4.5")
    rng = np.random.default_rng(23)
    w = rng.uniform(0.5, 2, (40, 1))
    attributes = {"p": np.c_[rng.uniform(-1.2, 1.2, (40, 2)) * w, rng.uniform(-0.9, 0.9, (40, 1)) * w, w], "v": rng.random((40, 2))}
    vertex = "#version 330\nin vec4 p; in vec2 v; noperspective out vec2 straight; out vec2 curved;\n"
    vertex += "void main() { gl_Position = p; straight = curved = v; gl_PointSize = 1.0 + 8.0 * v.x; }"
    state = {"samples": samples, "clip_origin": origin, "depth_test": "less", "point_size": None if mode == "points" else 1.0}
    with Pipeline(vertex, VALUES.replace("POINT", str(float(mode == "points"))), mode=mode, **state) as pipeline:
        mine, theirs = pipeline.run(attributes, size=(61, 47)), pipeline.run_hardware(attributes, size=(61, 47))
    settle()
    a, b = mine.color.numpy(), theirs.color.numpy()
    assert ((a != 0).any(-1) != (b != 0).any(-1)).sum() <= 2  # multisample lines at the target's border
    both = (a != 0).any(-1) & (b != 0).any(-1)
    assert both.sum() > 400
    np.testing.assert_allclose(a[both], b[both], rtol=4e-5, atol=4e-5)
    np.testing.assert_allclose(mine.depth.numpy()[both], theirs.depth.numpy()[both], rtol=4e-5)


def test_planes_of_points_are_the_twins(path):
    profile, sides = Profile(), np.random.default_rng(18).uniform(0.3, 9, 90).astype(np.float32)
    for own in (False, True):
        state = State(mode="points", point_size=None if own else 3.3)
        window, given, table = window_of(0, mode="points")
        sizes = tensor(np.repeat(sides[:, None], 4, 1))
        pairs = bin_primitives(find_edges(given, table, sizes, state, profile), (64, 48), 8)
        assert len(pairs) > 80
        planes = anchor(find_planes(given, table, sizes, state, 8), pairs, given, table, state, profile)
        anchors, slope = planes.anchors.numpy(), planes.slope
        np.testing.assert_array_equal(planes.table.numpy()[:, 8:11], window[:, [0, 0, 0], 3])
        for i, p in enumerate(pairs.primitive):
            side = sides[p] if own else np.float32(3.3)
            x, y = pairs.x[i] * 8 + 0.5, pairs.y[i] * 8 + 0.5
            expected = lines.point_coord(window[p, 0], x, y, side)
            np.testing.assert_allclose(anchors[i, [1, 2]], expected, rtol=1e-6, atol=1e-6)
            assert anchors[i, [0, 3]].tolist() == [1, window[p, 0, 2]]
            across = [
                np.subtract(lines.point_coord(window[p, 0], *q, side), expected) for q in ((x + 1, y), (x, y + 1))
            ]
            np.testing.assert_allclose(slope[p][[1, 2]].T, across, rtol=1e-6, atol=1e-12)
            assert not slope[p][[0, 3]].any()
