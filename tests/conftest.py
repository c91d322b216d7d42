"""Shared fixtures: the device, the path to compute on, and the check that no GL object leaks."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from gpgpu_gl.gl import context
from gpgpu_gl.gl.context import Device, raw

# What can leak, by the call that knows its names.
KINDS = ("Texture", "Framebuffer", "Buffer", "Renderbuffer", "Program", "Shader", "VertexArray", "Query", "Sampler")
FREE_NAMES_IN_A_ROW = 64  # drivers hand out small names again, so that a longer gap is taken for the end


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "path" in metafunc.fixturenames:  # every path that the device offers, and no skipped test for the others
        metafunc.parametrize("path", context.device().paths, indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def device() -> Device:
    """The default device."""
    return context.device()


@pytest.fixture
def path(request: pytest.FixtureRequest, device: Device) -> Iterator[str]:
    """Runs the test once for each path of the device; the default device computes on that path meanwhile."""
    before = device.path
    device.path = request.param
    yield request.param
    device.path = before


@pytest.fixture(autouse=True)
def no_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that leaves GL objects behind, other than those in the caches of programs and framebuffers."""
    device = context.device()
    before = live_objects(device)
    yield
    if request.node.stash.get(FAILED, False) or device.closed:
        return  # the traceback keeps the failed test's tensors
    leaked = live_objects(device) - before
    if leaked:
        gc.collect()  # tensors in reference cycles
        leaked = live_objects(device) - before
    assert not leaked, f"GL objects left behind: {sorted(leaked)}"


def live_objects(device: Device) -> set[tuple[str, int]]:
    """(kind, name) of every GL object of the device, cached programs and framebuffers left out.

    Idle pooled textures are freed first.
    """
    gl = raw()
    cached: set[tuple[str, int]] = set()
    if "engine" in device.__dict__:
        device.engine.pool.trim()
        cached |= {("Framebuffer", framebuffer.glo) for framebuffer, _ in device.engine._framebuffers.values()}
        for program in device.engine.programs.cache.values():
            cached.add(("Program", program.program.glo))
            cached |= {("Shader", int(shader)) for shader in gl.glGetAttachedShaders(program.program.glo)}
            if program.vao is not None:
                cached.add(("VertexArray", program.vao.glo))
    found = set()
    for kind in KINDS:
        is_one = getattr(gl, f"glIs{kind}")
        name = last = 0
        while name - last < FREE_NAMES_IN_A_ROW:
            name += 1
            if is_one(name):
                last = name
                found.add((kind, name))
    return found - cached
