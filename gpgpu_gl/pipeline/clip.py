"""Clipping against the view volume and the user's planes (OpenGL 4.6, section 13.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.pipeline.vertex import Vertices
from gpgpu_gl.pipeline.wrap import Slot

F = np.float32


@dataclass
class Clipped:
    """vertices: those given and, behind them, the new ones. primitives: what is left, polygons cut into fans.

    source: (n,) the primitive before clipping. dropped: primitives with a position that is no finite number, or is (0, 0, 0, 0).
    rejected: primitives wholly outside. cut: primitives that clipping changed.
    """

    vertices: Vertices
    primitives: Primitives
    source: np.ndarray
    dropped: int
    rejected: int
    cut: int


def planes(state: State) -> list[tuple[np.ndarray, int]]:
    """(coefficients on x, y, z, w; -1) of the view volume's planes, then (nothing, d) for user distance d, in order.

    The order decides the vertices of polygons that cross several planes.
    """
    rows = [(-1, 0, 0, 1), (1, 0, 0, 1), (0, -1, 0, 1), (0, 1, 0, 1)]
    if not state.depth_clamp:
        rows += [(0, 0, 1, 0 if state.clip_depth == "zero_to_one" else 1), (0, 0, -1, 1)]
    if state.primitive == "points":  # a point is dropped by its centre, and drawn whole
        rows = rows[:4] + rows[4:]
    return [(np.array(row, F), -1) for row in rows] + [(np.zeros(4, F), d) for d in range(state.clip_distances)]


def distances(vertices: Vertices, state: State) -> np.ndarray:
    """(n, planes) signed distances; negative is outside."""
    x, y, z, w = vertices.clip.T
    columns = []
    for row, user in planes(state):
        if user >= 0:
            columns.append(
                vertices.distances[:, user] if user < vertices.distances.shape[1] else np.zeros(len(vertices), F)
            )
        else:
            columns.append(((x * row[0] + y * row[1]) + z * row[2]) + w * row[3])
    return np.stack(columns, -1).astype(F)


def clip(vertices: Vertices, primitives: Primitives, state: State, slots: Sequence[Slot] = ()) -> Clipped:
    """Cuts primitives at the planes. Outputs of new vertices are linear in clip space, in float32 as devices do.

    slots: of the vertices' floats; those with noperspective are linear in the window instead.
    """
    # (0, 0, 0, 0) is inside all planes and has no place in the window.
    finite = np.isfinite(vertices.clip).all(1) & (vertices.clip != 0).any(1)
    good = finite[primitives.corners].all(1)
    distance = distances(
        Vertices(np.where(finite[:, None], vertices.clip, F(0)), vertices.floats, vertices.ints, vertices.distances),
        state,
    )
    outside = (distance < 0)[primitives.corners]  # (n, corners, planes)
    rejected = good & outside.all(1).any(-1)
    crossing = good & ~rejected & outside.any((1, 2))
    inside = good & ~rejected & ~crossing
    order = np.arange(len(primitives))
    whole = (primitives.taken(inside), order[inside])
    pool = _Pool(vertices, distance, state, slots)
    cut, source = (
        _cut(primitives, order[crossing], outside, pool, state)
        if crossing.any()
        else (primitives.taken(order[:0]), order[:0])
    )
    merged = np.argsort(np.concatenate([whole[1], source]), kind="stable")
    both = Primitives(
        *(np.concatenate([getattr(whole[0], n), getattr(cut, n)])[merged] for n in ("corners", "provoking", "number"))
    )
    all_sources = np.concatenate([whole[1], source])[merged]
    return Clipped(pool.finished(), both, all_sources, int((~good).sum()), int(rejected.sum()), int(crossing.sum()))


class _Pool:
    """Vertices that grow: every cut of an edge adds one for each polygon that has it."""

    def __init__(self, vertices: Vertices, distance: np.ndarray, state: State, slots: Sequence[Slot]) -> None:
        self.start, self.state = vertices, state
        self.parts: list[np.ndarray] = []
        self.ints = vertices.ints
        self.slots = vertices.floats.shape[1]
        size = vertices.size[:, None] if vertices.size is not None else np.zeros((len(vertices), 0), F)
        linear = vertices.floats.reshape(len(vertices), 4 * self.slots)
        self.all = np.concatenate([vertices.clip, distance, vertices.distances, size, linear], 1).astype(F)
        self.planes = distance.shape[1]
        straight = [slot.interpolation == "noperspective" for slot in slots]
        first = self.all.shape[1] - linear.shape[1]
        self.straight = first + np.nonzero(np.repeat(np.array(straight, bool), 4))[0]

    def between(self, a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Rows of new vertices a + (b - a) * t."""
        new = self.all[a] + (self.all[b] - self.all[a]) * t[:, None]
        rows = len(self.all) + np.arange(len(a))
        if len(self.straight):
            share = _in_window(self.all[a, :4], self.all[b, :4], new[:, :4], t)[:, None]
            low, high = self.all[a][:, self.straight], self.all[b][:, self.straight]
            new[:, self.straight] = low + (high - low) * share
        self.all = np.concatenate([self.all, new.astype(F)])
        clip = self.all[rows, :4]
        self.all[rows, 4 : 4 + self.planes] = distances(
            Vertices(
                clip,
                np.zeros((len(a), 0, 4), F),
                self.ints[:0],
                self.all[rows, 4 + self.planes : 4 + self.planes + self.start.distances.shape[1]],
            ),
            self.state,
        )
        return rows

    def finished(self) -> Vertices:
        n, v = len(self.all), self.start
        at = 4 + self.planes + v.distances.shape[1]
        sized = v.size is not None
        ints = np.concatenate([v.ints, np.zeros((n - len(v), *v.ints.shape[1:]), np.int32)])
        return Vertices(
            self.all[:, :4],
            self.all[:, at + sized :].reshape(n, self.slots, 4),
            ints,
            self.all[:, 4 + self.planes : at],
            self.all[:, at] if sized else None,
        )


def _in_window(a: np.ndarray, b: np.ndarray, new: np.ndarray, t: np.ndarray) -> np.ndarray:
    """How far the new vertex lies from a to b in the window, by x, or by y where x is the same."""
    share = t
    with np.errstate(all="ignore"):
        for axis in (1, 0):
            low, high, at = (p[:, axis] / p[:, 3] for p in (a, b, new))
            share = np.where(low != high, (at - low) / (high - low), share)
    return np.nan_to_num(share.astype(F))


def _cut(
    primitives: Primitives, which: np.ndarray, outside: np.ndarray, pool: _Pool, state: State
) -> tuple[Primitives, np.ndarray]:
    """Clips the primitives `which`, all at once, plane after plane."""
    corners = primitives.corners[which]
    m, sides = corners.shape
    if sides == 1:  # a point is inside or not
        return primitives.taken(which[:0]), which[:0]
    polygon = np.full((m, sides + pool.planes), -1, np.int64)
    polygon[:, :sides] = corners
    count = np.full(m, sides)
    for plane in range(pool.planes):
        touched = np.nonzero(outside[which, :, plane].any(1))[0]
        if len(touched):
            polygon[touched], count[touched] = _against(polygon[touched], count[touched], plane, pool, sides == 2)
    if sides == 2:
        left = np.nonzero(count == 2)[0]
        return Primitives(polygon[left, :2], primitives.provoking[which[left]], primitives.number[which[left]]), which[
            left
        ]
    fans, owners = [], []
    for i in range(2, polygon.shape[1]):
        has = np.nonzero(count > i)[0]
        # The fan turns around vertex 0, the provoking one last or first.
        order = (i - 1, i, 0) if state.provoking == "last" else (0, i - 1, i)
        fans.append(polygon[has][:, list(order)])
        owners.append(has)
    triangles, owner = np.concatenate(fans), np.concatenate(owners)
    sort = np.argsort(owner, kind="stable")
    triangles, owner = triangles[sort], which[owner[sort]]
    return Primitives(triangles, primitives.provoking[owner], primitives.number[owner]), owner


def _against(
    polygon: np.ndarray, count: np.ndarray, plane: int, pool: _Pool, line: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Sutherland and Hodgman's step for one plane, all polygons at once, corner by corner."""
    m, most = polygon.shape
    out = np.full((m, most + 1), -1, np.int64)
    filled = np.zeros(m, np.int64)
    rows = np.arange(m)
    d = lambda v: pool.all[v, 4 + plane]  # noqa: E731
    steps = 1 if line else int(count.max(initial=0))
    for i in range(steps):
        alive = (i < count) & (count > 0)
        a = polygon[rows, np.minimum(i, np.maximum(count - 1, 0))]
        b = polygon[rows, np.where(i + 1 < count, i + 1, 0)] if not line else polygon[:, 1]
        da, db = d(a), d(b)
        keep = alive & (da >= 0)
        out[rows[keep], filled[keep]] = a[keep]
        filled[keep] += 1
        crosses = alive & ((da >= 0) != (db >= 0)) & (da != db)
        if crosses.any():
            inner, outer = np.where(da >= 0, a, b)[crosses], np.where(da >= 0, b, a)[crosses]
            d_in, d_out = d(inner), d(outer)
            # From the nearer vertex, whose share is then the more exact one.
            swap = -d_out >= d_in
            near, far = np.where(swap, inner, outer), np.where(swap, outer, inner)
            d_near, d_far = np.where(swap, d_in, d_out), np.where(swap, d_out, d_in)
            t = (d_near / (d_near - d_far)).astype(F)
            out[rows[crosses], filled[crosses]] = pool.between(near, far, t)
            filled[crosses] += 1
        if line:
            keep = alive & (db >= 0)
            out[rows[keep], filled[keep]] = b[keep]
            filled[keep] += 1
    least = 2 if line else 3
    return out[:, :most], np.where(filled >= least, filled, 0)
