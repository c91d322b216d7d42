"""Every operator of the table of cases, on every path, against NumPy in float64."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Sequence

import pytest
from cases import CASES
from harness import (
    Case,
    Run,
    check_dtypes,
    check_edges,
    check_forward,
    check_gradient,
    check_layouts,
    check_second,
    poisoned,
)
from test_render_transform import CASES as TRANSFORMS

from gpgpu_gl import ops
from gpgpu_gl.op import Op

pytestmark = pytest.mark.gl33

every_case = pytest.mark.parametrize("case", CASES, ids=str)
differentiable = pytest.mark.parametrize("case", [c for c in CASES if c.grad], ids=str)


# Public functions that return tensors and have no row of their own: what operators are made of, or another name of one.
INTERNAL = {"as_tensor", "floats", "pointwise", "product", "reduce", "unbroadcast", "getitem", "transposed", "weights"}


def few(runs: Sequence[Run], count: int, largest: int = 400) -> list[Run]:
    """Some runs on small tensors, spread over the list."""
    small = [r for r in runs if all(_size(s) <= largest for s in r.shapes)]
    return small[:: max(1, len(small) // count)]


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for side in shape:
        size *= side
    return size


@every_case
def test_forward(case: Case, path: str) -> None:
    with poisoned():
        for run in case.runs:
            check_forward(case, run)


@pytest.mark.parametrize("case", [c for c in CASES if c.edges], ids=str)
def test_edges(case: Case, path: str) -> None:
    with poisoned():
        check_edges(case)


@every_case
def test_layouts(case: Case, path: str) -> None:
    with poisoned():
        for run in few([r for r in case.runs if any(len(s) > 1 for s in r.shapes)], 3):
            check_layouts(case, run)


@pytest.mark.parametrize("case", [c for c in CASES if c.dtypes], ids=str)
def test_dtypes(case: Case, path: str) -> None:
    with poisoned():
        check_dtypes(case)


@differentiable
def test_gradient(case: Case, path: str) -> None:
    with poisoned():
        for run in few(case.runs, 7):
            check_gradient(case, run)


@pytest.mark.parametrize("case", [c for c in CASES if c.grad and c.second], ids=str)
def test_second_derivative(case: Case, path: str) -> None:
    with poisoned():
        for run in few([r for r in case.runs if all(1 <= _size(s) for s in r.shapes)], 2, 60):
            check_second(case, run)


def _public() -> set[str]:
    """Names of the public functions of gpgpu_gl.ops that tensors come out of."""
    found = set()
    for module in pkgutil.iter_modules(ops.__path__):
        for name, value in vars(importlib.import_module(f"gpgpu_gl.ops.{module.name}")).items():
            if isinstance(value, Op) or not inspect.isfunction(value) or name.startswith("_"):
                continue
            if value.__module__ == f"gpgpu_gl.ops.{module.name}" and value.__annotations__.get("return") == "Tensor":
                found.add(name)
    return found - INTERNAL


def test_every_operator_has_a_case() -> None:
    """Registered operators and public functions; one that only others call is named in a row's `covers`."""
    have = {case.name for case in CASES} | {name for case in CASES for name in case.covers}
    have |= {f"transform.{name}" for name in TRANSFORMS}  # the renderer's have a table of their own, in its layer
    missing = (_public() | set(Op.registry)) - have
    assert not missing, f"no row in cases.py for {sorted(missing)}"


def test_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names), [n for n in names if names.count(n) > 1]


@pytest.mark.parametrize("case", [c for c in CASES if c.covers], ids=str)
def test_what_a_row_covers_is_called_by_it(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    called = set()
    original = Op.__call__

    def watched(self: Op, *tensors: object, **attributes: object) -> object:
        called.add(self.name)
        return original(self, *tensors, **attributes)

    monkeypatch.setattr(Op, "__call__", watched)
    for run in few(case.runs, 3):
        check_gradient(case, run)
        check_second(case, run)
    assert set(case.covers) <= called
