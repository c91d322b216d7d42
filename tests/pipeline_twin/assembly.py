"""Primitive assembly, section 10.1."""


def triangles(vertices, mode, provoking="last", restart=None):
    """[(corners, provoking vertex), ...] of a list of vertex numbers."""
    if restart is not None:
        runs, run = [], []
        for v in vertices:
            if v == restart:
                runs.append(run)
                run = []
            else:
                run.append(v)
        return [t for r in [*runs, run] for t in triangles(r, mode, provoking)]
    v, found = list(vertices), []
    if mode == "triangles":
        found = [((v[i], v[i + 1], v[i + 2]), v[i + 2], v[i]) for i in range(0, len(v) - 2, 3)]
    if mode == "triangle_strip":
        for i in range(len(v) - 2):
            corners = (v[i], v[i + 1], v[i + 2]) if i % 2 == 0 else (v[i + 1], v[i], v[i + 2])
            found.append((corners, v[i + 2], v[i]))
    if mode == "triangle_fan":
        found = [((v[0], v[i + 1], v[i + 2]), v[i + 2], v[i + 1]) for i in range(len(v) - 2)]
    return [(corners, last if provoking == "last" else first) for corners, last, first in found]


def lines(vertices, mode):
    """[(start, end), ...]."""
    v = list(vertices)
    if mode == "lines":
        return [(v[i], v[i + 1]) for i in range(0, len(v) - 1, 2)]
    pairs = [(v[i], v[i + 1]) for i in range(len(v) - 1)]
    return [*pairs, (v[-1], v[0])] if mode == "line_loop" and len(v) > 1 else pairs
