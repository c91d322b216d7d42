"""Rows of the table of cases for running sums, sorting and searching."""

from __future__ import annotations

import numpy as np
from case_parts import AT_EDGES, EDGE_ROWS, EXACT, VALUES, Tolerance, few_whole, moving, normal, rows
from harness import Case, Run, Shape

import gpgpu_gl as gg

# Up to 128 additions in a row within a block, the block's total, and those of up to two levels of blocks above.
RUNNING = Tolerance("blocks of up to 128 additions one after another, and their totals likewise", summed=140)
LONG = rows(((515,), {}), ((3, 4100), {"axis": -1}), ((131, 5), {"axis": 0}))


def _cumulative_sum(x: np.ndarray, axis: int = 0, include_initial: bool = False) -> np.ndarray:
    sums = np.cumsum(x, axis=axis)
    return np.concatenate([np.zeros_like(sums.take([0], axis)), sums], axis) if include_initial else sums


def _sort(x: np.ndarray, axis: int = -1, descending: bool = False) -> np.ndarray:
    return np.take_along_axis(x, _argsort(x, axis, descending), axis)


def _argsort(x: np.ndarray, axis: int = -1, descending: bool = False) -> np.ndarray:
    """Stable, NaN as the largest."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Equal elements keep their order: the ranks of their values, turned round.
    _, ranks = np.unique(x, return_inverse=True)
    return np.argsort(-ranks.reshape(x.shape), axis=axis, kind="stable")


SORTED = rows(
    ((5,), {}), ((1,), {}), ((8,), {"descending": True}), ((3, 5), {"axis": 0}), ((2, 3, 4), {"axis": 1}),
    ((3, 21), {"descending": True}), ((4, 130), {}), ((1031,), {}), ((70, 3), {"axis": 0, "descending": True}),
    ((0,), {}), ((3, 0), {}), ((0, 4), {"axis": 1}),
)  # fmt: skip


def ascending(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return np.sort(3 * rng.standard_normal(shape))


def apart(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Numbers so far apart that the small steps of a numerical derivative do not change their order."""
    return rng.permutation(int(np.prod(shape))).reshape(shape) / 8 - 2.0


ORDERED = [
    Case(
        "cumulative_sum", gg.cumulative_sum, _cumulative_sum,
        [
            *rows(
                ((5,), {}), ((1,), {}), ((8,), {"include_initial": True}), ((3, 5), {"axis": 1}), ((3, 5), {"axis": 0}),
                ((2, 3, 4), {"axis": 1}), ((2, 3, 4), {"axis": -1, "include_initial": True}), ((0,), {}), ((3, 0), {"axis": 0}),
            ),
            *LONG,
        ],
        RUNNING, normal, grad=(0,), edges=EDGE_ROWS[:2], speed=Run(((1000, 1000),), {"axis": -1}),
    ),
    moving(
        "sort", gg.sort, _sort, SORTED, draws=apart, edges=[((VALUES,), {}), *EDGE_ROWS[:2]], covers=("reorder",),
        speed=Run(((100_000,),)),
    ),
    Case(
        "argsort", gg.argsort, _argsort, SORTED, EXACT, few_whole, result="int32",
        edges=[*AT_EDGES, *EDGE_ROWS[:2], ((VALUES,), {"descending": True})],
    ),
    Case(
        "searchsorted", gg.searchsorted, np.searchsorted,
        [
            Run(shapes, {"side": side})
            for side in ("left", "right")
            for shapes in (((5,), (7,)), ((1,), ()), ((130,), (3, 5)), ((0,), (4,)), ((9,), (0,)), ((1031,), (2, 3, 4)))
        ],
        EXACT, (ascending, normal), dtypes="fhi", result="int32",
        edges=[((np.sort(VALUES), VALUES), {"side": side}) for side in ("left", "right")],
    ),
]  # fmt: skip
