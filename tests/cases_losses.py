"""Rows of the table of cases: softmax, losses, normalisation and random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from case_parts import EDGE_ROWS, EXACT, ROUNDED, SQUARE, normal, positive
from harness import EPS, Case, Run, Shape, Tolerance
from philox import words
from scipy import special

import gpgpu_gl as gg
from gpgpu_gl.ops import losses, norm
from gpgpu_gl.ops import random as rnd
from gpgpu_gl.ops import softmax as soft


@dataclass(frozen=True)
class Near(Tolerance):
    """Also allows an absolute error: so many roundings of numbers of the size of 1."""

    absolute: float = 0.0

    def bound(self, want: np.ndarray, terms: np.ndarray | float, dtype: np.dtype) -> np.ndarray:
        return super().bound(want, terms, dtype) + self.absolute * EPS


SHARES = Tolerance("x - peak, below 128, rounds by half of 2^-17, which exp makes 64 units; sum and division a few more", ulps=80)
LOGARITHMS = Near("a sum of shares, from 1 up, is off by a few units, and its logarithm as much", ulps=4, absolute=4)
MEANS = Near("as the logarithms of shares, then summed over up to 300 rows", ulps=8, absolute=8, summed=0)
SQUARES = Tolerance("difference and square round, then up to 300 are summed", ulps=12)
NORMALISED = Near("mean and deviation are off by some units, by which numbers of the size of 1 move", ulps=16, absolute=16)
MOMENTS = Tolerance("a mean, a difference, a square, a sum and its share", ulps=12, summed=2)
DEVIATES = Near("r, up to 6.8, is off by a few units, sine and cosine by 1e-7", ulps=8, absolute=16)


# --- softmax --------------------------------------------------------------------------------------

ALONG = [
    Run(((5,),), {"axis": 0}), Run(((3, 10),), {"axis": -1}), Run(((3, 10),), {"axis": 0}), Run(((4, 33),), {"axis": 1}),
    Run(((2, 3, 4),), {"axis": 1}), Run(((7, 1),), {"axis": -1}), Run(((1, 7),), {"axis": 0}),
    Run(((2, 3, 5, 6),), {"axis": (0, -1)}), Run(((2, 3, 5),), {"axis": None}),
    Run(((2, 1300),), {"axis": 1}), Run(((1300, 3),), {"axis": 0}), Run(((0, 3),), {"axis": -1}),
]  # fmt: skip
WHOLE_ROWS = Run(((4096, 1000),), {"axis": -1})


def _along(name: str, tolerance: Tolerance) -> Case:
    return Case(
        name, getattr(soft, name), getattr(special, name), ALONG, tolerance, normal, result="float", grad=(0,),
        edges=EDGE_ROWS, covers=(f"{name}_vjp",), speed=WHOLE_ROWS,
    )  # fmt: skip


def _logsumexp(x: np.ndarray, axis: Any = None, keepdims: bool = False) -> np.ndarray:
    return special.logsumexp(x, axis=axis, keepdims=keepdims)


SUMMED = [r for r in ALONG if 0 not in r.shapes[0]]
KEPT = [Run(r.shapes, {**r.options, "keepdims": True}) for r in SUMMED[1:4]]

# --- losses ---------------------------------------------------------------------------------------


def _labels(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return rng.integers(0, 3, shape).astype(np.int32)


def _reduced(loss: np.ndarray, reduction: str) -> np.ndarray:
    return {"none": np.asarray, "mean": np.mean, "sum": np.sum}[reduction](loss)


def _cross_entropy(x: np.ndarray, target: np.ndarray, label_smoothing: float = 0.0, reduction: str = "mean") -> np.ndarray:
    x, classes = x.astype(np.float64), x.shape[-1]
    t = np.eye(classes)[target] if target.dtype.kind == "i" and target.ndim == x.ndim - 1 else target
    t = t * (1 - label_smoothing) + label_smoothing / classes
    return _reduced(-(t * special.log_softmax(x, axis=-1)).sum(-1), reduction)


def _nll(x: np.ndarray, labels: np.ndarray, reduction: str = "mean") -> np.ndarray:
    return _reduced(-np.take_along_axis(x, labels[..., None], -1)[..., 0], reduction)


def _by_label(*shapes: Shape, **options: Any) -> list[Run]:
    return [Run((shape, shape[:-1]), options) for shape in shapes]


LABELLED = [
    *_by_label((6, 10), (5, 3), (2, 3, 4), (4,), (300, 10)), *_by_label((6, 10), (2, 3, 4), reduction="none"),
    *_by_label((6, 10), (5, 33), reduction="sum"),
]  # fmt: skip
SMOOTHED = [
    *_by_label((6, 10), (5, 33), (3, 1000), label_smoothing=0.1), *_by_label((6, 10), label_smoothing=0.25, reduction="none"),
]  # fmt: skip


def _pairs(name: str, reference: Any, tolerance: Tolerance, target: Any = normal) -> Case:
    ways = ({}, {"reduction": "none"}, {"reduction": "sum"})
    runs = [Run((s, s), o) for s in ((), (5,), (3, 5), (2, 3, 4), (300,)) for o in ways]
    return Case(
        name, getattr(losses, name), lambda x, y, reduction="mean": _reduced(reference(x, y), reduction), runs, tolerance,
        (normal, target), result="float", grad=(0, 1), speed=Run(SQUARE.shapes * 2),
        covers={"mse_loss": ("squared_error",), "l1_loss": ("absolute_error",)}.get(name, ()),
    )  # fmt: skip


LOSSES: list[Case] = [
    _along("softmax", SHARES),
    _along("log_softmax", LOGARITHMS),
    Case(
        "logsumexp", soft.logsumexp, _logsumexp, SUMMED + KEPT, LOGARITHMS, normal, result="float", grad=(0,),
        edges=EDGE_ROWS, speed=WHOLE_ROWS,
    ),
    Case(
        "cross_entropy", losses.cross_entropy, _cross_entropy, LABELLED + SMOOTHED, MEANS, (normal, _labels), dtypes="fh",
        result="float", grad=(0,), covers=("cross_entropy_vjp",), speed=Run(((4096, 1000), (4096,))),
    ),
    Case(
        "cross_entropy of probabilities", losses.cross_entropy, _cross_entropy,
        [Run((s, s), o) for s in ((6, 10), (5, 3), (2, 3, 4)) for o in ({}, {"label_smoothing": 0.2, "reduction": "none"})],
        MEANS, (normal, positive), dtypes="fh", result="float", grad=(0, 1),
    ),
    Case("nll_loss", losses.nll_loss, _nll, LABELLED, MEANS, (normal, _labels), dtypes="fh", result="float", grad=(0,)),
    _pairs("mse_loss", lambda x, y: (x - y) ** 2, SQUARES),
    _pairs("l1_loss", lambda x, y: np.abs(x - y), SQUARES),
    _pairs("binary_cross_entropy_with_logits", lambda x, y: np.logaddexp(0, x) - x * y, MEANS),
]  # fmt: skip

# --- normalisation --------------------------------------------------------------------------------

BY_AXES = [
    Run((s,), {"axis": axis, "correction": c, "keepdims": keep})
    for s, axis, c, keep in (
        ((5,), None, 0, False), ((3, 5), 1, 1, False), ((3, 5), 0, 0, True), ((2, 3, 4), (0, 2), 1, False),
        ((2, 700), -1, 0, False),
    )
]  # fmt: skip


def _var(x: np.ndarray, axis: Any, correction: float, keepdims: bool) -> np.ndarray:
    return np.var(x, axis=axis, ddof=correction, keepdims=keepdims)


def _std(x: np.ndarray, axis: Any, correction: float, keepdims: bool) -> np.ndarray:
    return np.sqrt(_var(x, axis, correction, keepdims))


def _normalised(axes: Any) -> Any:
    def reference(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        over = axes(x, w)
        m, v = x.mean(axis=over, keepdims=True), x.var(axis=over, keepdims=True)
        return (x - m) / np.sqrt(v + 1e-5) * w + b

    return reference


NORMALISATION: list[Case] = [
    Case("var", norm.var, _var, BY_AXES, MOMENTS, normal, result="float", grad=(0,), covers=("squared_deviation",)),
    Case("std", norm.std, _std, BY_AXES, MOMENTS, normal, result="float", grad=(0,)),
    Case(
        "layer_norm", lambda x, w, b: norm.layer_norm(x, w.shape, w, b),
        _normalised(lambda x, w: tuple(range(x.ndim - w.ndim, x.ndim))),
        [Run((s, s[i:], s[i:])) for s, i in (((3, 5), 1), ((2, 3, 8), 1), ((2, 3, 8), 2), ((4, 400), 1))],
        NORMALISED, normal, dtypes="f", grad=(0, 1, 2), covers=("normalize", "normalize_vjp", "times_normalized"),
        speed=Run(((4096, 1000), (1000,), (1000,))),
    ),
    Case(
        "batch_norm", lambda x, w, b: norm.batch_norm(x, None, None, w, b, training=True),
        _normalised(lambda x, w: tuple(range(x.ndim - 1))),
        [Run((s, s[-1:], s[-1:])) for s in ((6, 5), (2, 3, 3, 8), (3, 4, 4, 3), (700, 2))],
        NORMALISED, normal, dtypes="f", grad=(0, 1, 2), speed=Run(((32, 28, 28, 64), (64,), (64,))),
    ),
    Case(
        "batch_norm by running statistics", norm.batch_norm, lambda x, m, v, w, b: (x - m) / np.sqrt(v + 1e-5) * w + b,
        [Run((s, *(s[-1:],) * 4)) for s in ((6, 5), (2, 3, 3, 8))], NORMALISED, (normal, normal, positive, normal, normal),
        dtypes="f", grad=(0, 1, 2, 3, 4), covers=("normalize_by",),
    ),
]  # fmt: skip

# --- random numbers -------------------------------------------------------------------------------

KEY = 0x0123456789ABCDEF


def _drawn(name: str, reference: Any, tolerance: Tolerance, *options: dict[str, Any]) -> Case:
    """A function that draws numbers; the same generator at every call."""
    function = getattr(rnd, name)
    runs = [Run((), {"shape": shape, **o}) for shape in ((), (7,), (3, 5), (2, 3, 8), (1, 300), (0, 2)) for o in options or ({},)]
    return Case(
        name, lambda shape, **o: function(shape, **o, generator=gg.Generator(KEY)), lambda shape, **o: reference(shape, **o),
        runs, tolerance, (), dtypes="", result="same",
    )  # fmt: skip


def _unit(shape: Shape) -> np.ndarray:
    return (words(shape, KEY, 0) >> 8) * 2.0**-24


def _normal(shape: Shape, mean: float = 0.0, std: float = 1.0) -> np.ndarray:
    last = shape[-1] if shape else 1
    w = words((*shape[:-1], -(-last // 4) * 4), KEY, 0).astype(np.uint64)
    turn = 2 * np.pi * (w >> np.uint64(8)) * 2.0**-24
    w[w >= 2**24] &= ~np.uint64(255)
    r, a = np.sqrt(-2 * np.log(np.maximum(w, 0.5) * 2.0**-32))[..., 0::2], turn[..., 1::2]
    pairs = np.stack([r * np.cos(a), r * np.sin(a)], axis=-1).reshape(w.shape)
    return mean + std * pairs[..., :last].reshape(shape)


def _randint(shape: Shape, low: int, high: int) -> np.ndarray:
    return low + ((words(shape, KEY, 0).astype(np.uint64) * np.uint64(high - low)) >> np.uint64(32)).astype(np.int64)


def _dropped(x: np.ndarray, p: float) -> np.ndarray:
    kept = _unit(x.shape) >= np.float32(p)
    return x * (kept * (0.0 if p == 1 else float(np.float32(1 / (1 - p)))))


def _order(n: int) -> np.ndarray:
    w = words((n, 4), KEY, 0)
    return np.lexsort((w[:, 1], w[:, 0]))


RANDOM: list[Case] = [
    Case(
        "random_bits", rnd.random_bits, lambda shape, key=0, counter=0: words(shape, key, counter).view(np.int32),
        [Run((), {"shape": s, **o}) for s in ((), (7,), (3, 5), (2, 0)) for o in ({}, {"key": KEY, "counter": 2**128 - 2})],
        EXACT, (), dtypes="", result="int32", speed=Run((), {"shape": (1024, 1024)}),
    ),
    _drawn("uniform", lambda shape, low=0.0, high=1.0: low + (high - low) * _unit(shape), ROUNDED, {}, {"low": -3.0, "high": 5.0}),
    _drawn("normal", _normal, DEVIATES, {}, {"mean": 10.0, "std": 0.5}),
    _drawn("randint", _randint, EXACT, {"low": -5, "high": 7}, {"low": -(2**31), "high": 2**31 - 1}),
    _drawn("bernoulli", lambda shape, p: _unit(shape) < np.float32(p), EXACT, {"p": 0.25}, {"p": 1.0}),
    Case(
        "permutation", lambda n: rnd.permutation(n, gg.Generator(KEY)), _order, [Run((), {"n": n}) for n in (0, 1, 7, 300)],
        EXACT, (), dtypes="", result="int32",
    ),
    Case(
        "dropout", lambda x, p: rnd.dropout(x, p, generator=gg.Generator(KEY)), _dropped,
        [Run((s,), {"p": p}) for s in ((5,), (3, 5), (2, 3, 4), (0, 2)) for p in (0.1, 0.5, 1.0)], ROUNDED, normal, dtypes="fh",
        grad=(0,), speed=Run(SQUARE.shapes, {"p": 0.5}),
    ),
]  # fmt: skip
