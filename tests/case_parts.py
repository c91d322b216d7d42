"""What the rows of `cases.py` are made of: tolerances, shapes, inputs, edges, and kinds of rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from harness import Case, Run, Shape, Tolerance

import gpgpu_gl as gg

# --- tolerances -----------------------------------------------------------------------------------

EXACT = Tolerance("moves or compares numbers without arithmetic")
ROUNDED = Tolerance("one rounding, of which GLSL asks no more than half a unit", ulps=0.5001)
SCALED = Tolerance("a Python number becomes float32, then its product rounds", ulps=1.5)
DIVIDED = Tolerance("GLSL allows a division 2.5 units", ulps=2.5)
ROOT = Tolerance("GLSL allows a root 2 units and the division by it 2.5 more", ulps=4.5)
CLOSE = Tolerance("our own series promise 4 units (measured: below 2.6)", ulps=4)
ADDED = Tolerance("chunks of up to 256 additions, whose roundings add up like their root", summed=16)
CANCELLED = Tolerance("1 + erf or tanh loses its digits where it is nearly 0", summed=6)
AVERAGED = Tolerance("a sum, 1 / n and their product", summed=18)
CHAINED = Tolerance("each factor rounds once: up to 70,001 of them, in chunks whose roundings add up like their root", summed=300)

# --- shapes ---------------------------------------------------------------------------------------

SHAPES: tuple[Shape, ...] = ((), (1,), (5,), (8,), (3, 5), (2, 3, 4), (7, 1), (1, 7), (2, 3, 5, 6), (0,), (3, 0, 2), (4, 0))
SQUARE = Run(((1024, 1024),))
ALONE = [Run((shape,)) for shape in SHAPES]
PAIRS = [
    Run(pair)
    for pair in (
        ((), ()), ((1,), (5,)), ((5,), (5,)), ((3, 5), (3, 5)), ((3, 5), ()), ((2, 3, 4), (4,)), ((2, 2), (1,)), ((3, 1), (1, 5)),
        ((5, 1, 3), (2, 1)), ((2, 3, 5), (1, 3, 1)), ((1, 1, 2), (5, 3, 2)), ((2, 1, 8), (3, 1)), ((0,), (1,)), ((3, 1), (1, 0)),
    )
]  # fmt: skip


def over_axes(*shapes: Shape) -> list[Run]:
    """Every set of axes of every shape, with and without keepdims."""
    runs = []
    for shape in shapes:
        axes: list[Any] = [None, *range(len(shape))]
        axes += [a for n in range(2, len(shape)) for a in itertools.combinations(range(len(shape)), n)]
        runs += [Run((shape,), {"axis": axis, "keepdims": keep}) for axis in axes for keep in (False, True)]
    return runs


LONG = [
    Run(((700, 3),), {"axis": 0}), Run(((3, 2100),), {"axis": -1}), Run(((2, 300, 5),), {"axis": (0, 1)}), Run(((70001,),)),
    Run(((1, 5000),), {"axis": -1, "keepdims": True}), Run(((5000, 1),), {"axis": (0, -1)}),
]  # fmt: skip
REDUCED = over_axes((), (1,), (5,), (3, 5), (2, 3, 4), (7, 1), (2, 3, 2, 6)) + LONG
EMPTY_SUMS = [
    Run(((0,),)), Run(((3, 0, 2),), {"axis": 1}), Run(((3, 0, 2),), {"axis": 0}), Run(((0, 4),), {"axis": 0, "keepdims": True}),
]  # fmt: skip
EMPTY_KEPT = [Run(((3, 0),), {"axis": 0}), Run(((0, 4),), {"axis": -1})]
ONE_AXIS = [r for r in REDUCED if not isinstance(r.options.get("axis"), tuple)] + EMPTY_KEPT


# --- inputs ---------------------------------------------------------------------------------------


def normal(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return rng.standard_normal(shape)


def positive(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return np.exp(rng.standard_normal(shape))


def nonzero(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """0.3 at least, of either sign."""
    return (0.3 + np.abs(rng.standard_normal(shape))) * rng.choice([-1.0, 1.0], shape)


def above_minus_1(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return np.exp(rng.standard_normal(shape)) - 0.9


def wide(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Up to some tens, and a good way from halves and whole numbers, where roundings jump."""
    return np.round(10 * rng.standard_normal(shape)) + rng.choice([-0.4, -0.1, 0.1, 0.4], shape)


def few_whole(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """-1, 0 or 1: often equal, often zero."""
    return rng.integers(-1, 2, shape).astype(np.float64)


def mask(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return rng.random(shape) < 0.5


def index_below(side: int) -> Any:
    """int32 indices of an axis of that length, from either end."""
    return lambda rng, shape: rng.integers(-side, side, shape).astype(np.int32)


# --- edges ----------------------------------------------------------------------------------------

VALUES = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 1e-8, -1e-8, 1e-30, -1e-30, 1e30, -1e30, 3e38, -3e38,
     88, -88, 1e3, -1e3, 1e4, -1e4, 16777216, -16777217, 2.5, -3.5],
    np.float32,
)  # fmt: skip
AT_EDGES = [((VALUES,), {})]
EDGE_PAIRS = [((VALUES[:, None], VALUES), {})]
# Rows of ordinary numbers with one edge each, at different places; rows of nothing else; and the same by columns.
_ROWS = np.tile(np.float32([0.5, -1, 2, 0.25, -3]), (len(VALUES), 1))
_ROWS[np.arange(len(VALUES)), np.arange(len(VALUES)) % 5] = VALUES
_ROWS = np.concatenate([_ROWS, np.repeat(VALUES[:3, None], 5, axis=1), np.float32([[np.inf, -np.inf, 1, np.nan, 0]])])
EDGE_ROWS = [((_ROWS,), {"axis": -1}), ((_ROWS.T.copy(),), {"axis": 0}), ((np.tile(_ROWS, (1, 300)),), {"axis": -1})]


# --- kinds of rows --------------------------------------------------------------------------------


def unary(name: str, reference: Any, tolerance: Tolerance, draws: Any = normal, grad: bool = True, **more: Any) -> Case:
    """An elementwise operator of one tensor."""
    more = {"runs": ALONE, "edges": AT_EDGES, "speed": SQUARE, **more}
    return Case(name, getattr(gg, name), reference, tolerance=tolerance, draws=draws, grad=(0,) if grad else (), **more)


def binary(name: str, reference: Any, tolerance: Tolerance, draws: Any = normal, grad: bool = True, **more: Any) -> Case:
    """An elementwise operator of two operands that broadcast."""
    more = {"runs": PAIRS, "edges": EDGE_PAIRS, "speed": Run(SQUARE.shapes * 2), "scalars": True, **more}
    return Case(name, getattr(gg, name), reference, tolerance=tolerance, draws=draws, grad=(0, 1) if grad else (), **more)


def reduction(name: str, reference: Any, tolerance: Tolerance, runs: Any, grad: bool = True, **more: Any) -> Case:
    """A reduction over axes."""
    more = {"draws": normal, "edges": EDGE_ROWS, "speed": Run(SQUARE.shapes, {"axis": -1}), **more}
    return Case(name, getattr(gg, name), reference, runs, tolerance, grad=(0,) if grad else (), **more)


def moving(name: str, call: Any, reference: Any, runs: Any, **more: Any) -> Case:
    """An operator that moves elements: exact, of any dtype, and differentiable."""
    more = {"draws": normal, "result": "same", "grad": (0,), **more}
    return Case(name, call, reference, runs, EXACT, **more)


def rows(*shapes_and_options: tuple[Any, dict[str, Any]]) -> list[Run]:
    """Runs of one tensor: (shape, options) each."""
    return [Run((shape,), options) for shape, options in shapes_and_options]
