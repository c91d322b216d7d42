"""The emulator's own kernels are valid in GLSL 3.30 and in GLSL ES 3.00, by Khronos's reference compiler."""

import pytest
from pipeline_rig import settle

from gpgpu_gl.gl.programs import sources
from gpgpu_gl.pipeline.scenes import scenes
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
