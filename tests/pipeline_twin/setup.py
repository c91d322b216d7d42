"""The stages between clipping and rasterisation: sections 13.8, 14.4, 14.5 and 14.6, over whole arrays."""

import numpy as np

F = np.float32


def divide(clip):
    """(n, 4) clip positions to x, y, z and 1/w."""
    with np.errstate(all="ignore"):
        inverse = F(1) / clip[:, 3]
        return np.concatenate([clip[:, :3] * inverse[:, None], inverse[:, None]], 1).astype(F)


def viewport(ndc, state, size):
    """(n, 4) float64: x and y in pixels, depth, 1/w, of (n, 4) normalised device coordinates."""
    x, y, width, height = state.viewport or (0, 0, *size)
    near, far = np.clip(state.depth_range, 0, 1)
    xd, yd, zd, inverse = ndc.astype(float).T
    if state.clip_origin == "upper_left":
        yd = -yd
    share = zd if state.clip_depth == "zero_to_one" else (zd + 1) / 2
    return np.stack([x + width * (xd + 1) / 2, y + height * (yd + 1) / 2, near + (far - near) * share, inverse], 1)


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
