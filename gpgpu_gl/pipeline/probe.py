"""What OpenGL leaves to the device, found out by drawing: subpixel bits, tie rule, sample positions."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import moderngl
import numpy as np

from gpgpu_gl.gl import source
from gpgpu_gl.gl.context import Device, device
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.pipeline.target import own_targets


@dataclass(frozen=True)
class Profile:
    """How a device rasterises.

    subpixel_bits: of the grid that positions are snapped to. left, bottom: whether a triangle owns samples on its left
    (else right) and bottom (else top) edges, y up. samples: (x, y) of each sample within a pixel, for 4 samples.
    cuts_points: whether points whose size the vertex shader sets end at the viewport's border, which OpenGL does not
    ask for. exact_ends: whether lines whose ends are on pixel centres hold the pixels that the tie rule says; older
    versions of Mesa's software rasteriser take other pixels for held, and draw lines that miss some of their ends.
    halves_even: whether lines and points halfway between two subpixels go to the even one, as triangles do; else they go
    away from the centre of the first pixel. drops_lines: whether multisample lines are left out that are so short that
    the box around them holds no pixel's lower left corner, which OpenGL does not ask for. lines_ahead, points_ahead: whether
    with several samples lines take inputs and depth, and points gl_PointCoord, half a pixel right of and above the pixel's
    centre, which OpenGL does not ask for either. centre_w: whether centroid inputs in perspective are divided by 1/w at the
    pixel's centre, not where they are taken.
    clips_unasked: whether gl_ClipDistance cuts where the vertex shader writes it though no distance is enabled.
    ties_turn: whether the upper left clip origin turns bottom and top. fixed_blends: whether 8-bit targets are blended in
    fixed point, each product of a colour and its factor rounded to 8 bits.
    known: whether the drawn test pictures were as this model says; if not, differences are counted, not explained.
    """

    subpixel_bits: int = 8
    left: bool = True
    bottom: bool = True
    samples: tuple[tuple[float, float], ...] = ((0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875))
    cuts_points: bool = True
    exact_ends: bool = False
    halves_even: bool = False
    drops_lines: bool = True
    lines_ahead: bool = True
    points_ahead: bool = True
    centre_w: bool = True
    clips_unasked: bool = True
    ties_turn: bool = True
    fixed_blends: bool = True
    known: bool = True

    def owns_bottom(self, clip_origin: str) -> bool:
        """Whether samples on bottom edges are owned under one of the two clip origins."""
        return self.bottom != (self.ties_turn and clip_origin == "upper_left")

    def offsets(self, samples: int) -> tuple[tuple[int, int], ...]:
        """Sample positions in subpixels from the pixel's lower left corner: the centre for one sample."""
        one = 1 << self.subpixel_bits
        places = ((0.5, 0.5),) if samples == 1 else self.samples
        return tuple((round(x * one), round(y * one)) for x, y in places)


_SIDE = 16
_PROGRAM_POINT_SIZE = 0x8642


def probe(which: Device | None = None) -> Profile:
    """The profile of a device (the default one), drawn once and kept."""
    return _probe(which or device())


@functools.lru_cache(maxsize=4)
def _probe(which: Device) -> Profile:
    gl = raw()
    with which.hosted_state(), own_targets(which.ctx):
        bits = int(np.asarray(gl.glGetIntegerv(gl.GL_SUBPIXEL_BITS)).flat[0])
        draw = _Canvas(which.ctx)
        try:
            # A square with all sides on pixel centres owns two of its four sides.
            square = draw([[2.5, 2.5], [6.5, 2.5], [6.5, 6.5], [2.5, 2.5], [6.5, 6.5], [2.5, 6.5]])
            left, right = bool(square[4, 2]), bool(square[4, 6])
            bottom, top = bool(square[2, 4]), bool(square[6, 4])
            # An edge just beyond a centre, by less and by more than half of the finest step.
            step = 2.0**-bits
            near, far = (
                draw([[0, 0], [4.5 + s, 0], [4.5 + s, 16], [0, 0], [4.5 + s, 16], [0, 16]])[8, 4]
                for s in (0.4 * step, 0.6 * step)
            )
            which.ctx.enable_direct(_PROGRAM_POINT_SIZE)
            cuts = not draw([[5.2, 8.0]], moderngl.POINTS, (4, 4, 8, 8))[8, 3]
            which.ctx.disable_direct(_PROGRAM_POINT_SIZE)
            # A vertical line draws the pixel of its start where it leaves that pixel's diamond downwards.
            exact = bool(draw([[5.5, 10.5], [5.5, 4.0]], moderngl.LINES)[10, 5])
            # A line this close above a pixel's border, and half a pixel to either side, meets the row above or not.
            above = 8 + step / 2
            even = not (bottom and draw([[3.3, above], [12.7, above]], moderngl.LINES)[8, 8])
            turn = which.version_code < 450 or _turns(draw, bottom)
            fixed = _blends_in_fixed_point(draw)
            unasked = _clips_unasked(draw)
            known = left != right and bottom != top and bool(near) == right and bool(far)
            samples, several = Profile.samples, (False, False, False, False)
            if which.info.get("GL_MAX_SAMPLES", 1) >= 4:
                samples, several = _multisampled(draw)
        finally:
            draw.release()
    return Profile(bits, left, bottom, samples, cuts, exact, even, *several, unasked, turn, fixed, known)


def _turns(draw: _Canvas, bottom: bool) -> bool:
    gl = raw()
    gl.glClipControl(gl.GL_UPPER_LEFT, gl.GL_NEGATIVE_ONE_TO_ONE)
    turned = draw([[2.5, 2.5], [6.5, 2.5], [6.5, 6.5], [2.5, 2.5], [6.5, 6.5], [2.5, 6.5]])  # its rows are 9.5 to 13.5
    gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_NEGATIVE_ONE_TO_ONE)
    return bool(turned[9, 4]) != bottom


def _clips_unasked(draw: _Canvas) -> bool:
    usual, draw.program = draw.program, draw.compile({"CLIPS": 1})
    try:
        return not draw([[0, 0], [32, 0], [0, 32]])[8, 2]
    finally:
        raw().glUseProgram(0)
        draw.program.release()
        draw.program = usual


def _blends_in_fixed_point(draw: _Canvas) -> bool:
    gl = raw()
    texture = draw.ctx.texture((_SIDE, _SIDE), 4)
    target = draw.ctx.framebuffer([texture])
    gl.glEnable(gl.GL_BLEND)
    gl.glBlendEquation(gl.GL_FUNC_ADD)
    gl.glBlendFunc(gl.GL_ZERO, gl.GL_CONSTANT_COLOR)
    gl.glBlendColor(*[152 / 255] * 4)
    draw([[0, 0], [32, 0], [0, 32]], onto=target, clear=229 / 255)
    gl.glDisable(gl.GL_BLEND)
    held = target.read(components=1)[0]  # 229 * 152 / 255 is 136.502; sums of shifted bits give 136
    draw.target.use()
    target.release()
    texture.release()
    return bool(held == 136)


def _multisampled(draw: _Canvas) -> tuple[tuple[tuple[float, float], ...], tuple[bool, bool, bool, bool]]:
    """The positions of four samples; drops_lines, lines_ahead, points_ahead, centre_w."""
    gl = raw()
    render = draw.ctx.framebuffer([draw.ctx.renderbuffer((_SIDE, _SIDE), 4, samples=4, dtype="f4")])
    render.use()
    found = []
    for i in range(4):
        place = np.zeros(2, np.float32)
        gl.glGetMultisamplefv(gl.GL_SAMPLE_POSITION, i, place)
        found.append((float(place[0]), float(place[1])))
    drops = not draw([[4.5, 4.25], [4.5, 4.75]], moderngl.LINES, onto=render)[4, 4]
    # A line along a row of pixels, whose depth grows with x, and a point of one pixel.
    draw([[2.0, 8.5], [14.0, 8.5]], moderngl.LINES, onto=render)
    line = bool(draw.seen[8, 8, 1] > 0.5 + 0.25 * (8.75 - 8) / 8)
    draw([[8.5, 8.5]], moderngl.POINTS, onto=render)
    point = bool(draw.seen[8, 8, 2] > 0.75)
    # A triangle whose hypotenuse cuts pixel (8, 7); its w grows with x, and the input is w itself.
    draw([[2.0, 2.0], [14.0, 2.0], [2.0, 14.0]], onto=render, lean=0.5)
    inverse_w = lambda x: 1.6 - (1.6 - 1 / 1.375) * (x - 2) / 12  # noqa: E731
    taken = draw.seen[7, 8, 3] / max(draw.seen[7, 8, 0], 0.25)
    there = 8 + next((x for x, y in found if x + y < 1), 0.5)
    centre_w = bool(abs(1 / inverse_w(8.5) - taken) < abs(1 / inverse_w(there) - taken))
    draw.target.use()
    render.color_attachments[0].release()
    render.release()
    return tuple(found), (drops, line, point, centre_w)


class _Canvas:
    """A small target that triangles in window coordinates are drawn to."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.program = self.compile({})
        self.texture = ctx.texture((_SIDE, _SIDE), 4, dtype="f4")
        self.target = ctx.framebuffer([self.texture])

    def compile(self, defines: dict[str, str | int | float]) -> moderngl.Program:
        vertex, fragment = (source.load(f"pipeline/probe.{stage}", defines) for stage in ("vert", "frag"))
        return self.ctx.program(vertex_shader=vertex.text, fragment_shader=fragment.text)

    def __call__(
        self,
        window: list[list[float]],
        mode: int = moderngl.TRIANGLES,
        viewport: tuple[int, int, int, int] = (0, 0, _SIDE, _SIDE),
        onto: moderngl.Framebuffer | None = None,
        clear: float = 0.0,
        lean: float = 0.0,
    ) -> np.ndarray:
        """(16, 16) bool: which pixels a list of corners, given in pixels, covers; onto: another target, cleared to a value.

        lean: w is 1 + lean * x, x from -1 to 1.
        """
        place, half = np.array(viewport[:2], np.float32), np.array(viewport[2:], np.float32) / 2
        ndc = ((np.array(window, np.float32) - place) / half - 1).astype(np.float32)
        buffer = self.ctx.buffer(ndc.tobytes())
        vao = self.ctx.vertex_array(self.program, [(buffer, "2f", "position")])
        target = onto or self.target
        target.use()
        target.clear(clear, clear, clear, clear)
        self.ctx.viewport = viewport
        self.program["lean"] = lean
        vao.render(mode)
        if onto is not None:
            self.ctx.copy_framebuffer(self.target, onto)
        vao.release()
        buffer.release()
        read = self.target.read(components=4, dtype="f4")
        self.seen = np.frombuffer(read, np.float32).reshape(_SIDE, _SIDE, 4)  # 1, depth, gl_PointCoord.x, w
        return self.seen[..., 0] > 0

    def release(self) -> None:
        raw().glUseProgram(0)  # a program in use would outlive its release
        for thing in (self.target, self.texture, self.program):
            thing.release()
