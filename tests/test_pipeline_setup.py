"""The stages before rasterisation, each against its twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_twin import assembly, clipping, raster

from gpgpu_gl.pipeline.assemble import Primitives, assemble
from gpgpu_gl.pipeline.clip import clip
from gpgpu_gl.pipeline.cull import area, cull, facing
from gpgpu_gl.pipeline.fetch import RESTART, Fetched
from gpgpu_gl.pipeline.offset import polygon_offset
from gpgpu_gl.pipeline.project import divide, viewport
from gpgpu_gl.pipeline.setup import triangle_planes
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.pipeline.vertex import Vertices
from gpgpu_gl.pipeline.wrap import Slot

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


def vertices(clip_position, floats=None, distances=None):
    n = len(clip_position)
    floats = np.zeros((n, 0, 4), np.float32) if floats is None else floats.astype(np.float32)
    distances = np.zeros((n, 0), np.float32) if distances is None else distances.astype(np.float32)
    return Vertices(clip_position.astype(np.float32), floats, np.zeros((n, 0, 4), np.int32), distances)


def all_of(n, corners=3):
    rows = np.arange(n * corners).reshape(n, corners)
    return Primitives(rows, rows[:, -1], np.arange(n))


def polygon_area(points):
    """Area of a polygon after the divide, which does not depend on how it is cut into triangles."""
    p = np.array([row[:2] / row[3] for row in points])
    return 0.5 * abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(p, np.roll(p, -1, 0), strict=True)))


def test_clipped_triangles_cover_the_twins_polygon_with_linear_outputs():
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


def test_the_viewport_follows_the_specification():
    ndc = divide(np.array([[1, -2, 0.5, 2], [0, 0, -1, 1]], np.float32))
    np.testing.assert_allclose(ndc, [[0.5, -1, 0.25, 0.5], [0, 0, -1, 1]])
    state = State(viewport=(10, 20, 100, 50), depth_range=(0.2, 0.6))
    np.testing.assert_allclose(viewport(ndc, state, (640, 480)), [[85, 20, 0.45, 0.5], [60, 45, 0.2, 1]], rtol=1e-6)
    upper = State(viewport=(10, 20, 100, 50), clip_origin="upper_left", clip_depth="zero_to_one")
    np.testing.assert_allclose(viewport(ndc, upper, (640, 480))[:, 1:3], [[70, 0.25], [45, -1]], rtol=1e-6)


@pytest.mark.parametrize("front_face", ["ccw", "cw"])
@pytest.mark.parametrize("origin", ["lower_left", "upper_left"])
def test_facing_and_culling(front_face, origin):
    corners = np.array([[[0, 0], [8, 0], [0, 8]], [[0, 0], [0, 8], [8, 0]], [[0, 0], [4, 4], [8, 8]]])
    areas = area(corners)
    assert areas.tolist() == [64, -64, 0]
    state = State(front_face=front_face, clip_origin=origin)
    front = facing(areas, state)
    first = (front_face == "ccw") == (origin == "lower_left")
    assert front[:2].tolist() == [first, not first]
    kept = {c: cull(areas, front, State(cull=c)).tolist() for c in (None, "back", "front", "front_and_back")}
    assert kept[None] == [True, True, False]
    assert kept["back"] == [first, not first, False]
    assert kept["front"] == [not first, first, False]
    assert not any(kept["front_and_back"])


def test_polygon_offset_is_factor_times_slope_plus_units():
    depth = np.array([[0.25, 0.75, 0.5], [0.1, 0.1, 0.1]])
    slope = np.array([[0.01, -0.03], [0.0, 0.0]])
    # The largest depths, 0.75 and 0.1, have the exponents -1 and -4: the least step is 2**-24 and 2**-27.
    expected = [2 * 0.03 + 8 * 2.0**-24, 8 * 2.0**-27]
    np.testing.assert_allclose(polygon_offset(depth, slope, State(polygon_offset=(2, 8))), expected, rtol=1e-12)
    assert polygon_offset(depth, slope, State()).tolist() == [0, 0]


def test_planes_are_the_twins_weights_and_depth():
    rng = np.random.default_rng(2)
    window = rng.uniform(0, 1, (20, 3, 4)).astype(np.float32) * np.float32([64, 64, 1, 1])
    planes = triangle_planes(window)
    for i in range(20):
        x, y = rng.uniform(0, 64, 2)
        found = planes.value[i] + planes.slope[i] @ (np.array([x, y]) - planes.anchor[i])
        weights = raster.weights(window[i], x, y)
        np.testing.assert_allclose(found[:3], weights, rtol=1e-9, atol=1e-9)
        assert found[3] == pytest.approx(weights @ window[i, :, 2].astype(float), rel=1e-9, abs=1e-9)
