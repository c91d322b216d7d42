"""Framebuffers of single layers of an array texture, for tile passes."""

from __future__ import annotations

import ctypes

import moderngl

from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.gl.raw import bare, get_integers


class LayeredFramebuffer:
    """A framebuffer of the layers of one array texture; moderngl has no call for single layers."""

    def __init__(self, ctx: moderngl.Context, storage: Storage) -> None:
        gl = bare()
        width, height, _, layers = storage.key
        self.viewport = (0, 0, width, height)
        self.ctx = ctx
        (before,) = get_integers(gl.GL_DRAW_FRAMEBUFFER_BINDING)
        self._name = (ctypes.c_uint * 1)()
        gl.glGenFramebuffers(1, self._name)
        self.glo = int(self._name[0])
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.glo)
        attachments = [gl.GL_COLOR_ATTACHMENT0 + i for i in range(layers)]
        for i, attachment in enumerate(attachments):
            gl.glFramebufferTextureLayer(gl.GL_FRAMEBUFFER, attachment, storage.texture.glo, 0, i)
        gl.glDrawBuffers(layers, (ctypes.c_uint * layers)(*attachments))
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, before)

    def use(self) -> None:
        gl = bare()
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.glo)
        gl.glViewport(*self.viewport)

    def release(self) -> None:
        bare().glDeleteFramebuffers(1, self._name)
