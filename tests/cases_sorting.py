"""Rows of the table of cases: prefix sums, searching, sorting and what is made of them."""

from __future__ import annotations

import numpy as np
from case_parts import ADDED, EDGE_ROWS, EXACT, few_whole, normal, rows
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

def _argsort(x: np.ndarray, axis: int = -1, descending: bool = False) -> np.ndarray:
    """NaN last, or first where descending; equal elements in their order."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def _sort(x: np.ndarray, axis: int = -1, descending: bool = False) -> np.ndarray:
    return np.take_along_axis(x, _argsort(x, axis, descending), axis)


SORTED = [
    Run((shape,), {"axis": axis, "descending": descending})
    for shape, axis in (
        ((1,), 0), ((5,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 4), 1), ((7, 1), 1), ((1, 7), 0), ((64,), 0), ((65,), 0), ((3, 130), 1),
        ((300, 2), 0), ((2, 3, 257), 2), ((0,), 0), ((3, 0, 2), 0), ((3, 0, 2), 1), ((3, 1030), -1), ((10007,), -1),
    )
    for descending in (False, True)
]  # fmt: skip
_EDGE_ROWS = np.stack([_EDGES[::-1], np.roll(_EDGES, 5), -_EDGES])
EDGE_SORTS = [((_EDGE_ROWS,), {"descending": descending}) for descending in (False, True)]


def _few(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(0, 4, shape).astype(np.int32)


REPEATED = rows(
    ((5,), {"repeats": 3}), ((3, 5), {"repeats": 2}), ((3, 5), {"repeats": 2, "axis": 0}), ((2, 3, 4), {"repeats": 3, "axis": -1}),
    ((3, 5), {"repeats": 0, "axis": 1}), ((), {"repeats": 2}), ((0, 2), {"repeats": 2, "axis": 0}),
    ((3, 5), {"repeats": [1, 0, 2], "axis": 0}), ((4,), {"repeats": [3, 1, 0, 2]}), ((2, 3), {"repeats": [2], "axis": 1}),
)  # fmt: skip

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
    Case("argsort", gg.argsort, _argsort, SORTED, EXACT, few_whole, result="int32", edges=EDGE_SORTS),
    Case(
        "sort", gg.sort, _sort, SORTED, EXACT, normal, result="same", grad=(0,), edges=EDGE_SORTS, covers=("permuted",),
        speed=Run(((400000,),)),
    ),
    Case(
        "nonzero", lambda x: gg.stack(gg.nonzero(x)), lambda x: np.stack(np.nonzero(x)),
        [Run((s,)) for s in ((1,), (5,), (8,), (3, 5), (7, 1), (1, 7), (2, 3, 4), (2, 3, 5, 6), (70001,), (300, 41), (0,), (3, 0, 2))],
        EXACT, few_whole, result="int32", edges=[((np.float32([[0.0, -0.0, np.nan], [np.inf, 1e-30, 0.0]]),), {})],
    ),
    Case("repeat", gg.repeat, np.repeat, REPEATED, EXACT, normal, result="same", grad=(0,)),
    Case(
        "repeat by a tensor", lambda x, repeats, axis=None: gg.repeat(x, repeats, axis=axis), np.repeat,
        [
            Run(shapes, {"axis": axis})
            for shapes, axis in (
                (((5,), (5,)), 0), (((3, 5), (3,)), 0), (((3, 5), (5,)), -1), (((2, 3, 4), (3,)), 1), (((3, 5), (15,)), None),
                (((3, 5), (1,)), 0), (((0,), (0,)), 0), (((2000, 3), (2000,)), 0), (((4000, 3), (4000,)), 0), (((2, 4000), (4000,)), 1), (((4, 3), ()), 1),
            )
        ],
        EXACT, (normal, _few), result="same", grad=(0,), covers=("repeat_each", "segment_sum"),
    ),
]  # fmt: skip
