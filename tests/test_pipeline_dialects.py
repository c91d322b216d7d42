"""The emulator's own kernels are valid in GLSL 3.30 and in GLSL ES 3.00; ES shaders keep ES's default precisions."""

import numpy as np
import pytest
from pipeline_rig import settle

from gpgpu_gl.gl.programs import sources
from gpgpu_gl.pipeline.pipeline import Pipeline
from gpgpu_gl.pipeline.scenes import scenes
from gpgpu_gl.pipeline.texture import Texture
from tools.check_shaders import Case, find_validator, validate

NAMES = (
    "depth less", "stencil of two faces", "blend separate", "blend in sRGB", "several targets", "multisample",
    "depth equal", "points", "linear in the window", "scissor",
)  # fmt: skip
KERNELS = {f"pipeline_{name}" for name in ("coverage", "fragments", "interpolate", "early", "merge")}


def test_kernels_are_valid_in_both_dialects(device):
    validator = find_validator()
    if validator is None:
        pytest.fail("no glslangValidator: pip install -e '.[dev]', or apt install glslang-tools")
    before, device.path = device.path, "fragment"
    try:
        for scene in scenes():
            if scene.name in NAMES:
                scene.emulate()
    finally:
        device.path = before
    settle()
    keys = [(kernel, defines) for kernel, path, defines in device.engine.programs.cache if path == "fragment" and kernel in KERNELS]
    assert {kernel for kernel, _ in keys} == KERNELS
    assert len(keys) > 12
    cases = [
        Case(f"{kernel} [{dialect}]", stage, text)
        for kernel, defines in keys
        for dialect in ("330", "es300")
        for stage, text in sources(kernel, dict(defines), "fragment", dialect).items()
    ]
    assert [str(problem) for problem in validate(cases, validator)] == []


WHOLE_SCREEN = """#version 300 es
in vec2 corner;
void main() { gl_Position = vec4(corner, 0.0, 1.0); }
"""
GREYS = """#version 300 es
precision highp float;
uniform {} sampler2D greys;
out vec4 color;
void main() {{ color = texelFetch(greys, ivec2(gl_FragCoord.xy), 0); }}
"""


@pytest.mark.parametrize("precision", ["", "lowp", "mediump", "highp"])
def test_es_shaders_keep_the_precision_of_their_samplers(device, precision):
    """Of sampler2D it is lowp where the shader says nothing, and devices round what such samplers give."""
    greys = np.repeat(np.arange(256, dtype=np.uint8).reshape(2, 128, 1), 4, -1)
    greys[..., 3] = 255
    uniforms = {"greys": Texture(greys, "nearest", "nearest")}
    given = {"attributes": {"corner": [[-1, -1], [3, -1], [-1, 3]]}, "uniforms": uniforms}
    with Pipeline(WHOLE_SCREEN, GREYS.format(precision)) as pipeline:
        mine = pipeline.run(size=(128, 2), **given).color.numpy()
        theirs = pipeline.run_hardware(size=(128, 2), **given).color.numpy()
    settle()
    assert len(np.unique(theirs[..., 0])) == 256
    np.testing.assert_array_equal(mine, theirs)


POINT = """#version 300 es
in vec2 corner;
void main() { gl_Position = vec4(corner, 0.0, 1.0); gl_PointSize = 37.0; }
"""
SQUARED = """#version 300 es
precision highp float;
out vec4 color;
void main() { color = vec4(gl_PointCoord * gl_PointCoord * 3.0 + 0.1, 0.0, 1.0); }
"""


def test_the_point_coordinate_of_es_has_its_precision(device):
    """It is mediump there, and devices compute with fewer bits from it."""
    with Pipeline(POINT, SQUARED, mode="points", point_size=None) as pipeline:
        mine = pipeline.run({"corner": [[0.03, 0.11]]}, size=(64, 64)).color.numpy()
        theirs = pipeline.run_hardware({"corner": [[0.03, 0.11]]}, size=(64, 64)).color.numpy()
    settle()
    assert (theirs[..., 3] > 0).sum() > 1000
    np.testing.assert_allclose(mine, theirs, atol=1e-5)
