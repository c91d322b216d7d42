"""The framebuffers that draws write through: one for each texture, or set of textures, that was drawn into."""

from __future__ import annotations

from typing import Any

import moderngl

from gpgpu_gl.gl.layered import LayeredFramebuffer
from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.gl.state import unbind_framebuffer

MOST_KEPT = 64  # framebuffers of several textures


class Framebuffers:
    """That of one texture is kept with it; those of several here, by the textures' names."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self._kept: dict[tuple[int, ...], tuple[Any, tuple[Any, ...]]] = {}

    def of(self, targets: list[Storage]) -> Any:
        """The framebuffer of these textures."""
        if len(targets) == 1:
            storage = targets[0]
            if storage.framebuffer is None:
                layered = storage.key[3] > 0
                storage.framebuffer = LayeredFramebuffer(self.ctx, storage) if layered else self.ctx.framebuffer([storage.texture])
            return storage.framebuffer
        key = tuple(storage.texture.glo for storage in targets)
        found = self._kept.get(key)
        textures = tuple(storage.texture for storage in targets)
        if found is not None and found[1] != textures:  # other textures got the names of released ones
            unbind_framebuffer(self.ctx)
            self._kept.pop(key)[0].release()
            found = None
        if found is None:
            found = self._kept[key] = (self.ctx.framebuffer(list(textures)), textures)
            while len(self._kept) > MOST_KEPT:
                unbind_framebuffer(self.ctx)
                oldest = next(iter(self._kept))
                self._kept.pop(oldest)[0].release()
        return found[0]

    def names(self) -> set[int]:
        """OpenGL's names of those that are kept here."""
        return {framebuffer.glo for framebuffer, _ in self._kept.values()}

    def release(self) -> None:
        """Frees those that are kept here; those of one texture go with it."""
        unbind_framebuffer(self.ctx)
        for framebuffer, _ in self._kept.values():
            framebuffer.release()
        self._kept.clear()
