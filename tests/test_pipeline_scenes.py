"""Whole scenes: the emulator's picture, depth and stencil are the hardware's."""

import numpy as np
import pytest
from pipeline_rig import settle

from gpgpu_gl.pipeline.compare import compare
from gpgpu_gl.pipeline.scenes import scenes
from gpgpu_gl.pipeline.state import State

ALL = {scene.name: scene for scene in scenes()}


def test_there_are_thirty_scenes_of_different_names():
    assert len(ALL) == len(list(scenes())) >= 30


@pytest.mark.parametrize("name", ALL)
def test_a_scene_is_drawn_as_the_hardware_draws_it(device, name):
    scene = ALL[name]
    if device.version_code < 450 and any({"clip_origin", "clip_depth"} & set(draw.state) for draw in scene.draws):
        pytest.skip("clip control needs OpenGL 4.5")
    if device.version_code < 400 and any(isinstance(draw.state.get("blend"), tuple) for draw in scene.draws):
        pytest.skip("a blend function for each target needs OpenGL 4.0")
    trace, theirs = scene.emulate(), scene.rasterise()
    difference = compare(trace, theirs, State.of(**scene.draws[-1].state), scene.levels)
    settle()
    nothing = scene.name in ("depth never", "cull front_and_back")
    assert (theirs.colors[0].numpy() != theirs.colors[0].numpy()[0, 0]).any() != nothing, "the scene shows nothing"
    assert (difference.depth, difference.stencil) == (0, 0), difference
    assert difference.color <= scene.flips, difference
    if scene.levels:  # rounding of filtered texels is rare
        assert difference.allowed <= 0.001 * difference.where.size, difference
    elif device.software and scene.name not in ("blend in sRGB", "multisample with blending"):  # all else is exact
        assert difference.allowed == 0, difference


@pytest.mark.parametrize("name", ["filter linear", "filter linear mipmap linear", "wrap repeat"])
def test_eight_bit_textures_are_filtered_in_fixed_point(device, name):
    """Why scenes with 8-bit textures may be one level off: what a filter gives is a whole level, so it is off by one or not."""
    if not device.software:
        pytest.skip("measured on Mesa's software rasteriser")
    mine, theirs = (frame.color.numpy()[..., :3] * 255 for frame in (ALL[name].emulate(), ALL[name].rasterise()))
    settle()
    assert np.abs(theirs - np.round(theirs)).max() < 1e-3
    apart = np.abs(mine - theirs)
    assert ((apart < 1e-3) | (np.abs(apart - 1) < 1e-3)).all()
    assert 0 < (apart > 0.5).any(-1).sum() <= 0.001 * apart[..., 0].size
