"""The texture pool: textures are recycled by size and dtype, under a byte cap."""

from __future__ import annotations

import os
from collections import OrderedDict, deque
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.dtypes import FORMATS
from gpgpu_gl.errors import DeviceError, OutOfTextureMemory
from gpgpu_gl.gl.state import unbind_framebuffer

Key = tuple[int, int, np.dtype, int]  # width, height, dtype, layers (0: an ordinary 2-D texture)


def _default_cap() -> int:
    """Bytes of textures allowed: GPGPU_GL_TEXTURE_CAP_MB, or half of the machine's memory."""
    text = os.environ.get("GPGPU_GL_TEXTURE_CAP_MB")
    if text:
        if not text.isdecimal():
            raise DeviceError(f"GPGPU_GL_TEXTURE_CAP_MB is a whole number of MiB, not {text!r}")
        return int(text) << 20
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (ValueError, OSError, AttributeError):
        return 4 << 30


class Storage:
    """One texture on loan from the pool; given back when the last tensor that uses it is gone."""

    __slots__ = ("texture", "key", "pool", "framebuffer", "written", "__weakref__")

    def __init__(self, texture: Any, key: Key, pool: Pool | None) -> None:
        self.texture = texture
        self.key = key
        self.pool = pool  # None: the texture belongs to the caller
        self.framebuffer: Any = None
        self.written = 0  # serial of the compute pass that wrote this texture last (0: none did)

    @property
    def width(self) -> int:
        return self.key[0]

    @property
    def height(self) -> int:
        return self.key[1]

    @property
    def dtype(self) -> np.dtype:
        return self.key[2]

    @property
    def nbytes(self) -> int:
        return Pool.bytes_of(self.key)

    def __del__(self) -> None:
        # May run on any thread and at any time: only hands the texture over, no GL call.
        pool = self.pool
        if pool is not None:
            pool.returned.append((self.texture, self.key, self.framebuffer, self.written))


class Pool:
    """Textures of one context.

    cap: largest number of bytes held at once, in use and idle together. `live` and `idle` count bytes,
    `created`, `reused` and `evicted` count textures since the start.
    """

    def __init__(self, ctx: moderngl.Context, max_side: int, cap: int | None = None) -> None:
        self.ctx = ctx
        self.max_side = max_side
        self.cap = _default_cap() if cap is None else cap
        self.free: OrderedDict[Key, list[tuple[Any, Any, int]]] = OrderedDict()
        self.returned: deque[tuple[Any, Key, Any, int]] = deque()
        self.live = 0
        self.idle = 0
        self.peak = 0
        self.created = 0
        self.reused = 0
        self.evicted = 0
        self.poison = False  # tests: fill every recycled texture with NaN

    @staticmethod
    def bytes_of(key: Key) -> int:
        return key[0] * key[1] * max(key[3], 1) * FORMATS[key[2]].bytes

    def collect(self) -> None:
        """Takes back the textures whose tensors are gone."""
        while self.returned:
            texture, key, framebuffer, written = self.returned.popleft()
            size = self.bytes_of(key)
            self.live -= size
            self.idle += size
            self.free.setdefault(key, []).append((texture, framebuffer, written))

    def get(self, width: int, height: int, dtype: np.dtype, layers: int = 0) -> Storage:
        """A texture (with layers: a 2-D array) with undefined contents. Raises OutOfTextureMemory past the cap."""
        key = (width, height, dtype, layers)
        if width > self.max_side or height > self.max_side:
            raise OutOfTextureMemory(
                f"a texture of {width} x {height} texels exceeds this device's largest side {self.max_side}"
            )
        self.collect()
        size = self.bytes_of(key)
        stack = self.free.get(key)
        if stack:
            texture, framebuffer, written = stack.pop()
            self.free.move_to_end(key)
            if not stack:
                del self.free[key]
            self.idle -= size
            self.reused += 1
            storage = Storage(texture, key, self)
            storage.framebuffer = framebuffer
            storage.written = written
            self._count(size)
            if self.poison:
                self._poison(storage)
            return storage
        if self.live + self.idle + size > self.cap:
            self.trim(self.cap - self.live - size)
        if self.live + size > self.cap:
            raise OutOfTextureMemory(
                f"a texture of {width} x {height} {dtype} texels needs {size} bytes; {self.live} bytes are in use "
                f"and the pool's cap is {self.cap} bytes. Free tensors, work in smaller batches, or raise the cap "
                f"(GPGPU_GL_TEXTURE_CAP_MB)"
            )
        form = FORMATS[dtype]
        if layers:
            texture = self.ctx.texture_array((width, height, layers), 4, dtype=form.gl)
        else:
            texture = self.ctx.texture((width, height), 4, dtype=form.gl)
        texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        texture.repeat_x = texture.repeat_y = False
        self.created += 1
        self._count(size)
        storage = Storage(texture, key, self)
        if self.poison:
            self._poison(storage)
        return storage

    def _count(self, size: int) -> None:
        self.live += size
        self.peak = max(self.peak, self.live)

    def _poison(self, storage: Storage) -> None:
        fill: float = -77 if storage.dtype == np.dtype(np.int32) else 255 if storage.dtype.kind == "b" else np.nan
        channel = FORMATS[storage.dtype].channel
        storage.texture.write(np.full((max(storage.key[3], 1), storage.height, storage.width, 4), fill, channel).tobytes())

    def trim(self, keep: int = 0) -> None:
        """Frees idle textures, the longest unused size first, until at most `keep` idle bytes are left."""
        self.collect()
        if self.free and self.idle > max(keep, 0):
            unbind_framebuffer(self.ctx)
        while self.free and self.idle > max(keep, 0):
            key, stack = next(iter(self.free.items()))
            texture, framebuffer, _ = stack.pop()
            if not stack:
                del self.free[key]
            if framebuffer is not None:
                framebuffer.release()
            texture.release()
            self.idle -= self.bytes_of(key)
            self.evicted += 1

    def counters(self) -> dict[str, int]:
        """What the pool holds: bytes live, idle, peak and the cap; textures created, reused, evicted."""
        self.collect()
        names = ("live", "idle", "peak", "cap", "created", "reused", "evicted")
        return {name: getattr(self, name) for name in names}
