"""Rows of the table of cases: prefix sums, searching, sorting and what is made of them."""

from __future__ import annotations

import numpy as np
from case_parts import ADDED, EDGE_ROWS, EXACT, normal, rows
from harness import Case, Run

import gpgpu_gl as gg


def _cumulative_sum(x: np.ndarray, axis: int = 0, include_initial: bool = False) -> np.ndarray:
    sums = np.cumsum(x, axis=axis)
    return np.concatenate([np.zeros_like(sums.take([0], axis)), sums], axis) if include_initial else sums


SUMMED = rows(
    ((5,), {}), ((1,), {}), ((64,), {}), ((3, 5), {"axis": 0}), ((3, 5), {"axis": -1}), ((2, 3, 4), {"axis": 1}), ((7, 1), {"axis": 0}),
    ((1, 7), {"axis": 1}), ((2, 3, 5, 6), {"axis": 2}), ((5,), {"include_initial": True}), ((8,), {"include_initial": True}),
    ((3, 5), {"axis": 0, "include_initial": True}), ((2, 3, 4), {"axis": -1, "include_initial": True}), ((3, 261), {"axis": -1}),
    ((65, 3), {"axis": 0}), ((2, 1030, 5), {"axis": 1}), ((256,), {}), ((257,), {}), ((257,), {"include_initial": True}),
    ((2, 70, 3), {"axis": 1, "include_initial": True}), ((70001,), {}), ((3, 5000), {"axis": -1, "include_initial": True}),
)  # fmt: skip
NO_SUMS = rows(((0,), {}), ((3, 0, 2), {"axis": 1}), ((3, 0, 2), {"axis": 0}), ((4, 0), {"axis": 0}))


def _sorted(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.sort(rng.integers(-20, 20, shape) / 4)


def _looked_for(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(-24, 24, shape) / 4


_EDGES = np.float32([-np.inf, -3e38, -1, -1e-45, -0.0, 0.0, 0.0, 1e-45, 1e-38, 0.5, 3e38, np.inf, np.nan, np.nan])

SORTING = [
    Case(
        "cumulative_sum", gg.cumulative_sum, _cumulative_sum, [*SUMMED, *NO_SUMS], ADDED, normal, grad=(0,),
        edges=EDGE_ROWS[:2], speed=Run(((1 << 20,),)),
    ),
    Case(
        "searchsorted", lambda x, v, side="left": gg.searchsorted(x, v, side=side),
        lambda x, v, side="left": np.searchsorted(x, v, side),
        [
            Run(shapes, {"side": side})
            for shapes in (((5,), (7,)), ((8,), (2, 3, 5)), ((1,), (1,)), ((300,), (9, 70)), ((70001,), (3, 5)), ((4,), ()))
            for side in ("left", "right")
        ] + [Run(shapes) for shapes in (((0,), (3,)), ((5,), (3, 0)), ((255,), (40,)), ((256,), (40,)), ((257,), (40,)))],
        EXACT, (_sorted, _looked_for), dtypes="", result="int32",
        edges=[((_EDGES, _EDGES[::-1].copy()), {"side": side}) for side in ("left", "right")],
    ),
]  # fmt: skip
