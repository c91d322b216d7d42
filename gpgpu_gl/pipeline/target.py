"""Which framebuffer moderngl believes to be bound, kept straight around draws that make their own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import moderngl


@contextlib.contextmanager
def own_targets(ctx: moderngl.Context) -> Iterator[None]:
    """Within, framebuffers may come and go. moderngl binds its current one again after making another, so that a
    released one must never be current: before and after, it is the default framebuffer."""
    ctx.detect_framebuffer(0).use()
    try:
        yield
    finally:
        ctx.detect_framebuffer(0).use()
