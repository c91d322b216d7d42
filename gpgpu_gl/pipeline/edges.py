"""Rasterisation set-up: every primitive as a convex figure of up to four fixed-point edge functions.

An edge is a triple (c, dx, dy): a sample at (x, y), in subpixels, is inside where c + dx * y - dy * x >= 0. The tie
rule is part of c: an edge that does not own the samples on it has c less 1. All of it is exact in 64-bit integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgpu_gl.pipeline.cull import area, snap
from gpgpu_gl.pipeline.probe import Profile

F = np.float32


@dataclass
class Edges:
    """c, dx, dy: (n, 4) int64. low, high: (n, 2) the first and the last subpixel that may be inside."""

    c: np.ndarray
    dx: np.ndarray
    dy: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __len__(self) -> int:
        return len(self.c)


def polygon_edges(corners: np.ndarray, profile: Profile) -> Edges:
    """Edges of (n, 3 or 4, 2) snapped convex polygons of either orientation."""
    turned = area(corners[:, :3]) + (area(corners[:, [0, 2, 3]]) if corners.shape[1] == 4 else 0) < 0
    p = np.where(turned[:, None, None], corners[:, ::-1], corners)
    d = np.roll(p, -1, axis=1) - p
    dx, dy = d[..., 0], d[..., 1]
    owns = np.where(dy == 0, (dx > 0) if profile.bottom else (dx < 0), (dy < 0) if profile.left else (dy > 0))
    c = dy * p[..., 0] - dx * p[..., 1] - ~owns
    if corners.shape[1] == 3:  # the fourth edge has everything inside
        c, dx, dy = (np.concatenate([v, np.zeros_like(v[:, :1])], 1) for v in (c, dx, dy))
    return Edges(c, dx, dy, p.min(1), p.max(1))


def point_sides(size: np.ndarray, bits: int) -> np.ndarray:
    """(n,) sides of points in subpixels: sizes in pixels, rounded, at least one subpixel."""
    return np.maximum(np.rint(size * F(1 << bits)).astype(np.int64), 1)


def point_edges(
    window: np.ndarray, size: np.ndarray, profile: Profile, viewport: tuple[int, int, int, int] | None = None
) -> Edges:
    """Squares of `size` pixels around (n, 2) window positions: samples inside, with the tie rule on their sides.

    viewport: where the device cuts points off at the viewport's border, that border.
    """
    sides = point_sides(size, profile.subpixel_bits)
    low = snap(window, profile.subpixel_bits) - sides[:, None] // 2
    high = low + sides[:, None]
    if viewport is not None and profile.cuts_points:
        least = np.array(viewport[:2]) << profile.subpixel_bits
        most = least + (np.array(viewport[2:]) << profile.subpixel_bits)
        low, high = np.clip(low, least, most), np.clip(high, least, most)
    corners = np.stack([low, np.stack([high[:, 0], low[:, 1]], -1), high, np.stack([low[:, 0], high[:, 1]], -1)], 1)
    return polygon_edges(corners, profile)


def rectangle_edges(window: np.ndarray, profile: Profile) -> Edges:
    """Lines of width 1 as multisampling draws them (section 14.5.4): rectangles around (n, 2, 2) window positions."""
    a, b = window[:, 0, :2].astype(F), window[:, 1, :2].astype(F)
    d = a - b
    length = (d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1]).astype(F)
    with np.errstate(all="ignore"):
        scale = np.where(length > 0, F(0.5) / np.sqrt(length), F(0)).astype(F)
    aside = snap(np.stack([-d[:, 1] * scale, d[:, 0] * scale], -1), profile.subpixel_bits)
    p, q = snap(a, profile.subpixel_bits), snap(b, profile.subpixel_bits)
    return _without(polygon_edges(np.stack([p - aside, q - aside, q + aside, p + aside], 1), profile), length == 0)


def _without(edges: Edges, nothing: np.ndarray) -> Edges:
    """The figures, of which some hold no sample at all."""
    edges.c[nothing] = -1
    edges.dx[nothing] = edges.dy[nothing] = 0
    return edges


def line_edges(window: np.ndarray, profile: Profile) -> Edges:
    """Lines of width 1 between (n, 2, 2) window positions: parallelograms, longer or shorter by the diamond-exit rule.

    Section 14.5.1: a line draws the pixels whose diamond |x| + |y| < 1/2 around the centre it leaves. An end is moved
    to the side of its pixel where the figure then holds, or does not hold, that pixel. Where an end lies in its pixel
    but outside the diamond, OpenGL allows a choice; this is the one measured on Mesa's software rasteriser.
    """
    one = 1 << profile.subpixel_bits
    a, b = window[:, 0, :2].astype(F), window[:, 1, :2].astype(F)
    d = a - b
    steep = np.abs(d[:, 1]) > np.abs(d[:, 0])
    ends = _Ends(a, b, d, steep)
    start_holds, end_holds = ends.held()
    start_drawn, end_drawn = ends.drawn()
    move = lambda u, wrong: np.where(wrong, -u - np.where(ends.forward, F(0.5), F(-0.5)), F(0)).astype(F)  # noqa: E731
    s_move, e_move = move(ends.su, start_holds != start_drawn), move(ends.eu, end_holds != end_drawn)
    p = snap(a + ends.along(s_move), profile.subpixel_bits)
    q = snap(b + ends.along(e_move), profile.subpixel_bits)
    half = np.where(steep[:, None], [one // 2, 0], [0, one // 2])
    return _without(polygon_edges(np.stack([p - half, q - half, q + half, p + half], 1), profile), (d == 0).all(1))


class _Ends:
    """Both ends of lines against the centres of their pixels, along the major axis u and across it, v.

    u is x, and for steep lines y turned round, so that a line drawn downwards goes forward.
    """

    def __init__(self, a: np.ndarray, b: np.ndarray, d: np.ndarray, steep: np.ndarray) -> None:
        pick = lambda p: (np.where(steep, -p[:, 1], p[:, 0]), np.where(steep, p[:, 0], p[:, 1]))  # noqa: E731
        off_a, off_b = ((p - np.floor(p) - F(0.5)).astype(F) for p in (a, b))
        self.du, self.dv = pick(d)
        self.su, self.sv = pick(off_a)
        self.eu, self.ev = pick(off_b)
        self.steep = steep
        self.forward = self.du < 0
        # An end on a pixel's lower border, when the line comes down to it, counts as on the upper border.
        self.tie = np.where((self.ev == -0.5) & (self.dv < 0), F(0.5), self.ev)
        with np.errstate(all="ignore"):
            self.slope = np.where(self.du != 0, self.dv / self.du, F(0)).astype(F)

    def along(self, move: np.ndarray) -> np.ndarray:
        """A way along the line, given along u, as (n, 2) in x and y."""
        across = move * self.slope
        return np.where(self.steep[:, None], np.stack([across, -move], -1), np.stack([move, across], -1)).astype(F)

    def held(self) -> tuple[np.ndarray, np.ndarray]:
        """Whether the figure between the bare ends holds the centre of the first and the last pixel, along u."""
        su, eu, up = self.su, self.eu, self.forward
        first = np.where(up, su <= 0, su > 0)
        # Of a steep line, whose u runs against y, the lower end's pixel is held where the end is on its centre.
        last = np.where(up, np.where(self.steep, eu >= 0, eu > 0), eu <= 0)
        return first, last

    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Whether the first and the last pixel are drawn."""
        su, sv, eu, ev = self.su, self.sv, self.eu, self.tie
        turned = np.where(self.steep, -1, 1)  # u runs against y
        ahead = lambda u: (u >= 0) != (-self.du >= 0)  # noqa: E731
        aside = lambda v: (-v * turned >= 0) != (self.dv * turned >= 0)  # noqa: E731
        meets = lambda u, v: np.abs(v + u * self.slope) < 0.5  # noqa: E731
        start = (np.abs(su) + np.abs(sv) < 0.5) | (ahead(su) & (aside(sv) | meets(su, sv)))
        border = self.steep & (self.ev + eu * self.slope == -0.5)
        end = ~(np.abs(eu) + np.abs(ev) < 0.5) & ~ahead(eu) & (~aside(ev) | meets(eu, self.ev) | border)
        return start, end
