"""Starting OpenGL: paths, software, failures that say what mends them, errors, threads, other contexts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import moderngl
import numpy as np
import pytest
from conftest import live_objects, new_names

import gpgpu_gl as gg
from gpgpu_gl.errors import ContextLost, DeviceError
from gpgpu_gl.gl import context, raw, remedies, start
from gpgpu_gl.gl.context import Device

ON_LINUX = sys.platform.startswith("linux")
ONLY_33 = {"MESA_GL_VERSION_OVERRIDE": "3.3", "MESA_GLSL_VERSION_OVERRIDE": "330"}


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh process, in which nothing of the package is imported yet."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)


def test_device_describes_itself(device: Device) -> None:
    assert device.renderer
    assert device.vendor
    assert device.version_code >= 330
    assert device.paths[-1] == "fragment"
    assert device.path in device.paths
    assert device.max_texture_size >= 1024  # what OpenGL 3.3 guarantees
    assert device.limits["max_draw_buffers"] >= 8  # likewise
    assert device.renderer in repr(device)
    device.check()


@pytest.mark.gl33
def test_compute_needs_opengl_4_3(device: Device) -> None:
    assert ("compute" in device.paths) == (device.version_code >= 430)


@pytest.mark.parametrize(
    ("renderer", "software"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits)", True),
        ("softpipe", True),
        ("Software Rasterizer", True),
        ("Google SwiftShader", True),
        ("Microsoft Basic Render Driver", True),
        ("GDI Generic", True),
        ("Apple Software Renderer", True),
        ("zink (llvmpipe (LLVM 17.0.6, 256 bits))", True),
        ("Mesa Intel(R) UHD Graphics 620 (KBL GT2)", False),
        ("AMD Radeon RX 580 Series (radeonsi, polaris10)", False),
        ("NVIDIA GeForce GTX 1060/PCIe/SSE2", False),
        ("Apple M1", False),
        ("V3D 4.2", False),
    ],
)
def test_software_is_known_by_the_renderer(renderer: str, software: bool) -> None:
    assert Device(StubContext(renderer), hosted=True).software == software


class StubContext:
    """What Device asks of a moderngl context, with answers of the test's choice."""

    def __init__(self, renderer: str = "stub", version_code: int = 460, errors: tuple[str, ...] = ()) -> None:
        self.version_code = version_code
        self.info = {
            "GL_VENDOR": "stub", "GL_RENDERER": renderer, "GL_VERSION": "4.6", "GL_MAX_TEXTURE_SIZE": 1024,
        }  # fmt: skip
        self.errors = list(errors)
        self.extensions: set[str] = set()

    @property
    def error(self) -> str:
        return self.errors.pop(0) if self.errors else "GL_NO_ERROR"


def test_a_device_of_opengl_3_3_has_the_fragment_path_only() -> None:
    device = Device(StubContext(version_code=330), hosted=True)
    assert device.paths == ("fragment",)
    assert device.path == "fragment"
    with pytest.raises(DeviceError, match=r"compute path needs OpenGL 4\.3.*offers 3\.3.*path fragment"):
        device.path = "compute"
    assert device.path == "fragment"


def test_older_than_3_3_is_refused() -> None:
    with pytest.raises(DeviceError, match=r"OpenGL 3\.3 is needed.*offers 2\.1"):
        Device(StubContext(version_code=210), hosted=True)


def test_an_unknown_path_is_refused() -> None:
    with pytest.raises(DeviceError, match="no path 'vulkan'.*compute or fragment"):
        Device(StubContext(), hosted=True, path="vulkan")


def test_the_variable_chooses_the_path_unless_the_caller_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(context.PATH_VARIABLE, "fragment")
    assert Device(StubContext(), hosted=True).path == "fragment"
    assert Device(StubContext(), hosted=True, path="compute").path == "compute"
    monkeypatch.setenv(context.PATH_VARIABLE, "typo")
    with pytest.raises(DeviceError, match="typo"):
        Device(StubContext(), hosted=True)


@pytest.mark.skipif(not ON_LINUX, reason="Mesa's version override")
def test_mesa_limited_to_3_3_offers_the_fragment_path_alone(device: Device) -> None:
    if "Mesa" not in device.version:
        pytest.skip("not Mesa")
    result = python("from gpgpu_gl.gl.context import device; d = device(); print(d.version_code, d.paths)", **ONLY_33)
    assert result.stdout.strip() == "330 ('fragment',)", result.stderr


@pytest.mark.skipif(not ON_LINUX, reason="other systems have no EGL")
def test_offscreen_work_imports_neither_glfw_nor_pyopengl() -> None:
    result = python(
        "import sys; from gpgpu_gl.gl.context import device; d = device(); d.check()\n"
        "print(d.how, 'glfw' in sys.modules, 'OpenGL' in sys.modules)"
    )
    assert result.stdout.strip() == "egl False False", result.stderr


# --- failures -----------------------------------------------------------------------------------


@pytest.mark.skipif(not ON_LINUX, reason="the ways of Linux")
def test_a_failed_start_names_every_way_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    libraries = (("libEGL-none.so.1", "libGL.so.1"), ("libEGL-none.so", "libGL.so.1"))
    monkeypatch.setattr(start, "EGL_LIBRARIES", libraries)
    with pytest.warns(RuntimeWarning, match="was current"), pytest.raises(DeviceError) as caught:
        start.start()
    message = str(caught.value)
    for egl, _ in libraries:
        assert f"{egl} not loaded" in message
    assert "GLFW hidden window: " in message
    assert message.endswith(remedies.no_opengl())


@pytest.mark.skipif(not ON_LINUX, reason="libraries of Linux")
def test_a_missing_symlink_of_a_dev_package_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    """ctypes.util.find_library is what would look for libGL.so, or ask a compiler that is not there."""
    result = python(
        "import ctypes.util\n"
        "def none(name): raise AssertionError('looked for ' + name)\n"
        "ctypes.util.find_library = none\n"
        "from gpgpu_gl.gl.context import device; print(device().how)"
    )
    assert result.stdout.strip() == "egl", result.stderr


@pytest.mark.skipif(not ON_LINUX, reason="EGL")
def test_a_way_that_fails_leads_to_the_next(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(failures: start.Failures) -> None:
        raise OSError("driver is broken")

    monkeypatch.setitem(start.WAYS, "glfw", broken)
    with pytest.warns(RuntimeWarning, match="was current"):
        ctx, how = start.start(("glfw", "egl"))
    assert how == "egl"
    ctx.release()
    context.use(device)


@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="needs Xvfb (Debian: apt-get install xvfb)")
def test_a_hidden_window_gives_the_newest_opengl(device: Device) -> None:
    code = (
        "from gpgpu_gl.gl.start import start; from gpgpu_gl.gl.context import Device\n"
        "ctx, how = start(['glfw']); d = Device(ctx, how=how); d.check(); print(how, d.paths); d.close()\n"
        "ctx, how = start(['egl']); print(how)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["xvfb-run", "-a", sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert result.stdout.splitlines() == [f"glfw {device.paths}", "egl"], result.stderr


@pytest.mark.parametrize(
    ("os_release", "family"),
    [
        ('ID=debian\nVERSION_ID="12"', "debian"),
        ('ID=ubuntu\nID_LIKE=debian', "ubuntu"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"', "ubuntu"),
        ("ID=raspbian\nID_LIKE=debian", "debian"),
        ("ID=fedora", "fedora"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"', "rhel"),
        ("ID=manjaro\nID_LIKE=arch", "arch"),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"', "suse"),
        ("ID=nixos", ""),
    ],
)
def test_the_family_of_a_distribution(tmp_path: Path, os_release: str, family: str) -> None:
    file = tmp_path / "os-release"
    file.write_text(os_release)
    assert remedies.os_family(str(file)) == family


@pytest.mark.parametrize(
    ("platform", "words"), [("darwin", "logged in"), ("win32", "driver"), ("linux", "libEGL|libegl1|mesa")]
)
def test_every_system_has_a_remedy(monkeypatch: pytest.MonkeyPatch, platform: str, words: str) -> None:
    monkeypatch.setattr(remedies.sys, "platform", platform)
    assert any(word in remedies.no_opengl() for word in words.split("|"))


def test_an_unknown_linux_gets_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remedies.sys, "platform", "linux")
    monkeypatch.setattr(remedies, "os_family", lambda: "")
    text = remedies.no_opengl()
    assert "apt-get install libegl1 libgl1 libgl1-mesa-dri" in text
    assert "dnf install" in text
    assert "pacman -S" in text


# --- errors, threads, other contexts ------------------------------------------------------------


def test_an_opengl_error_is_raised_once(device: Device) -> None:
    device.ctx.enable_direct(0x1234)  # no such capability
    with pytest.raises(DeviceError, match="GL_INVALID_ENUM"):
        device.check()
    device.check()


def test_a_lost_context_is_told_from_an_error() -> None:
    device = Device(StubContext(errors=("GL_CONTEXT_LOST",) * 100), hosted=True)
    device.__dict__["_tells_of_resets"] = False
    with pytest.raises(ContextLost, match="checkpoint"):
        device.check()


def test_a_reset_is_a_lost_context(monkeypatch: pytest.MonkeyPatch) -> None:
    class Robust:
        GL_RESET_NOTIFICATION_STRATEGY = 0x8256
        status = 0

        def glGetIntegerv(self, name: int) -> int:
            return 0x8252  # GL_LOSE_CONTEXT_ON_RESET

        def glGetGraphicsResetStatus(self) -> int:
            return self.status

    robust = Robust()
    monkeypatch.setattr(context, "raw", lambda: robust)
    device = Device(StubContext(), hosted=True)
    device.check()
    robust.status = 0x8253  # GL_GUILTY_CONTEXT_RESET
    with pytest.raises(ContextLost):
        device.check()


def test_another_thread_is_refused(device: Device) -> None:
    caught: list[BaseException] = []

    def work() -> None:
        try:
            device.check_thread()
        except DeviceError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(caught) == 1
    assert "thread" in str(caught[0])
    device.check_thread()


@pytest.mark.skipif(not ON_LINUX, reason="EGL")
def test_a_context_that_someone_else_made_current_is_noticed(device: Device) -> None:
    other = moderngl.create_context(standalone=True, require=330, backend="egl", libegl="libEGL.so.1", libgl="libGL.so.1")
    with pytest.raises(DeviceError, match="Another OpenGL context"):
        device.check()
    with device.ctx:
        device.check()
    other.release()
    context.use(device)
    device.check()


@pytest.mark.skipif(not ON_LINUX, reason="EGL")
def test_a_closed_device_says_so_and_a_new_one_starts() -> None:
    result = python(
        "from gpgpu_gl.gl.context import device\n"
        "from gpgpu_gl.errors import DeviceError\n"
        "d = device('fragment'); d.close(); d.close()\n"
        "try: d.check()\n"
        "except DeviceError as error: print(error)\n"
        "e = device(); e.check(); print(e is d, e.path == e.paths[0])"
    )
    lines = result.stdout.splitlines()
    assert "was closed" in lines[0], result.stderr
    assert lines[1] == "False True"


def test_a_context_that_is_not_current_cannot_be_handed_over() -> None:
    stub = StubContext()
    stub.info["GL_RENDERER"] = None  # what glGetString answers without a current context
    with pytest.raises(DeviceError, match="not current"):
        context.use(stub)


def test_pyopengl_knows_the_context(device: Device) -> None:
    gl = raw.raw()
    assert gl.glGetString(gl.GL_RENDERER).decode() == device.renderer


@pytest.mark.skipif(not ON_LINUX, reason="EGL")
def test_processes_started_from_here_choose_their_own_window_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYOPENGL_PLATFORM", raising=False)
    result = python(
        "import os; from gpgpu_gl.gl.context import device, raw; device(); raw()\n"
        "import OpenGL.platform; print(type(OpenGL.platform.PLATFORM).__name__, 'PYOPENGL_PLATFORM' in os.environ)"
    )
    assert result.stdout.strip() == "EGLPlatform False", result.stderr


@pytest.mark.skipif(not ON_LINUX, reason="EGL and GLX")
def test_pyopengl_imported_for_another_window_system_serves_all_the_same() -> None:
    """An application may have imported it for its X11 window; PyOpenGL then misses calls that were extensions once."""
    result = python(
        "import OpenGL.GL\n"
        "from gpgpu_gl.gl.context import device; from gpgpu_gl.gl.state import saved_state\n"
        "d = device()\n"
        "with saved_state(d.ctx): pass\n"
        "d.check(); import OpenGL.platform; print(d.how, type(OpenGL.platform.PLATFORM).__name__)",
        PYOPENGL_PLATFORM="glx",
    )
    assert result.stdout.strip() == "egl GLXPlatform", result.stderr


def test_driver_functions_beyond_moderngl_are_found(device: Device) -> None:
    gl = raw.raw()
    assert bool(gl.glFramebufferTextureLayer)
    assert bool(gl.glClipControl) >= (device.version_code >= 450)  # older versions may have it as an extension


def test_framebuffers_that_are_released_while_bound_leave_no_error(device: Device, path: str) -> None:
    """moderngl would bind the deleted name again with the next framebuffer that it makes."""
    a = gg.tensor(np.ones((37, 19), np.float32))
    for _ in range(2):
        assert float((a @ a.T).sum().numpy()) == 37 * 37 * 19  # small integers: exact
        device.engine.pool.trim()
        device.check()


def test_a_leak_is_seen(device: Device) -> None:
    since = new_names()
    before = live_objects(device, since)
    buffer = device.ctx.buffer(b"left")
    texture = device.ctx.texture((2, 2), 4)
    target = device.ctx.framebuffer([texture])
    left = {("Buffer", buffer.glo), ("Texture", texture.glo), ("Framebuffer", target.glo)}
    assert live_objects(device, since) - before == left
    for thing in (target, texture, buffer):
        thing.release()
    assert live_objects(device, since) == before
