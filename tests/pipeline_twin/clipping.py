"""Clipping, section 13.7, by Sutherland and Hodgman in float64."""

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
