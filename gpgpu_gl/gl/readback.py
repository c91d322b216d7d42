"""Readback that does not wait: through a pixel buffer, with a fence that tells when the copy is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import moderngl

from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.gl.raw import bare

if TYPE_CHECKING:
    from gpgpu_gl.gl.passes import Engine


class Readback:
    """One texture's bytes on their way to the host. `ready` asks, `bytes` waits."""

    def __init__(self, engine: Engine, storage: Storage) -> None:
        self._engine = engine
        self._buffer: Any = None
        with engine.device.hosted_state():
            engine.barrier((storage,), moderngl.PIXEL_BUFFER_BARRIER_BIT | moderngl.TEXTURE_UPDATE_BARRIER_BIT)
            self._buffer = engine.ctx.buffer(reserve=storage.nbytes)
            storage.texture.read_into(self._buffer, alignment=1)
            gl = bare()
            self._fence: Any = gl.glFenceSync(gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
        self._found: bytes | None = None

    @property
    def ready(self) -> bool:
        """Whether the copy is done, so that `bytes` would not wait."""
        if self._found is not None:
            return True
        gl = bare()
        state = gl.glClientWaitSync(self._fence, gl.GL_SYNC_FLUSH_COMMANDS_BIT, 0)
        return state in (gl.GL_ALREADY_SIGNALED, gl.GL_CONDITION_SATISFIED)

    def bytes(self) -> bytes:
        """The texture's bytes; waits for the copy at the first call."""
        if self._found is None:
            self._found = self._buffer.read()
            self.release()
        return self._found

    def __del__(self) -> None:
        if self._buffer is not None and self._engine.device.owned_by_this_thread and not self._engine.device.closed:
            self.release()

    def release(self) -> None:
        """Frees the buffer and the fence."""
        if self._buffer is not None:
            bare().glDeleteSync(self._fence)
            self._buffer.release()
            self._buffer = self._fence = None
