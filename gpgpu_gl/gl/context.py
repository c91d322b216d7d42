"""The OpenGL device that computes: the process's own, started at first use, or one that the caller hands over."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import moderngl

from gpgpu_gl.errors import ContextLost, DeviceError
from gpgpu_gl.gl import remedies
from gpgpu_gl.gl.raw import current_context, raw
from gpgpu_gl.gl.start import start
from gpgpu_gl.gl.state import prepare_state, saved_state

if TYPE_CHECKING:
    from gpgpu_gl.gl.passes import Engine

__all__ = ["Device", "device", "raw", "use"]

PATHS = ("compute", "fragment")  # best first
PATH_VARIABLE = "GPGPU_GL_PATH"
COMPUTE_VERSION = 430

_SOFTWARE = re.compile(
    r"llvmpipe|softpipe|swrast|lavapipe|swiftshader|software|microsoft basic render|gdi generic", re.IGNORECASE
)
_MOST_ERRORS = 16  # a lost context may go on reporting errors for ever
_LOSE_CONTEXT_ON_RESET = 0x8252
_NOTHING = contextlib.nullcontext()


class Device:
    """One OpenGL context and what it can do.

    ctx: the moderngl.Context; hosted: it belongs to a host application, whose GL state is put back after each call.
    path: "compute" or "fragment", the one that operators take; paths: those that this device offers, best first.
    software: True when the renderer runs on the CPU. version_code: 330 for OpenGL 3.3.
    """

    def __init__(self, ctx: moderngl.Context, *, hosted: bool = False, path: str | None = None, how: str = "") -> None:
        if ctx.version_code < 330:
            raise DeviceError(
                f"OpenGL 3.3 is needed, and this context offers {_dotted(ctx.version_code)}. "
                "Ask the window library for a 3.3 core profile, or update the graphics driver."
            )
        self.ctx = ctx
        self.hosted = hosted
        self.how = how
        self.info: dict[str, Any] = ctx.info
        if not self.info.get("GL_RENDERER"):
            raise DeviceError("The OpenGL context is not current in this thread: make it current, then hand it over.")
        self.vendor: str = self.info["GL_VENDOR"]
        self.renderer: str = self.info["GL_RENDERER"]
        self.version: str = self.info["GL_VERSION"]
        self.version_code: int = ctx.version_code
        self.software = bool(_SOFTWARE.search(self.renderer))
        self.max_texture_size: int = self.info["GL_MAX_TEXTURE_SIZE"]
        self.paths: tuple[str, ...] = PATHS if self.version_code >= COMPUTE_VERSION else ("fragment",)
        self._thread = threading.get_ident()
        self._keeping = False
        self._current = current_context()
        if not hosted:
            prepare_state(ctx)
        self.closed = False
        self.path = path or "auto"

    @property
    def path(self) -> str:
        """The path that operators take: "compute" or "fragment". Set it to one of these or to "auto".

        Setting raises DeviceError for a path that the device does not offer.
        """
        return self._path

    @path.setter
    def path(self, path: str) -> None:
        wanted = os.environ.get(PATH_VARIABLE, "") or "auto" if path == "auto" else path
        self._path = self._checked_path(wanted)

    def _checked_path(self, wanted: str) -> str:
        if wanted == "auto":
            return self.paths[0]
        if wanted not in PATHS:
            raise DeviceError(f"There is no path {wanted!r}: choose auto, {' or '.join(PATHS)} ({PATH_VARIABLE}).")
        if wanted not in self.paths:
            raise DeviceError(
                f"The compute path needs OpenGL {_dotted(COMPUTE_VERSION)}, and {self.renderer} offers "
                f"{_dotted(self.version_code)}. Choose the path fragment (or auto): it computes the same results."
            )
        return wanted

    @functools.cached_property
    def limits(self) -> dict[str, Any]:
        """The device's limits by GL name in lower case without the prefix, such as limits["max_draw_buffers"]."""
        return {name[3:].lower(): value for name, value in self.info.items() if name.startswith("GL_MAX_")}

    @functools.cached_property
    def engine(self) -> Engine:
        """What runs passes on this device: the texture pool, the program cache, the barriers."""
        from gpgpu_gl.gl.passes import Engine

        return Engine(self)

    @property
    def owned_by_this_thread(self) -> bool:
        """Whether the calling thread is the one whose context this is."""
        return threading.get_ident() == self._thread

    def check_thread(self) -> None:
        """Raises DeviceError when called from another thread than the one whose context this is."""
        if not self.owned_by_this_thread:
            raise DeviceError(
                "This OpenGL device belongs to the thread that started it, because an OpenGL context is current in one "
                "thread only. Compute there, or give each process a device of its own."
            )

    def check(self) -> None:
        """Raises ContextLost when the GPU was reset, and DeviceError when OpenGL reported an error since the last call.

        Asks the driver for its error flags, which waits for no pass to end.
        """
        if self.closed:
            raise DeviceError("This OpenGL device was closed. Call gpgpu_gl.device() for a new one.")
        self.check_thread()
        if current_context() != self._current:
            raise DeviceError(
                "Another OpenGL context, or none, is current in this thread. Compute within `with device.ctx:`, or hand "
                "the other context over with gpgpu_gl.use(ctx)."
            )
        errors: list[str] = []
        while len(errors) < _MOST_ERRORS and (error := self.ctx.error) != "GL_NO_ERROR":
            errors.append(error)
        if self._lost() or "GL_CONTEXT_LOST" in errors:
            raise ContextLost(
                f"The GPU was reset and {self.renderer} lost its OpenGL context; all tensors on it are gone. "
                "Start again from the last checkpoint; if it recurs, lower the batch size or update the driver."
            )
        if errors:
            raise DeviceError(f"OpenGL on {self.renderer} reported {', '.join(dict.fromkeys(errors))}.")

    def _lost(self) -> bool:
        return self._tells_of_resets and raw().glGetGraphicsResetStatus() != 0

    @functools.cached_property
    def _tells_of_resets(self) -> bool:
        """Whether the context was created to report resets: only such a one answers glGetGraphicsResetStatus."""
        if self.how == "egl":  # glcontext does not ask EGL for it; knowing that saves the import of PyOpenGL
            return False
        robust = self.version_code >= 450 or "GL_KHR_robustness" in self.ctx.extensions
        return robust and int(raw().glGetIntegerv(raw().GL_RESET_NOTIFICATION_STRATEGY)) == _LOSE_CONTEXT_ON_RESET

    def hosted_state(self) -> AbstractContextManager[None]:
        """Within: the GL state that passes need; on leaving, the host's is put back. Nests at no cost.

        Does nothing for a context of our own. Many calls in one `with` are cheaper than each for itself (1 ms each).
        """
        return self._kept_state() if self.hosted and not self._keeping else _NOTHING

    @contextlib.contextmanager
    def _kept_state(self) -> Iterator[None]:
        self._keeping = True
        try:
            with saved_state(self.ctx):
                yield
        finally:
            self._keeping = False

    def close(self) -> None:
        """Releases a context of our own and everything in it; a host's context is only let go of."""
        global _default
        if _default is self:
            _default = None
        if not self.closed and not self.hosted:
            if current_context() == self._current:
                self.ctx.__exit__(None, None, None)  # a destroyed context that is still current would block new ones
            self.ctx.release()
        self.closed = True

    def __repr__(self) -> str:
        kind = "software" if self.software else "hardware"
        return f"<Device {self.renderer!r}, OpenGL {_dotted(self.version_code)}, {kind}, path {self.path}>"


_default: Device | None = None


def device(path: str | None = None) -> Device:
    """The process's default device, started at first use.

    path: "compute", "fragment" or "auto" sets the device's path; None leaves it (GPGPU_GL_PATH, else the best).
    Raises DeviceError when OpenGL does not start (with every way tried and the remedy) or lacks the path.
    """
    global _default
    if _default is None:
        ctx, how = start()
        _default = Device(ctx, path=path, how=how)
        if _default.software and (hint := remedies.hidden_hardware()):
            warnings.warn(f"OpenGL renders in software, with {_default.renderer}. {hint}", RuntimeWarning, stacklevel=2)
    elif path is not None:
        _default.path = path
    return _default


def use(ctx: moderngl.Context | Device, path: str = "auto") -> Device:
    """Makes the caller's moderngl context the default device; its GL state is put back after every call.

    ctx: current in this thread; or a Device, which becomes the default (and current, if it is our own) again.
    Raises DeviceError when the context is older than OpenGL 3.3, lacks the path, or is not current.
    """
    global _default
    if isinstance(ctx, Device):
        if not ctx.hosted:
            ctx.ctx.__enter__()
        _default = ctx
    else:
        _default = Device(ctx, hosted=True, path=path, how="host")
    return _default


def _dotted(version_code: int) -> str:
    return f"{version_code // 100}.{version_code // 10 % 10}"
