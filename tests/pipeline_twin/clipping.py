"""Clipping, section 13.7, in float64: polygons by Sutherland and Hodgman, lines by the part that every plane leaves."""

import numpy as np

PLANES = np.array([[-1, 0, 0, 1], [1, 0, 0, 1], [0, -1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, -1, 1]], float)


def clip(polygon, planes=PLANES):
    """The polygon's part on the positive side of every plane: rows are (x, y, z, w, outputs...)."""
    rows = [np.asarray(row, float) for row in polygon]
    for plane in planes:
        kept = []
        for a, b in zip(rows, rows[1:] + rows[:1], strict=True):
            da, db = a[:4] @ plane, b[:4] @ plane
            if da >= 0:
                kept.append(a)
            if (da >= 0) != (db >= 0):
                kept.append(a + (b - a) * (da / (da - db)))
        rows = kept if len(kept) >= 3 else []
    return rows


def clip_line(a, b, planes=PLANES):
    """(from, to) shares of the line from a to b, clip positions, that are inside, or None."""
    first, last = 0.0, 1.0
    for da, db in zip(planes @ np.asarray(a, float), planes @ np.asarray(b, float), strict=True):
        if da < 0 and db < 0:
            return None
        if da < 0:
            first = max(first, da / (da - db))
        if db < 0:
            last = min(last, da / (da - db))
    return (first, last) if first <= last else None


def holds(p, planes=PLANES):
    """Whether a point is inside."""
    return bool((planes @ np.asarray(p, float) >= 0).all())
