"""Shared fixtures: the device, the path to compute on, and the check that no GL object leaks."""

from __future__ import annotations

import ctypes
import gc
import importlib
from collections.abc import Iterator

import pytest

from gpgpu_gl.gl import context
from gpgpu_gl.gl.context import Device, raw

# What can leak, and the version of OpenGL whose calls make and delete it; "": glCreateProgram, since shaders share the
# names of programs.
KINDS = {
    "Texture": "GL_1_1", "Framebuffer": "GL_3_0", "Buffer": "GL_1_5", "Renderbuffer": "GL_3_0",
    "VertexArray": "GL_3_0", "Query": "GL_1_5", "Sampler": "GL_3_3", "Program": "", "Shader": "",
}  # fmt: skip
FREE_NAMES_IN_A_ROW = 64  # after so many free names the rest is taken to be free

Names = dict[str, int]


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


@pytest.fixture(params=context.device().paths)
def path(request: pytest.FixtureRequest, device: Device) -> Iterator[str]:
    """Runs the test once for each path of the device; the default device computes on that path meanwhile."""
    before = device.path
    device.path = request.param
    yield request.param
    device.path = before


@pytest.fixture
def poisoned(device: Device) -> Iterator[None]:
    """Fills every texture that is handed out, new or recycled, with NaN (or values as wrong), pad lanes too."""
    device.engine.pool.poison = True
    yield
    device.engine.pool.poison = False


@pytest.fixture(autouse=True)
def no_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that leaves a GL error or GL objects behind, other than those in the caches of programs and framebuffers."""
    device = context.device()
    since = new_names()
    before = live_objects(device, since)
    yield
    if request.node.stash.get(FAILED, False) or device.closed:
        device.ctx.clear_errors()
        return  # the traceback keeps the failed test's tensors
    device.check()
    leaked = live_objects(device, since) - before
    if leaked:
        gc.collect()  # tensors in reference cycles
        leaked = live_objects(device, since) - before
    assert not leaked, f"GL objects left behind: {sorted(leaked)}"


def new_names() -> Names:
    """For every kind of object the name that the next one gets: drivers count up, or take the smallest free name."""
    gl = raw()
    names = {}
    for kind, version in KINDS.items():
        if not version:
            names[kind] = int(gl.glCreateProgram())
            gl.glDeleteProgram(names[kind])
            continue
        # The unwrapped calls, which take their arguments as OpenGL does; imported after raw() has set PyOpenGL up.
        calls = importlib.import_module(f"OpenGL.raw.GL.VERSION.{version}")
        plural = "Queries" if kind == "Query" else kind + "s"
        name = (ctypes.c_uint * 1)()
        getattr(calls, f"glGen{plural}")(1, name)
        getattr(calls, f"glDelete{plural}")(1, name)
        names[kind] = int(name[0])
    return names


def live_objects(device: Device, since: Names) -> set[tuple[str, int]]:
    """(kind, name) of the GL objects of the device with names from `since` on, those in its caches left out.

    Idle pooled textures are freed first.
    """
    gl = raw()
    gl.glUseProgram(0)  # a released program stays until it is no longer current
    if "engine" in device.__dict__:
        device.engine.pool.trim()
    found = set()
    end = new_names()
    for kind in KINDS:
        is_one = getattr(gl, f"glIs{kind}")
        name = since[kind]
        last = max(name, end[kind])
        while name <= last + FREE_NAMES_IN_A_ROW:
            if is_one(name):
                last = max(name, last)
                found.add((kind, name))
            name += 1
    return found - kept_objects(device, {name for kind, name in found if kind == "Program"}) if found else found


def kept_objects(device: Device, programs: set[int]) -> set[tuple[str, int]]:
    """(kind, name) of what the device's caches hold, and of what moderngl itself leaks among these programs."""
    gl = raw()
    kept: set[tuple[str, int]] = set()
    for program in programs:
        if not gl.glGetProgramiv(program, gl.GL_LINK_STATUS):  # left behind when one of its shaders does not compile
            kept |= {("Program", program)} | {("Shader", int(shader)) for shader in gl.glGetAttachedShaders(program)}
    if "engine" in device.__dict__:
        kept |= {("Framebuffer", name) for name in device.engine.framebuffers.names()}
        for cached in device.engine.programs:
            kept.add(("Program", cached.program.glo))
            if cached.program.glo in programs:
                kept |= {("Shader", int(shader)) for shader in gl.glGetAttachedShaders(cached.program.glo)}
            if cached.vao is not None:
                kept.add(("VertexArray", cached.vao.glo))
    return kept
