"""Scissor, stencil, depth, blending: section 17.3, one fragment on one pixel."""

import operator

import numpy as np

COMPARE = {
    "never": lambda a, b: False, "less": operator.lt, "equal": operator.eq, "lequal": operator.le,
    "greater": operator.gt, "notequal": operator.ne, "gequal": operator.ge, "always": lambda a, b: True,
}  # fmt: skip
STENCIL = {
    "keep": lambda s, r: s, "zero": lambda s, r: 0, "replace": lambda s, r: r, "invert": lambda s, r: ~s & 255,
    "incr": lambda s, r: min(s + 1, 255), "incr_wrap": lambda s, r: (s + 1) % 256,
    "decr": lambda s, r: max(s - 1, 0), "decr_wrap": lambda s, r: (s - 1) % 256,
}  # fmt: skip


def factor(name, s, d, k):
    """A blend factor as four numbers."""
    one_minus = name.startswith("one_minus_")
    name = name.removeprefix("one_minus_")
    values = {
        "zero": np.zeros(4), "one": np.ones(4), "src_color": s, "dst_color": d, "constant_color": k,
        "src_alpha": np.full(4, s[3]), "dst_alpha": np.full(4, d[3]), "constant_alpha": np.full(4, k[3]),
        "src_alpha_saturate": np.array([min(s[3], 1 - d[3])] * 3 + [1]),
    }[name]  # fmt: skip
    return 1 - values if one_minus else values


def blend(b, s, d):
    """The colour after blending source s over destination d, float64."""
    s, d, k = (np.asarray(v, float) for v in (s, d, b.constant))
    parts = []
    for i in range(2):
        fs, fd = factor(b.pair("source")[i], s, d, k), factor(b.pair("destination")[i], s, d, k)
        parts.append({
            "add": s * fs + d * fd, "subtract": s * fs - d * fd, "reverse_subtract": d * fd - s * fs,
            "min": np.minimum(s, d), "max": np.maximum(s, d),
        }[b.pair("equation")[i]])  # fmt: skip
    return np.append(parts[0][:3], parts[1][3])


def fragment(state, pixel, color, depth, front=True):
    """(color, depth, stencil) of a pixel after one fragment met it."""
    held, z, s = pixel
    deep = state.depth_test is None or COMPARE[state.depth_test](depth, z)
    if state.stencils is not None:
        test = state.stencils[0 if front else 1]
        agrees = COMPARE[test.compare](test.reference & test.read_mask, s & test.read_mask)
        name = test.fail if not agrees else test.depth_pass if deep else test.depth_fail
        new = STENCIL[name](s, test.reference)
        s = (s & ~test.write_mask) | (new & test.write_mask)
        if not agrees:
            return held, z, s
    if not deep:
        return held, z, s
    if state.depth_write and state.depth_test is not None:
        z = depth
    b = state.blend_of(0)
    put = np.asarray(color, float) if b is None else blend(b, color, held)
    mask = np.array([c in state.mask_of(0) for c in "rgba"])
    return np.where(mask, put, held), z, s


def scissored(state, x, y):
    """Whether the scissor test lets a pixel's fragments on."""
    if state.scissor is None:
        return True
    left, bottom, width, height = state.scissor
    return left <= x < left + width and bottom <= y < bottom + height


def early(state, held, depths):
    """[whether the depth test will pass, ...] of a pixel's fragments in order; held: the depth before them."""
    low, high = sorted(state.depth_range) if state.depth_clamp else (0, 1)
    passes = []
    for depth in depths:
        depth = min(max(depth, low), high)
        passes.append(bool(COMPARE[state.depth_test](depth, held)))
        if passes[-1] and state.depth_write:
            held = depth
    return passes
