"""Coverage equals the hardware's, sample for sample, and the twin's; shared edges once; points and lines."""

import dataclasses

import numpy as np
import pytest
from pipeline_rig import CORNERS, FRAGMENT, KINDS, VERTEX, Rasteriser, emulated, random_primitives, settle
from pipeline_twin import raster
from render_help import mesa

from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.bins import bin_primitives
from gpgpu_gl.pipeline.coverage import pictures, rasterise
from gpgpu_gl.pipeline.edges import find_edges
from gpgpu_gl.pipeline.pipeline import Pipeline
from gpgpu_gl.pipeline.probe import Profile, probe
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import tensor

pytestmark = pytest.mark.gl33


def differing(device, seed, count, mode, size, samples=1, **options):
    """Pixels whose coverage differs from the hardware's by kind, and the pixels that the hardware drew."""
    positions = random_primitives(seed, count, mode, size)
    mine, owners = emulated(positions, mode, size, samples, **options)
    wrong, drawn = dict.fromkeys(KINDS, 0), 0
    with Rasteriser(device.ctx, mode, size, samples, options.get("point_size", 1.0)) as rasteriser:
        for i, corners in enumerate(positions):
            found = rasteriser(corners)
            own = owners[i] if samples > 1 else mine[i, 0] > 0
            wrong[KINDS[i % len(KINDS)]] += int((own != (found if samples > 1 else found > 0)).sum())
            drawn += int((found > 0).sum())
            assert mine[i].max(initial=0) <= 1, "a sample covered twice by the pieces of one primitive"
    return wrong, drawn


def test_the_probe_explains_this_device(device):
    profile = probe()
    assert profile.known
    if device.software:  # Mesa's: bottom-left rule, 8 bits; version 25.0 does points, and ends of lines, as OpenGL asks
        new = mesa(device.version) >= (25, 0)
        assert profile == dataclasses.replace(Profile(), cuts_points=not new, points_ahead=not new, exact_ends=new, halves_even=new)


@pytest.mark.parametrize("size", [(64, 64), (50, 37)])
def test_triangles_cover_what_the_hardware_covers(device, path, size):
    wrong, drawn = differing(device, 1, 450, "triangles", size)
    assert drawn > 40_000
    assert sum(wrong.values()) == 0, wrong


def needs_sample_masks(device):
    if device.version_code < 400:
        pytest.skip("gl_SampleMaskIn, which tells the samples apart, needs OpenGL 4.0")


def test_multisample_triangles_cover_what_the_hardware_covers(device, path):
    needs_sample_masks(device)
    wrong, drawn = differing(device, 2, 270, "triangles", (48, 40), samples=4)
    assert drawn > 20_000
    assert sum(wrong.values()) == 0, wrong


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 4])
def test_twenty_thousand_triangles_cover_what_the_hardware_covers(device, samples):
    if samples > 1:
        needs_sample_masks(device)
    total, drawn = 0, 0
    for seed in range(20):
        wrong, some = differing(device, 100 + seed, 1000, "triangles", (64, 64), samples)
        total, drawn = total + sum(wrong.values()), drawn + some
    assert drawn > 1_500_000
    assert total == 0


@pytest.mark.parametrize("point_size", [1.0, 2.0, 3.5, 7.0])
def test_points_cover_what_the_hardware_covers(device, point_size):
    wrong, drawn = differing(device, 3, 270, "points", (48, 40), point_size=point_size)
    assert drawn > 50
    assert sum(wrong.values()) == 0, wrong


def test_lines_cover_what_the_hardware_covers(device, path):
    wrong, drawn = differing(device, 4, 900, "lines", (64, 64))
    assert drawn > 12_000
    assert sum(wrong.values()) == 0, wrong


def test_lines_between_half_pixels_cover_what_the_hardware_covers(device):
    """Where ends, and many centres on the way, tie: OpenGL leaves those to the device, and the probe finds its choice."""
    places = np.random.default_rng(12).integers(0, 129, (1500, 2, 2)) / 2
    positions = np.zeros((1500, 2, 4), np.float32)
    positions[..., :2], positions[..., 3] = places / 32 - 1, 1
    mine, _ = emulated(positions, "lines", (64, 64))
    wrong, drawn = 0, 0
    with Rasteriser(device.ctx, "lines", (64, 64)) as rasteriser:
        for i, corners in enumerate(positions):
            found = rasteriser(corners) > 0
            wrong, drawn = wrong + int((found != (mine[i, 0] > 0)).sum()), drawn + int(found.sum())
    assert drawn > 40_000
    assert wrong == 0


SIDE, CELL = 512, 16  # a target of cells with one figure each


def places(kind, corners):
    """(figures, corners, 2) positions in a square of 8 pixels, one figure for every cell."""
    rng, shape = np.random.default_rng(13), ((SIDE // CELL) ** 2, corners, 2)
    near = rng.integers(0, 17, shape) / 2
    if kind == "on centres and borders":
        return near
    if kind == "halfway between subpixels":
        return near + rng.choice([-1, 0, 1], shape) / 512
    if kind == "fine":
        return np.where(rng.random((*shape[:2], 1)) < 0.5, near, rng.integers(0, 8 * 512, shape) / 512)
    return near[:, :1] + rng.uniform(-0.7, 0.7, shape)  # short


FIGURES = [("triangles", 1, 1.0), ("points", 1, 1.0), ("points", 1, 2.0), ("lines", 1, 1.0), ("lines", 4, 1.0), ("points", 4, 3.0)]


@pytest.mark.parametrize("kind", ["on centres and borders", "halfway between subpixels", "fine", "short"])
@pytest.mark.parametrize("origin", ["lower_left", "upper_left"])
@pytest.mark.parametrize(("mode", "samples", "point_size"), FIGURES)
def test_ties_go_where_the_hardware_lets_them_go(device, mode, samples, point_size, origin, kind):
    """Where centres lie on sides and corners halfway between subpixels, under both clip origins."""
    if origin == "upper_left" and device.version_code < 450:
        pytest.skip("glClipControl needs OpenGL 4.5")
    corners = CORNERS[mode]
    figures = places(kind, corners)
    number = np.arange(len(figures))
    cells = np.stack([number % (SIDE // CELL), number // (SIDE // CELL)], -1)[:, None] * CELL + 4
    positions = np.zeros((len(figures) * corners, 4), np.float32)
    positions[:, :2], positions[:, 3] = ((figures + cells) / (SIDE / 2) - 1).reshape(-1, 2), 1
    if origin == "upper_left":
        positions[:, 1] *= -1
    with Pipeline(VERTEX, FRAGMENT, mode=mode, samples=samples, point_size=point_size, clip_origin=origin) as pipeline:
        mine = pipeline.run({"p": positions}, size=(SIDE, SIDE)).color.numpy()[..., 0]
        theirs = pipeline.run_hardware({"p": positions}, size=(SIDE, SIDE)).color.numpy()[..., 0]
    settle()
    assert (theirs > 0).sum() > 100
    np.testing.assert_array_equal(mine, theirs)


def test_multisample_lines_differ_only_where_the_hardware_leaves_pixels_out(device):
    """Mesa's software rasteriser: at the last pixels of the target and of tiles of 64 pixels."""
    needs_sample_masks(device)
    size, different, drawn = (130, 70), [], 0
    positions = random_primitives(21, 450, "lines", size)
    _, mine = emulated(positions, "lines", size, 4)
    with Rasteriser(device.ctx, "lines", size, 4) as rasteriser:
        for i, corners in enumerate(positions):
            found = rasteriser(corners)
            drawn += int((found > 0).sum())
            different += [(x, y, found[y, x]) for y, x in np.argwhere(found != mine[i])]
    assert drawn > 15_000
    assert len(different) <= 8
    assert all(x in (63, 127, 129) or y in (63, 69) for x, y, _ in different)
    assert all(value == 0 for _, _, value in different)


def picture(corners, size, profile, samples=1):
    n = len(corners)
    window = np.zeros((3 * n, 4), np.float32)
    window[:, :2] = corners.reshape(-1, 2) / (1 << profile.subpixel_bits)
    primitives = Primitives.of(np.arange(3 * n).reshape(n, 3), np.arange(n), np.arange(n))
    edges = find_edges(primitives, tensor(window), None, State(), profile)
    pairs = bin_primitives(edges, size, profile.subpixel_bits)
    words = rasterise(pairs, edges, profile, samples)
    return pictures(words.numpy(), pairs, size, samples)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("bottom", [True, False])
def test_coverage_equals_the_twin_under_every_tie_rule(path, left, bottom):
    rng, profile, size = np.random.default_rng(5), Profile(left=left, bottom=bottom), (40, 24)
    corners = rng.integers(0, [40 * 256 + 1, 24 * 256 + 1], (60, 3, 2))
    corners[::2] = corners[::2] // 128 * 128  # on centres and pixel edges
    areas = [np.linalg.det(np.c_[c, np.ones(3)]) for c in corners]
    corners = corners[np.abs(areas) > 0.5]
    expected = sum(raster.coverage(c, size, left=left, bottom=bottom).astype(int) for c in corners)
    assert expected.max() > 3
    np.testing.assert_array_equal(picture(corners, size, profile)[0], expected)


def test_coverage_of_samples_equals_the_twin(path):
    rng, profile, size = np.random.default_rng(6), Profile(), (24, 24)
    corners = rng.integers(0, 24 * 256, (30, 3, 2))
    for s, offset in enumerate(profile.offsets(4)):
        expected = sum(raster.coverage(c, size, offset).astype(int) for c in corners)
        np.testing.assert_array_equal(picture(corners, size, profile, 4)[s], expected)


def test_the_largest_triangle_is_exact(path):
    """Edge functions near the largest side, where products take 42 bits."""
    profile, size = Profile(), (8192, 8)
    corners = np.array([[[1, 3], [8192 * 256 - 1, 5 * 256 + 77], [777, 8 * 256]], [[0, 0], [8192 * 256, 1], [8192 * 256, 2048]]])
    expected = sum(raster.coverage(c, size).astype(int) for c in corners)
    np.testing.assert_array_equal(picture(corners, size, profile)[0], expected)


@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_a_fan_over_the_screen_draws_each_sample_once(device, path, scale):
    """Watertight: also where clipping at the planes makes new vertices."""
    rng = np.random.default_rng(7)
    count = 64
    angle = np.sort(rng.uniform(0, 2 * np.pi, count))
    middle = rng.uniform(-0.3, 0.3, 2)
    ring = middle + np.stack([np.cos(angle), np.sin(angle)], -1) * rng.uniform(2.5, 4, (count, 1)) * scale
    w = rng.uniform(0.5, 2, count)
    clip = lambda xy, w: np.append(xy * w, [0.0, w])  # noqa: E731
    center = clip(middle, 1.3)
    corners = [clip(p, k) for p, k in zip(ring, w, strict=True)]
    fan = np.array([[center, corners[i], corners[(i + 1) % count]] for i in range(count)], np.float32)
    for samples in (1, 4):
        total = emulated(fan, "triangles", (64, 64), samples)[0].sum(0)
        assert (total == 1).all()


def test_moving_by_whole_pixels_moves_the_fragments(path):
    rng, profile = np.random.default_rng(8), Profile()
    corners = rng.integers(0, 20 * 256, (40, 3, 2))
    still = picture(corners, (32, 32), profile)[0]
    moved = picture(corners + np.array([5, 9]) * 256, (32, 32), profile)[0]
    np.testing.assert_array_equal(moved[9:, 5:], still[:-9, :-5])
