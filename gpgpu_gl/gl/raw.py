"""The OpenGL calls that moderngl lacks, from PyOpenGL, imported at first need only."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

from gpgpu_gl.errors import DeviceError


@functools.lru_cache(maxsize=1)
def raw() -> Any:
    """The module OpenGL.GL of PyOpenGL, set up for the kind of context that is current.

    The import costs some 75 ms, so nothing asks for it before the first call that moderngl does not offer.
    Raises DeviceError when PyOpenGL cannot be loaded; the message holds its own reason.
    """
    ours = "PYOPENGL_PLATFORM" not in os.environ and _egl_is_current()
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
    return GL


def _egl_is_current() -> bool:
    """Whether the current context of this thread was made by EGL (PyOpenGL would look for one of GLX)."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        current = ctypes.CDLL("libEGL.so.1").eglGetCurrentContext
    except (OSError, AttributeError):
        return False
    current.restype = ctypes.c_void_p
    return bool(current())
