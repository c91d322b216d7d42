"""Framebuffers of single layers of an array texture, for tile passes."""

from __future__ import annotations

import moderngl

from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.gl.raw import raw


class LayeredFramebuffer:
    """A framebuffer of the layers of one array texture; moderngl has no call for single layers."""

    def __init__(self, ctx: moderngl.Context, storage: Storage) -> None:
        gl = raw()
        width, height, _, layers = storage.key
        self.viewport = (0, 0, width, height)
        self.ctx = ctx
        before = gl.glGetIntegerv(gl.GL_DRAW_FRAMEBUFFER_BINDING)
        self.glo = int(gl.glGenFramebuffers(1))
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.glo)
        attachments = [gl.GL_COLOR_ATTACHMENT0 + i for i in range(layers)]
        for i, attachment in enumerate(attachments):
            gl.glFramebufferTextureLayer(gl.GL_FRAMEBUFFER, attachment, storage.texture.glo, 0, i)
        gl.glDrawBuffers(layers, attachments)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, before)

    def use(self) -> None:
        gl = raw()
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self.glo)
        gl.glViewport(*self.viewport)

    def release(self) -> None:
        raw().glDeleteFramebuffers(1, [self.glo])
