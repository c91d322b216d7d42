"""Coverage, quads, weights: sections 14.6 and 14.9, over whole pictures."""

import numpy as np


def coverage(corners, size, sample=(128, 128), bits=8, left=True, bottom=True):
    """(H, W) bool: which samples a triangle of (3, 2) integer corners in subpixels covers."""
    width, height = size
    a, b, c = (tuple(int(v) for v in p) for p in corners)
    area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    if area == 0:
        return np.zeros((height, width), bool)
    ring = [a, b, c] if area > 0 else [a, c, b]
    y, x = np.mgrid[0:height, 0:width].astype(np.int64) << bits
    x, y = x + sample[0], y + sample[1]
    inside = np.ones((height, width), bool)
    for p, q in zip(ring, ring[1:] + ring[:1], strict=True):
        dx, dy = q[0] - p[0], q[1] - p[1]
        e = dx * (y - p[1]) - dy * (x - p[0])
        on_left, on_bottom = dy < 0, dy == 0 and dx > 0
        owned = (on_left == left) if dy != 0 else (on_bottom == bottom)
        inside &= (e > 0) | ((e == 0) & owned)
    return inside


def quads(covered):
    """[(x, y), ...] the 2 x 2 blocks with a covered pixel, as a set."""
    height, width = covered.shape
    padded = np.zeros((height + height % 2, width + width % 2), bool)
    padded[:height, :width] = covered
    blocks = padded.reshape(padded.shape[0] // 2, 2, -1, 2).any((1, 3))
    return {(2 * int(x), 2 * int(y)) for y, x in zip(*np.nonzero(blocks), strict=True)}


def weights(window, x, y):
    """Barycentric weights, linear in the window, of the point (x, y) in a triangle of (3, 2+) positions; float64."""
    (ax, ay), (bx, by), (cx, cy) = np.asarray(window, float)[:, :2]
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    u = ((bx - x) * (cy - y) - (cx - x) * (by - y)) / area
    v = ((cx - x) * (ay - y) - (ax - x) * (cy - y)) / area
    return np.array([u, v, 1 - u - v])


def perspective(linear, inverse_w):
    """Perspective-correct weights."""
    shares = linear * np.asarray(inverse_w, float)
    return shares / shares.sum()
