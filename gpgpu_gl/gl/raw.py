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
    return _Calls(_imported("OpenGL.GL"))


@functools.lru_cache(maxsize=1)
def bare() -> Any:
    """The calls and constants of OpenGL 1.0, 2.0, 3.0 and 3.2 as they are in C: arrays are ctypes arrays.

    For what a training step needs: imported in a third of raw()'s time, and called in a seventh. Raises DeviceError.
    """
    modules = [_imported(f"OpenGL.raw.GL.VERSION.GL_{version}") for version in ("1_0", "2_0", "3_0", "3_2")]
    return SimpleNamespace(**{name: value for m in modules for name, value in vars(m).items() if name[:2].upper() == "GL"})


@functools.lru_cache
def _imported(module: str) -> Any:
    """A module of PyOpenGL, set up for the kind of context that is current."""
    ours = "PYOPENGL_PLATFORM" not in os.environ and current_context()[0] == "eglGetCurrentContext"
    if ours:
        os.environ["PYOPENGL_PLATFORM"] = "egl"
    try:
        return importlib.import_module(module)
    except Exception as error:  # PyOpenGL raises TypeError, OSError or ImportError, by platform
        raise DeviceError(
            f"PyOpenGL cannot be loaded ({type(error).__name__}: {error}). Install it with `pip install PyOpenGL`; "
            "if PYOPENGL_PLATFORM is set, it has to match the context: egl, glx, win32 or darwin."
        ) from error
    finally:
        if ours:  # processes started from here may need another platform
            del os.environ["PYOPENGL_PLATFORM"]


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
        bare().glGetIntegerv(name, buffer)
    else:
        bare().glGetIntegeri_v(name, index, buffer)
    return tuple(buffer[:count])


def get_integer64(name: int, index: int) -> int:
    """glGetInteger64i_v: one value, such as the size of a bound buffer range."""
    buffer = (ctypes.c_int64 * 1)()
    bare().glGetInteger64i_v(name, index, buffer)
    return int(buffer[0])


def get_floats(name: int, count: int, index: int | None = None) -> tuple[float, ...]:
    """glGetFloatv, or glGetFloati_v (OpenGL 4.1) with an index: `count` values, at most 16."""
    buffer = (ctypes.c_float * 16)()
    if index is None:
        bare().glGetFloatv(name, buffer)
    else:
        _imported("OpenGL.raw.GL.VERSION.GL_4_1").glGetFloati_v(name, index, buffer)
    return tuple(buffer[:count])
