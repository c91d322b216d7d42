"""The stages between clipping and rasterisation: sections 13.8, 14.4, 14.5 and 14.6, over whole arrays."""

import numpy as np

F = np.float32


def divide(clip):
    """(n, 4) clip positions to x, y, z and 1/w."""
    with np.errstate(all="ignore"):
        inverse = F(1) / clip[:, 3]
        return np.concatenate([clip[:, :3] * inverse[:, None], inverse[:, None]], 1).astype(F)


def snap(window, bits=8):
    """(..., 2) window positions as integers in units of 2**-bits pixel, rounded to nearest even."""
    return np.rint(window[..., :2] * F(1 << bits)).astype(np.int64)


def area(corners):
    """(n,) twice the signed areas of (n, 3, 2) triangles; positive is counter-clockwise with y up."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])


def cull(areas, state):
    """(n,) front facing and (n,) whether they go on, of triangles with these areas."""
    front = (areas > 0) != ((state.front_face == "cw") != (state.clip_origin == "upper_left"))
    gone = {None: np.zeros_like(front), "front": front, "back": ~front, "front_and_back": np.ones_like(front)}
    return front, (areas != 0) & ~gone[state.cull]


def offset(depths, slope, state):
    """(n,) what polygon offset adds to the depths of (n, 3) corners; slope: (n, 2) depth per pixel in x and y."""
    factor, units = state.polygon_offset
    exponent = np.frexp(np.abs(depths).max(1))[1] - 1
    return factor * np.abs(slope).max(1) + units * np.ldexp(1.0, exponent - 23)


def polygon_edges(corners, profile):
    """(c, dx, dy) of (n, 3 or 4, 2) snapped convex polygons of either orientation, each (n, 3 or 4) int64."""
    turned = area(corners[:, :3]) + (area(corners[:, [0, 2, 3]]) if corners.shape[1] == 4 else 0) < 0
    p = np.where(turned[:, None, None], corners[:, ::-1], corners)
    d = np.roll(p, -1, axis=1) - p
    dx, dy = d[..., 0], d[..., 1]
    owns = np.where(dy == 0, (dx > 0) == profile.bottom, (dy < 0) == profile.left)
    return dy * p[..., 0] - dx * p[..., 1] - ~owns, dx, dy


def placed(window, profile, first=0.5, bits=8):
    """Positions of points and lines on the grid; first: the centre of the first pixel, 0 with several samples."""
    if profile.halves_even:
        return snap(window, bits)
    way = (window[..., :2] - F(first)) * F(1 << bits)
    return (np.sign(way) * np.floor(np.abs(way) + F(0.5))).astype(np.int64) + int(first * (1 << bits))


def point_corners(window, size, profile, bits=8):
    """(n, 4, 2) snapped squares of `size` pixels around (n, 2) positions."""
    sides = np.maximum(np.rint(size * F(1 << bits)).astype(np.int64), 1)
    low = placed(window, profile, bits=bits) - sides[:, None] // 2
    high = low + sides[:, None]
    return np.stack([low, np.stack([high[:, 0], low[:, 1]], -1), high, np.stack([low[:, 0], high[:, 1]], -1)], 1)


def rectangle_corners(window, profile, bits=8):
    """(n, 4, 2) snapped rectangles of width 1 around lines with (n, 2, 2) positions."""
    a, b = window[:, 0, :2].astype(F), window[:, 1, :2].astype(F)
    d = a - b
    way = np.stack([-d[:, 1], d[:, 0]], -1) * (F(0.5) / np.sqrt((d * d).sum(1, dtype=F)))[:, None]
    aside, p, q = (placed(v, profile, 0, bits) for v in (way, a, b))
    return np.stack([p - aside, q - aside, q + aside, p + aside], 1)


def pairs(c, dx, dy, low, high, size, bits=8):
    """[(tile, primitive), ...] in order: the tiles of 8 x 8 pixels, counted row by row, that no edge puts wholly outside."""
    across, up = -(-size[0] // 8), -(-size[1] // 8)
    side, found = 8 << bits, []
    for tile in range(across * up):
        x, y = tile % across * side, tile // across * side
        most = c + dx * y - dy * x + np.maximum(dx, 0) * side + np.maximum(-dy, 0) * side
        boxed = ((low // side <= [x // side, y // side]) & (high // side >= [x // side, y // side])).all(1)
        found += [(tile, int(i)) for i in np.nonzero(boxed & (most >= 0).all(1))[0]]
    return found
