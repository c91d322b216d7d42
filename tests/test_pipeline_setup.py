"""The stages before rasterisation, each against its twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_rig import all_of, check_edges, window_of
from pipeline_twin import assembly, clipping, raster, setup

from gpgpu_gl.pipeline.assemble import assemble
from gpgpu_gl.pipeline.bins import bin_primitives
from gpgpu_gl.pipeline.clip import clip
from gpgpu_gl.pipeline.cull import cull
from gpgpu_gl.pipeline.divide import divide
from gpgpu_gl.pipeline.edges import find_edges
from gpgpu_gl.pipeline.fetch import RESTART, Fetched
from gpgpu_gl.pipeline.glsl import Slot
from gpgpu_gl.pipeline.offset import polygon_offset
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.pipeline.setup import anchor, find_planes
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.pipeline.vertex import Vertices
from gpgpu_gl.pipeline.viewport import viewport
from gpgpu_gl.tensor import tensor

pytestmark = pytest.mark.gl33


streams = st.lists(st.integers(-1, 9), max_size=14)


@settings(max_examples=60, deadline=None)
@given(streams, st.sampled_from(["triangles", "triangle_strip", "triangle_fan"]), st.sampled_from(["last", "first"]))
def test_triangles_are_assembled_as_the_twin_does(stream, mode, provoking):
    fetched = Fetched(np.array(stream, np.int64), True, 10, 2, ())
    found = assemble(fetched, State(mode=mode, provoking=provoking, restart=RESTART))
    expected = assembly.triangles(stream, mode, provoking, RESTART)
    corners = [corners for corners, _ in expected]
    assert found.corners.tolist() == [list(c) for c in corners] + [[v + 10 for v in c] for c in corners]
    assert found.provoking.tolist() == [p for _, p in expected] + [p + 10 for _, p in expected]
    assert found.number.tolist() == 2 * list(range(len(corners)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=9), st.sampled_from(["lines", "line_strip", "line_loop"]))
def test_lines_are_assembled_as_the_twin_does(stream, mode):
    found = assemble(Fetched(np.array(stream, np.int64), True, 10, 1, ()), State(mode=mode))
    assert [tuple(pair) for pair in found.corners.tolist()] == assembly.lines(stream, mode)


def vertices(positions, floats=None, distances=None):
    n = len(positions)
    padded = None if distances is None else np.pad(distances, ((0, 0), (0, 8 - distances.shape[1])))
    tables = [
        None if t is None else tensor(np.reshape(t, (n, -1)).astype(np.float32)) for t in (positions, floats, padded)
    ]
    return Vertices(tables[0], tables[1], distances=tables[2])


def polygon_area(points):
    """Area of a polygon after the divide, which does not depend on how it is cut into triangles."""
    p = np.array([row[:2] / row[3] for row in points])
    return 0.5 * abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(p, np.roll(p, -1, 0), strict=True)))


def test_clipped_triangles_cover_the_twins_polygon_with_linear_outputs(path):
    rng = np.random.default_rng(0)
    position = np.concatenate([rng.uniform(-2, 2, (60, 3, 3)), rng.uniform(0.3, 2, (60, 3, 1))], -1)
    affine = rng.uniform(-1, 1, (4, 4))
    outputs = position @ affine  # linear in clip space, so that clipped vertices have it too
    slots = [Slot("v", "float", 4, "smooth")]
    found = clip(vertices(position.reshape(-1, 4), outputs.reshape(-1, 1, 4)), all_of(60), State(), slots)
    new = found.vertices
    np.testing.assert_allclose(new.floats[:, 0], new.clip @ affine, atol=2e-5)
    assert found.cut > 20
    assert found.rejected >= 2
    for i in range(60):
        mine = found.primitives.corners[found.source == i]
        expected = clipping.clip(position[i])
        assert (len(mine) == 0) == (len(expected) == 0)
        if expected:
            total = sum(polygon_area(new.clip[t].astype(float)) for t in mine)
            assert total == pytest.approx(polygon_area(expected), rel=1e-4, abs=1e-6)
        for t in mine.reshape(-1):
            assert (np.abs(new.clip[t, :3]) <= new.clip[t, 3] * (1 + 1e-5) + 1e-6).all()


def test_user_distances_keep_what_the_opposite_ones_drop():
    rng = np.random.default_rng(1)
    position = np.concatenate([rng.uniform(-0.9, 0.9, (120, 3)), np.ones((120, 1))], 1)
    d = rng.uniform(-1, 1, (120, 1))
    whole = sum(polygon_area(t) for t in position.reshape(40, 3, 4))
    parts = []
    for sign in (1, -1):
        found = clip(vertices(position, distances=sign * d), all_of(40), State(clip_distances=1))
        parts.append(sum(polygon_area(found.vertices.clip[t].astype(float)) for t in found.primitives.corners))
        assert 0.1 < parts[-1] / whole < 0.9
    assert sum(parts) == pytest.approx(whole, rel=1e-5)


def test_depth_clamp_drops_the_near_and_far_planes_and_zero_to_one_moves_one():
    far = np.array([[-0.5, -0.5, 3, 1], [0.5, -0.5, -0.5, 1], [0, 0.5, -3, 1]])
    assert len(clip(vertices(far), all_of(1), State()).primitives) > 1
    kept = clip(vertices(far), all_of(1), State(depth_clamp=True))
    assert kept.cut == 0
    assert len(kept.primitives) == 1
    half = np.array([[-0.5, -0.5, -0.5, 1], [0.5, -0.5, -0.2, 1], [0, 0.5, -0.1, 1]])
    assert clip(vertices(half), all_of(1), State()).cut == 0
    assert clip(vertices(half), all_of(1), State(clip_depth="zero_to_one")).rejected == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_positions_that_are_no_numbers_are_dropped_and_counted(bad):
    position = np.tile(np.array([[-0.5, -0.5, 0, 1], [0.5, -0.5, 0, 1], [0, 0.5, 0, 1]]), (3, 1))
    position[4, 1] = bad
    found = clip(vertices(position), all_of(3), State())
    assert found.dropped == 1
    assert found.source.tolist() == [0, 2]


def test_the_divide_and_the_viewport_follow_the_specification(path):
    ndc = divide(tensor(np.array([[1, -2, 0.5, 2], [0, 0, -1, 1]], np.float32)))
    np.testing.assert_allclose(ndc.numpy(), [[0.5, -1, 0.25, 0.5], [0, 0, -1, 1]])
    state = State(viewport=(10, 20, 100, 50), depth_range=(0.2, 0.6))
    np.testing.assert_allclose(
        viewport(ndc, state, (640, 480)).numpy(), [[85, 20, 0.45, 0.5], [60, 45, 0.2, 1]], rtol=1e-6
    )
    upper = State(viewport=(10, 20, 100, 50), clip_origin="upper_left", clip_depth="zero_to_one")
    found = viewport(ndc, upper, (640, 480)).numpy()[:, 1:3]
    np.testing.assert_allclose(found, [[70, 0.25], [45, -1]], rtol=1e-6)
    clip_positions = np.random.default_rng(3).uniform(-2, 2, (101, 4)).astype(np.float32)
    np.testing.assert_array_equal(divide(tensor(clip_positions)).numpy(), setup.divide(clip_positions))


@pytest.mark.parametrize("depth", ["negative_one_to_one", "zero_to_one"])
@pytest.mark.parametrize("origin", ["lower_left", "upper_left"])
def test_the_viewport_is_the_twins(origin, depth, path):
    ndc = np.random.default_rng(14).uniform(-3, 3, (301, 4)).astype(np.float32)
    for box, near_far in ((None, (0, 1)), ((-7, 20, 101, 50), (0.2, 0.6)), ((3, -4, 640, 1), (1.5, -1))):
        state = State(viewport=box, depth_range=near_far, clip_origin=origin, clip_depth=depth)
        found, expected = viewport(tensor(ndc), state, (64, 48)).numpy(), setup.viewport(ndc, state, (64, 48))
        np.testing.assert_array_equal(found[:, 3], ndc[:, 3])
        width, height = box[2:] if box else (64, 48)
        # The product, the sum, size and centre are rounded once each; none of them is above two sides and the corner.
        most = np.array([3 * width + 24, 3 * height + 24, 3], float)
        assert (np.abs(found[:, :3] - expected[:, :3]) <= 2.0**-23 * most).all()


@pytest.mark.parametrize("front_face", ["ccw", "cw"])
@pytest.mark.parametrize("origin", ["lower_left", "upper_left"])
def test_facing_and_culling_are_the_twins(front_face, origin, path):
    rng = np.random.default_rng(4)
    corners = np.concatenate(
        [
            np.array([[[0, 0], [8, 0], [0, 8]], [[0, 0], [0, 8], [8, 0]], [[0, 0], [4, 4], [8, 8]]]) * 256,
            rng.integers(0, 1 << 22, (50, 3, 2)),
            rng.integers(0, 4, (50, 3, 2)) + (1 << 21),
        ]
    )
    window = np.zeros((3 * len(corners), 4), np.float32)
    window[:, :2] = corners.reshape(-1, 2) / 256
    given = all_of(len(corners))
    for culled in (None, "back", "front", "front_and_back"):
        state = State(front_face=front_face, clip_origin=origin, cull=culled)
        front, kept = setup.cull(setup.area(corners), state)
        found = cull(given, tensor(window), state, 8)
        assert found.source.tolist() == np.nonzero(kept)[0].tolist()
        assert found.front.tolist() == front[kept].tolist()
        assert len(found) < len(corners)  # the one without an area


@pytest.mark.parametrize("kind", [0, 2, 3, 4, 6])
def test_edges_are_the_twins_bit_for_bit(kind, path):
    """Huge ones too, whose edge functions need more than 32 bits."""
    window, given, table = window_of(kind)
    profile = Profile(left=kind % 2 == 0, bottom=kind < 3)
    c = check_edges(find_edges(given, table, None, State(), profile), setup.snap(window), profile)
    assert (np.abs(c).max() > 1 << 32) == (kind == 3)


@pytest.mark.parametrize("size", [(64, 48), (50, 37)])
def test_pairs_are_the_twins(size, path):
    profile = Profile()
    for kind in (0, 3, 6):
        window, given, table = window_of(kind, 40, size=size)
        edges = find_edges(given, table, None, State(), profile)
        found = bin_primitives(edges, size, 8)
        corners = setup.snap(window)
        expected = setup.pairs(*setup.polygon_edges(corners, profile), corners.min(1), corners.max(1), size)
        tiles = found.y * found.across + found.x
        assert list(zip(tiles.tolist(), found.primitive.tolist(), strict=True)) == expected
        starts = np.searchsorted(tiles, np.arange(found.across * found.up + 1))
        np.testing.assert_array_equal(found.starts.numpy(), starts)


def test_slivers_are_binned_along_their_length(device, monkeypatch):
    """Memory grows with the tiles that are met, not with those of the box around a primitive."""
    count, size, tried = 100, (2048, 2048), []
    run = type(device.engine).run
    monkeypatch.setattr(
        type(device.engine), "run", lambda self, p: (tried.append((p.kernel, p.outputs[0][1].shape)), run(self, p))
    )
    x = np.linspace(3, 1000, count)
    window = np.zeros((count, 3, 4), np.float32)
    window[:, :, 0] = np.stack([x, x + 1000, x + 1000.7], -1)
    window[:, :, 1] = [5, 2040, 2041.3]
    edges = find_edges(all_of(count), tensor(window.reshape(-1, 4)), None, State(), Profile())
    pairs = bin_primitives(edges, size, 8)
    ((shape,),) = [[s for kernel, s in tried if kernel == "pipeline_bin"]]
    assert count * 255 <= len(pairs) <= shape[0] < count * 512  # 255 lines; the boxes have 32,000 tiles each
    assert shape[0] < 1.1 * len(pairs)


def test_polygon_offset_is_factor_times_slope_plus_units(path):
    rng = np.random.default_rng(5)
    window = rng.uniform(0, 1, (20, 3, 4)).astype(np.float32) * np.float32([64, 64, 1, 1])
    window[0, :, 2] = 0.1  # flat
    window[1, :, 2] = [0.25, 0.75, 0.5]
    table, given = tensor(window.reshape(-1, 4)), all_of(20)
    planes = find_planes(given, table, None, State(), 8)
    assert polygon_offset(planes, given, table, State()) is planes
    state = State(polygon_offset=(2, 8))
    found = polygon_offset(planes, given, table, state).numpy()
    np.testing.assert_array_equal(found[:, :11], planes.numpy()[:, :11])
    slope = planes.numpy()[:, 6:8].astype(float)
    np.testing.assert_allclose(found[:, 11], setup.offset(window[..., 2], slope, state), rtol=1e-6)
    assert found[0, 11] == 8 * 2.0**-27  # 0.1 has the exponent -4


@pytest.mark.parametrize("kind", range(8))  # the last kind has no area
def test_planes_are_the_twins_weights_and_depth(kind, path):
    """Of slivers and of huge triangles too: what float32 loses is relative to the weights at hand, not to the window."""
    size, profile = (64, 48), Profile()
    window, given, table = window_of(kind, 40, size=size)
    edges = find_edges(given, table, None, State(), profile)
    pairs = bin_primitives(edges, size, 8)
    rows = find_planes(given, table, None, State(), 8)
    planes = anchor(rows, pairs, given, table, State(), profile)
    anchors, checked = planes.anchors.numpy(), 0
    for i in range(0, len(pairs), 3):
        corners = window[pairs.primitive[i]].astype(float)
        u, v = corners[1, :2] - corners[0, :2], corners[2, :2] - corners[0, :2]
        area = u[0] * v[1] - u[1] * v[0]
        if abs(area) < 1e-3:  # in square pixels; float64 itself is not sure of their weights
            continue
        x, y = pairs.x[i] * 8 + 0.5, pairs.y[i] * 8 + 0.5
        weights = raster.weights(corners, x, y)
        # Each weight is a sum of six products over the area; a rounding of the largest is what float32 can lose.
        reach = np.abs(corners[:, :2] - [x, y]).max()
        loss = 2.0**-22 * (np.abs(weights).max() + 1) + 2.0**-22 * reach / 512 / abs(area)
        np.testing.assert_allclose(anchors[i, :3], weights, atol=loss, rtol=0)
        depth = weights @ corners[:, 2]
        assert anchors[i, 3] == pytest.approx(depth, rel=0, abs=3 * loss * np.abs(corners[:, 2]).max())
        slope = planes.slope[pairs.primitive[i]]
        across = [raster.weights(corners, x + dx, y + dy) - weights for dx, dy in ((1, 0), (0, 1))]
        np.testing.assert_allclose(slope[:3].T, across, rtol=1e-4, atol=1e-4 * np.abs(across).max())
        checked += 1
    assert checked > (3 if kind == 6 else 20)
