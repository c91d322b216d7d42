"""Points and lines, sections 14.4 and 14.5: their figures on the grid, and the planes of their weights and depth."""

from fractions import Fraction

import numpy as np

from pipeline_twin.setup import snap

F = np.float32


def placed(window, profile, first=0.5, bits=8):
    """Positions of points and lines on the grid; first: the centre of the first pixel, 0 with several samples."""
    if profile.halves_even:
        return snap(window, bits)
    way = (window[..., :2] - F(first)) * F(1 << bits)
    return (np.sign(way) * np.floor(np.abs(way) + F(0.5))).astype(np.int64) + int(first * (1 << bits))


def point_corners(window, size, profile, border=None, bits=8):
    """(n, 4, 2) snapped squares of (n,) sizes in pixels around (n, 2) positions. border: (2, 2) pixels they end at."""
    sides = np.maximum(np.rint(size * F(1 << bits)).astype(np.int64), 1)
    low = placed(window, profile, bits=bits) - sides[:, None] // 2
    high = low + sides[:, None]
    if border is not None:
        low, high = (np.clip(v, *(np.asarray(border) << bits)) for v in (low, high))
    return np.stack([low, np.stack([high[:, 0], low[:, 1]], -1), high, np.stack([low[:, 0], high[:, 1]], -1)], 1)


def rectangle_corners(window, profile, bits=8):
    """(n, 4, 2) snapped rectangles of width 1 around lines with (n, 2, 2) positions, and (n,) which are left out."""
    a, b = window[:, 0, :2].astype(F), window[:, 1, :2].astype(F)
    d = a - b
    length = np.sqrt((d * d).sum(1, dtype=F))[:, None]
    way = np.stack([-d[:, 1], d[:, 0]], -1) * np.divide(F(0.5), length, out=np.zeros_like(length), where=length > 0)
    aside, p, q = (placed(v, profile, 0, bits) for v in (way, a, b))
    corners = np.stack([p - aside, q - aside, q + aside, p + aside], 1)
    # Corners of pixels in the box: on its lower side they count by the tie rule.
    up = np.array([0, 0 if profile.bottom else 1])
    first, beyond = (-(-(v + up) >> bits) for v in (corners.min(1), corners.max(1)))
    return corners, (length[:, 0] == 0) | (profile.drops_lines & (first >= beyond).any(1))


def diamond_exit(a, b):
    """{(x, y), ...} the pixels that a line from a to b leaves the diamonds |x| + |y| < 1/2 around the centres of.

    Exact, for ends and centres in general position.
    """
    a, b = ([Fraction(float(v)) for v in p] for p in (a, b))
    d, half, found = (b[0] - a[0], b[1] - a[1]), Fraction(1, 2), set()
    for y in range(int(min(a[1], b[1])) - 1, int(max(a[1], b[1])) + 2):
        for x in range(int(min(a[0], b[0])) - 1, int(max(a[0], b[0])) + 2):
            to = (x + half - a[0], y + half - a[1])
            away = lambda t: sum(abs(t * w - c) for w, c in zip(d, to, strict=True))  # noqa: B023, E731
            # |x| + |y| is least at an end or where the line crosses one of the diamond's diagonals.
            turns = [min(max(c / w, Fraction(0)), Fraction(1)) for w, c in zip(d, to, strict=True) if w != 0]
            if min(map(away, [0, *turns, 1])) < half <= away(1):
                found.add((x, y))
    return found


def diamond_ends(a, b, profile):
    """The ends of a line from a to b, float32, each moved along it to where its last column's centre counts, or does not.

    The frame: u along the major axis, growing from a to b, v across it; both from the centre of the end's pixel.
    """
    step = a - b
    steep = abs(step[1]) > abs(step[0])
    major = (lambda p: (-p[1], p[0])) if steep else (lambda p: (p[0], p[1]))
    du, dv = major(step)
    forward, slope = bool(du < 0), dv / du
    one = F(1) if forward else F(-1)
    (su, sv), (eu, ev) = (major(p - np.floor(p) - F(0.5)) for p in (a, b))
    lands = F(0.5) if ev == -0.5 and dv < 0 else ev  # on the lower border, from above: the upper one of the pixel below
    falls = (dv <= 0) if steep else (dv >= 0)  # v as it is on the screen, up, or to the left of a steep line

    def toward_centre(v):
        v = -v if steep else v
        return v > 0 if falls else v <= 0

    if profile.exact_ends:
        low = not profile.bottom if steep else profile.left
        start_counts, end_counts = (
            (su * one < 0 or (su == 0 and forward == low)),
            (eu * one > 0 or (eu == 0 and forward != low)),
        )
    else:
        start_counts, end_counts = (su * one < 0 or (su == 0 and forward)), eu * one >= 0

    start_drawn = abs(su) + abs(sv) < 0.5
    if su * one < 0 or (su == 0 and not forward):  # the centre is still to come
        start_drawn |= toward_centre(sv) or abs(sv + su * slope) < 0.5
    end_drawn = False
    if eu * one > 0 or (eu == 0 and forward):  # the centre was passed
        crossed = ev + eu * slope
        end_drawn = not toward_centre(lands) or abs(crossed) < 0.5 or (steep and crossed == -0.5)
        end_drawn &= abs(eu) + abs(lands) >= 0.5

    def moved(p, u, wrong):
        way = -u - one / 2 if wrong else F(0)
        return p + np.array([way * slope, -way] if steep else [way, way * slope], F)

    return moved(a, su, start_counts != start_drawn), moved(b, eu, end_counts != end_drawn), steep, forward


def parallelogram_corners(window, profile, bits=8):
    """(n, 4, 2) snapped parallelograms, a pixel across, around lines with (n, 2, 2) positions, and (n,) which are empty."""
    corners, empty = np.zeros((len(window), 4, 2), np.int64), np.zeros(len(window), bool)
    for i, (a, b) in enumerate(window[..., :2].astype(F)):
        start, end, steep, forward = (a, b, False, True) if (a == b).all() else diamond_ends(a, b, profile)
        p, q = (placed(v, profile, bits=bits) for v in (start, end))
        aside = np.array([1 << bits - 1, 0] if steep else [0, 1 << bits - 1])
        corners[i] = p - aside, q - aside, q + aside, p + aside
        way = p[1] - q[1] if steep else q[0] - p[0]
        empty[i] = (a == b).all() or (way < 0 if forward else way > 0)
    return corners, empty


def line_planes(line, x, y, samples):
    """Weights of the second end and depth at a point, float64: along the line itself with several samples, else along the
    major axis, as section 14.5.1 allows."""
    a, b = line.astype(float)
    d, way = b[:2] - a[:2], np.array([x, y]) - a[:2]
    if samples > 1:
        along = d @ way / (d @ d)
    else:
        axis = 0 if abs(d[0]) >= abs(d[1]) else 1
        along = way[axis] / d[axis]
    return along, a[2] + along * (b[2] - a[2])


def point_coord(point, x, y, side, bits=8):
    """gl_PointCoord at a position (section 14.4.1), with t growing downwards; the side as it was snapped."""
    side = max(np.rint(side * (1 << bits)), 1) / (1 << bits)
    return 0.5 + (x - float(point[0])) / side, 0.5 - (y - float(point[1])) / side
