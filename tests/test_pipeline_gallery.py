"""Shaders of the kinds that tutorials have run unmodified in the emulator and look as on the hardware."""

import pytest
from pipeline_rig import settle

from gpgpu_gl.pipeline.compare import compare
from gpgpu_gl.pipeline.gallery import GALLERY
from gpgpu_gl.pipeline.state import State

pytestmark = pytest.mark.gl33


def test_there_are_ten_kinds():
    assert len(GALLERY) >= 10


@pytest.mark.parametrize("name", GALLERY)
def test_a_shader_looks_as_on_the_hardware(name):
    scene = GALLERY[name]()
    trace, theirs = scene.emulate(), scene.rasterise()
    difference = compare(trace, theirs, State.of(**scene.draws[-1].state), scene.levels)
    settle()
    picture = theirs.color.numpy()[..., :3]
    assert picture.std() > 0.05, "the picture shows something"
    assert (difference.depth, difference.stencil) == (0, 0), difference
    assert difference.color <= scene.flips, difference
    if scene.levels:  # rounding of filtered texels is rare
        assert difference.allowed <= 0.002 * difference.where.size, difference
