"""Ways to start OpenGL without a visible window; the first that works gives the context."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import moderngl

from gpgpu_gl.errors import DeviceError
from gpgpu_gl.gl import remedies
from gpgpu_gl.gl.raw import NO_CONTEXT, current_context, knows_current

# Newest first, because some drivers give exactly the version asked for, and compute shaders need 4.3.
VERSIONS = (460, 450, 430, 410, 330)

# (libEGL, libGL): sonames first, since the plain names belong to -dev packages; libOpenGL is GL without X11.
EGL_LIBRARIES = (
    ("libEGL.so.1", "libGL.so.1"),
    ("libEGL.so.1", "libOpenGL.so.0"),
    ("libEGL.so", "libGL.so"),
)
_MOST_EGL_DEVICES = 16

Failures = list[tuple[str, str]]  # (way tried, why it did not work)


def start(ways: Sequence[str] | None = None) -> tuple[moderngl.Context, str]:
    """Starts OpenGL 3.3 core or newer offscreen; returns the current context and the name of the way that worked.

    ways: names from WAYS to try in order; None takes those of this system.
    Raises DeviceError listing every way tried with its error, and what mends it on this system.
    """
    failures: Failures = []
    before = current_context()
    if before != NO_CONTEXT:
        warnings.warn(
            "An OpenGL context was current in this thread, and gpgpu_gl makes one of its own current instead. "
            "To compute in yours, hand it over before the first call: gpgpu_gl.use(ctx).",
            RuntimeWarning,
            stacklevel=3,
        )
    for way in default_ways() if ways is None else ways:
        try:
            for ctx in WAYS[way](failures):
                if knows_current() and current_context() in (before, NO_CONTEXT):  # glcontext does not notice when EGL refuses
                    failures.append((way, "the new context could not be made current" + _in_place_of(before)))
                    break
                return ctx, way
        except Exception as error:  # a broken driver must not hide the ways that are still to come
            failures.append((way, f"{type(error).__name__}: {error}"))
    tried = "\n".join(f"  {way}: {why}" for way, why in failures)
    raise DeviceError(f"OpenGL 3.3 could not be started. Tried:\n{tried}\n{remedies.no_opengl()}")


def _in_place_of(before: tuple[str, int]) -> str:
    return f" in place of the one that is current ({before[0]})" if before != NO_CONTEXT else ""


def default_ways() -> tuple[str, ...]:
    """The ways to try on this system, best first."""
    return ("egl", "glfw") if sys.platform.startswith("linux") else ("glfw", "platform")


def _egl(failures: Failures) -> Iterator[moderngl.Context]:
    """Headless contexts of EGL, over its libraries, its devices (hardware before software) and versions."""
    for libegl, libgl in EGL_LIBRARIES:
        for device in range(_MOST_EGL_DEVICES):
            name = f"EGL device {device} ({libegl}, {libgl})"
            errors = []
            for version in VERSIONS:
                settings: dict[str, Any] = {"libegl": libegl, "libgl": libgl, "device_index": device, "backend": "egl"}
                try:
                    yield moderngl.create_context(require=version, standalone=True, **settings)
                except Exception as error:  # glcontext raises plain Exception
                    errors.append(str(error))
                    if "eglCreateContext" not in errors[-1] and "Requested OpenGL" not in errors[-1]:
                        break  # not a matter of the version
            if errors and "requested device index" in errors[-1]:  # all devices were tried
                if device == 0:
                    failures.append((name, errors[-1]))
                break
            failures.append((name, "; ".join(dict.fromkeys(errors))))
            if "not loaded" in errors[-1] or "not found" in errors[-1]:
                break


def _glfw(failures: Failures) -> Iterator[moderngl.Context]:
    """A context of a hidden GLFW window."""
    try:
        import glfw
    except ImportError as error:
        failures.append(("GLFW hidden window", f"the glfw package cannot be loaded: {error}"))
        return
    said: list[str] = []

    def on_error(code: int, text: Any) -> None:
        said.append(f"{text.decode(errors='replace') if isinstance(text, bytes) else text} ({code:#x})")

    previous: Any = glfw.set_error_callback(on_error)
    try:
        if not glfw.init():
            failures.append(("GLFW hidden window", "; ".join(said) or "glfw.init() failed"))
            return
        for version in VERSIONS:
            window = _hidden_window(glfw, version)
            if window:
                glfw.make_context_current(window)
                loader: Any = _GlfwLoader(glfw, window)
                yield moderngl.create_context(require=330, context=loader)
        failures.append(("GLFW hidden window", "; ".join(dict.fromkeys(said)) or "no window"))
    finally:
        glfw.set_error_callback(previous)


def _hidden_window(glfw: Any, version: int) -> Any:
    glfw.default_window_hints()
    glfw.window_hint(glfw.VISIBLE, glfw.FALSE)
    glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, version // 100)
    glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, version // 10 % 10)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, glfw.TRUE)  # macOS gives nothing newer than 2.1 without it
    glfw.window_hint(glfw.CONTEXT_ROBUSTNESS, glfw.LOSE_CONTEXT_ON_RESET)  # so that a reset is reported, where known
    return glfw.create_window(16, 16, "gpgpu_gl", None, None)


class _GlfwLoader:
    """What moderngl asks of a context: function addresses, making it current, releasing it."""

    def __init__(self, glfw: Any, window: Any) -> None:
        self.glfw, self.window = glfw, window

    def load_opengl_function(self, name: str) -> int:
        return self.glfw.get_proc_address(name) or 0

    load = load_opengl_function

    def __enter__(self) -> None:
        self.glfw.make_context_current(self.window)

    def __exit__(self, *exc: object) -> None:
        self.glfw.make_context_current(None)

    def release(self) -> None:
        self.glfw.destroy_window(self.window)


def _platform(failures: Failures) -> Iterator[moderngl.Context]:
    """The system's own offscreen context (WGL, CGL or GLX), for machines where GLFW finds no desktop."""
    for version in VERSIONS:
        try:
            yield moderngl.create_context(require=version, standalone=True)
        except Exception as error:  # glcontext raises plain Exception
            failures.append((f"system's own context {version / 100:.1f}", str(error)))


WAYS: dict[str, Callable[[Failures], Iterator[moderngl.Context]]] = {"egl": _egl, "glfw": _glfw, "platform": _platform}
