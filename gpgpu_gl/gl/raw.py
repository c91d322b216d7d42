"""The OpenGL calls that moderngl lacks, from PyOpenGL, imported at first need only."""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import sys
from types import SimpleNamespace
from typing import Any

from gpgpu_gl.errors import DeviceError


@functools.lru_cache(maxsize=1)
def raw() -> Any:
    """OpenGL.GL of PyOpenGL: its calls and constants, set up for the kind of context that is current.

    The import costs some 75 ms, so nothing asks for it before the first call that moderngl does not offer.
    Raises DeviceError when PyOpenGL cannot be loaded; the message holds its own reason.
    """
    ours = "PYOPENGL_PLATFORM" not in os.environ and current_context()[0] == "eglGetCurrentContext"
    if ours:
        os.environ["PYOPENGL_PLATFORM"] = "egl"
    try:
        from OpenGL import GL
    except Exception as error:  # PyOpenGL raises TypeError, OSError or ImportError, by platform
        raise DeviceError(
            f"PyOpenGL cannot be loaded ({type(error).__name__}: {error}). Install it with `pip install PyOpenGL`; "
            "if PYOPENGL_PLATFORM is set, it has to match the context: egl, glx, win32 or darwin."
        ) from error
    finally:
        if ours:  # processes started from here may need another platform
            del os.environ["PYOPENGL_PLATFORM"]
    return _Calls(GL)


class _Calls:
    """The names of OpenGL.GL; a call that is missing there is taken, unwrapped, from the version that has it.

    OpenGL.GL takes many calls from the extension they once were, and believes them missing where a driver lists only
    the version that they became part of, or where PyOpenGL was imported for another window system.
    """

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name.startswith("gl") and not found:
            versions = (importlib.import_module(f"OpenGL.raw.GL.VERSION.GL_{v}") for v in _CORE_VERSIONS)
            found = next((call for module in versions if (call := getattr(module, name, None))), found)
        if found or not name.startswith("gl"):
            setattr(self, name, found)  # found without this method from now on
        return found


_CORE_VERSIONS = ("4_6", "4_5", "4_4", "4_3", "4_2", "4_1", "4_0", "3_3", "3_2", "3_1", "3_0")


# Where each window system keeps the current context: (library, function that returns its handle).
_CURRENT = {
    "linux": (("libEGL.so.1", "eglGetCurrentContext"), ("libGL.so.1", "glXGetCurrentContext")),
    "win32": (("opengl32.dll", "wglGetCurrentContext"),),
    "darwin": (("/System/Library/Frameworks/OpenGL.framework/OpenGL", "CGLGetCurrentContext"),),
}


NO_CONTEXT = ("", 0)


def current_context() -> tuple[str, int]:
    """The OpenGL context that is current in this thread: (name of the function that knows it, its handle).

    NO_CONTEXT where there is none, or where no library on this system can tell.
    """
    for name, function in _current_functions():
        if handle := function():
            return name, handle
    return NO_CONTEXT


def knows_current() -> bool:
    """Whether current_context() can tell on this system."""
    return bool(_current_functions())


@functools.lru_cache(maxsize=1)
def _current_functions() -> tuple[tuple[str, Any], ...]:
    found = []
    for library, name in _CURRENT.get(sys.platform, ()):
        try:
            function = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = ()
        found.append((name, function))
    return tuple(found)


def get_integers(name: int, count: int = 1, index: int | None = None) -> tuple[int, ...]:
    """glGetIntegerv, or glGetIntegeri_v with an index: `count` values, at most 16.

    The unwrapped calls: PyOpenGL's own wrappers make a NumPy array each time and take seven times as long.
    """
    buffer = (ctypes.c_int * 16)()
    if index is None:
        _getters().glGetIntegerv(name, buffer)
    else:
        _getters().glGetIntegeri_v(name, index, buffer)
    return tuple(buffer[:count])


def get_integer64(name: int, index: int) -> int:
    """glGetInteger64i_v: one value, such as the size of a bound buffer range."""
    buffer = (ctypes.c_int64 * 1)()
    _getters().glGetInteger64i_v(name, index, buffer)
    return int(buffer[0])


def get_floats(name: int, count: int, index: int | None = None) -> tuple[float, ...]:
    """glGetFloatv, or glGetFloati_v (OpenGL 4.1) with an index: `count` values, at most 16."""
    buffer = (ctypes.c_float * 16)()
    if index is None:
        _getters().glGetFloatv(name, buffer)
    else:
        _getters().glGetFloati_v(name, index, buffer)
    return tuple(buffer[:count])


@functools.lru_cache(maxsize=1)
def _getters() -> Any:
    raw()
    from OpenGL.raw.GL.VERSION import GL_1_0, GL_3_0, GL_3_2, GL_4_1

    return SimpleNamespace(
        glGetIntegerv=GL_1_0.glGetIntegerv,
        glGetFloatv=GL_1_0.glGetFloatv,
        glGetIntegeri_v=GL_3_0.glGetIntegeri_v,
        glGetInteger64i_v=GL_3_2.glGetInteger64i_v,
        glGetFloati_v=GL_4_1.glGetFloati_v,
    )
