"""Prefix sums, searching and sorting beyond the table of cases: long tensors, options, bits, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from case_parts import ADDED
from harness import EPS, poisoned, rng_of

import gpgpu_gl as gg
from gpgpu_gl.gl.recorder import CaptureError
from gpgpu_gl.ops import sort as sorting

pytestmark = pytest.mark.gl33

ANY = (-(2**31), 2**31)  # what int32 holds


def whole(what: object, low: int, high: int, *shape: int) -> np.ndarray:
    return rng_of(what, shape).integers(low, high, shape).astype(np.int32)


# --- prefix sums ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [255, 256, 257, 2047, 2049, 65537, 1_000_003])
def test_long_sums_of_integers_wrap_exactly(size: int, path: str) -> None:
    a = whole("sums", *ANY, size)
    with poisoned():
        found = gg.cumulative_sum(gg.tensor(a)).numpy()
    assert (found == np.cumsum(a, dtype=np.int32)).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_integers_along_any_axis(axis: int, path: str) -> None:
    a = whole("axes", *ANY, 150, 130, 6)
    found = gg.cumulative_sum(gg.tensor(a), axis=axis, include_initial=True).numpy()
    first = np.zeros_like(a.take([0], axis))
    assert (found == np.concatenate([first, np.cumsum(a, axis, dtype=np.int32)], axis)).all()


def test_long_sums_of_floats_lose_little(path: str) -> None:
    """Sums of blocks lose far less than adding one by one: a million terms of 0.1 are off by less than 1e-6 of the sum."""
    a = np.full(1_000_003, 0.1, np.float32)
    want = np.cumsum(a.astype(np.float64))
    found = gg.cumulative_sum(gg.tensor(a)).numpy()
    assert np.max(np.abs(found - want) / want) < 1e-6
    assert np.max(np.abs(np.cumsum(a) - want) / want) > 1e-6


def test_a_million_elements_take_seven_passes(path: str) -> None:
    x = gg.zeros(1_000_000, "int32")
    with gg.profile(fetches=False) as p:
        gg.cumulative_sum(x)
    assert len(p.entries) <= 7


def test_infinities_stay_behind_where_they_are(path: str) -> None:
    """What comes before an infinity or a NaN is not touched by it, within a texel, a block, and across blocks."""
    for at in (2, 33, 700):
        a = np.ones(1000, np.float32)
        a[at], a[at + 7], a[-2] = np.inf, -np.inf, np.nan
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(gg.cumulative_sum(gg.tensor(a)).numpy(), np.cumsum(a))


def test_dtypes_of_sums(path: str) -> None:
    half = gg.tensor(np.full(5000, 0.5), dtype="float16")
    assert gg.cumulative_sum(half).numpy()[-1] == 2500  # in float16 alone, the sum would stop at 1024
    wide = gg.cumulative_sum(gg.tensor([True, False, True]), dtype="float32")
    assert wide.dtype == gg.float32
    assert wide.tolist() == [1, 1, 2]
    cut = gg.cumulative_sum(gg.tensor([1.75, 1.75]), dtype="int32")
    assert cut.dtype == gg.int32
    assert cut.tolist() == [1, 2]


# --- searching ------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["left", "right"])
def test_integers_above_what_floats_hold_are_found_exactly(side: str, path: str) -> None:
    a = np.sort(whole("found", *ANY, 100_003))
    v = np.concatenate([a[::7], a[::7] + 1, a[::7] - 1, np.int32([ANY[0], ANY[1] - 1])])
    assert (gg.searchsorted(gg.tensor(a), gg.tensor(v), side=side).numpy() == np.searchsorted(a, v, side)).all()


def test_floats_are_compared_bit_by_bit(path: str) -> None:
    """Neighbouring floats are told apart, denormals too."""
    a = np.sort(rng_of("floats").standard_normal(5000).astype(np.float32)) * np.float32(1e-38)
    v = np.concatenate([a, np.nextafter(a, np.float32(1)), np.nextafter(a, np.float32(-1))])
    assert (gg.searchsorted(gg.tensor(a), gg.tensor(v)).numpy() == np.searchsorted(a, v)).all()


@pytest.mark.parametrize(
    ("of", "what"), [("bool", "int32"), ("int32", "bool"), ("float16", "float32"), ("float32", "float16")]
)
def test_dtypes_of_one_kind_meet(of: str, what: str, path: str) -> None:
    a, v = np.array([0, 0, 1, 1, 1]).astype(of), np.array([1, 0, 2.5, -1]).astype(what)
    assert gg.searchsorted(gg.tensor(a), gg.tensor(v)).tolist() == np.searchsorted(a, v).tolist()


def test_a_sorter_gives_the_order(path: str) -> None:
    a = rng_of("sorter").standard_normal(300).astype(np.float32)
    order = np.argsort(a)
    want = np.searchsorted(a, [0.5, -0.5], sorter=order)
    for sorter in (order, gg.argsort(gg.tensor(a))):
        assert gg.searchsorted(gg.tensor(a), [0.5, -0.5], sorter=sorter).tolist() == want.tolist()


def test_what_is_not_sorted_gives_numbers_in_range(path: str) -> None:
    a = rng_of("unsorted").standard_normal(1000).astype(np.float32)
    a[::9] = np.nan
    with poisoned():
        found = gg.searchsorted(gg.tensor(a), gg.tensor(a[::-1].copy()), side="right").numpy()
    assert found.min() >= 0
    assert found.max() <= 1000


# --- sorting --------------------------------------------------------------------------------------


@pytest.mark.parametrize("high", [1, 3, 1000, 2**31])
@pytest.mark.parametrize("descending", [False, True])
def test_long_sorts_are_stable(high: int, descending: bool, path: str) -> None:
    a = whole("sorted", -high, high, 100_003)
    key = ~a if descending else a
    with poisoned():
        found = gg.argsort(gg.tensor(a), descending=descending).numpy()
    assert (found == np.argsort(key, kind="stable")).all()


@pytest.mark.parametrize("size", [63, 64, 65, 127, 128, 129, 191, 193, 1023, 1025, 4097])
def test_sizes_around_those_of_runs(size: int, path: str) -> None:
    a = whole("runs", -5, 5, 3, size)
    with poisoned():
        found = gg.argsort(gg.tensor(a)).numpy()
    assert (found == np.argsort(a, axis=-1, kind="stable")).all()


@pytest.mark.parametrize("run", [1, 2, 4])
def test_runs_of_other_lengths(run: int, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "RUN", run)
    a = whole("short runs", -50, 50, 5, 333)
    assert (gg.argsort(gg.tensor(a)).numpy() == np.argsort(a, axis=-1, kind="stable")).all()


def test_already_sorted_and_equal_keys(path: str) -> None:
    for a in (
        np.arange(5000),
        np.arange(5000)[::-1],
        np.zeros(5000),
        np.full(5000, 2**31 - 1),
        np.full(5000, -(2**31)),
    ):
        a = a.astype(np.int32)
        assert (gg.argsort(gg.tensor(a)).numpy() == np.argsort(a, kind="stable")).all()


def test_sort_moves_bits(path: str) -> None:
    """Zeros keep their signs and their order, halves and denormals their bits."""
    a = np.float32([0.0, -0.0, 1e-45, -1e-45, -0.0, 0.0, np.inf, -np.inf, 1e-40, -1])
    found = gg.sort(gg.tensor(a)).numpy()
    assert found.tobytes() == a[np.argsort(a, kind="stable")].tobytes()
    half = rng_of("half").standard_normal(200).astype(np.float16)
    assert (gg.sort(gg.tensor(half)).numpy() == np.sort(half)).all()


def test_not_a_number_is_the_largest(path: str) -> None:
    a = np.float32([1, np.nan, np.inf, -np.nan, 0])
    assert gg.argsort(gg.tensor(a)).tolist() == [4, 0, 2, 1, 3]
    assert gg.argsort(gg.tensor(a), descending=True).tolist() == [1, 3, 2, 0, 4]


def test_the_gradient_of_a_long_sort(path: str) -> None:
    a = rng_of("sort gradient").integers(-9, 9, (3, 700)).astype(np.float32)
    g = rng_of("sort gradient of").standard_normal((3, 700)).astype(np.float32)
    x = gg.tensor(a, requires_grad=True)
    (gg.sort(x) * gg.tensor(g)).sum().backward()
    want = np.empty_like(g)
    np.put_along_axis(want, np.argsort(a, axis=-1, kind="stable"), g, -1)
    assert x.grad is not None
    assert (x.grad.numpy() == want).all()


# --- results whose shapes depend on values -----------------------------------------------------------


def test_indices_pick_what_is_not_zero(path: str) -> None:
    a = whole("mask", 0, 3, 1_000_003)
    (found,) = gg.nonzero(gg.tensor(a))
    assert found.dtype == gg.int32
    assert (found.numpy() == np.flatnonzero(a)).all()
    assert gg.nonzero(gg.zeros((3, 5)))[1].shape == (0,)


def test_long_repeats(path: str) -> None:
    a, repeats = whole("repeated", *ANY, 5000), whole("repeats", 0, 50, 5000)
    assert (gg.repeat(gg.tensor(a), gg.tensor(repeats)).numpy() == np.repeat(a, repeats)).all()


@pytest.mark.parametrize("axis", [0, 1])
def test_the_gradient_of_long_repeats(axis: int, path: str) -> None:
    """Each element gets the sum over its copies, one of them over more than the steps that some drivers give a loop."""
    repeats = np.int32([1, 300_000, 0, 2])
    x = gg.tensor(np.zeros((4, 2) if axis == 0 else (2, 4)), requires_grad=True)
    many = gg.repeat(x, gg.tensor(repeats), axis=axis)
    g = rng_of("long repeats", axis).random(many.shape).astype(np.float32)
    (found,) = gg.gradients(many, [x], gradient=gg.tensor(g))
    assert found is not None
    parts = np.split(g.astype(np.float64), np.cumsum(repeats)[:-1], axis)
    want = np.stack([part.sum(axis) for part in parts], axis)
    assert (np.abs(found.numpy() - want) <= ADDED.summed * EPS * want).all()


# --- recorded -------------------------------------------------------------------------------------


def test_compiled(path: str) -> None:
    @gg.compile
    def step(x: gg.Tensor) -> tuple[gg.Tensor, ...]:
        total = gg.cumulative_sum(x * 2, axis=-1) + 1
        order = gg.argsort(x, axis=0)
        return total, order, gg.sort(x, descending=True), gg.searchsorted(gg.arange(40), order), gg.repeat(x, 2, axis=0)

    for seed in range(4):
        a = rng_of("compiled", seed).integers(-9, 9, (30, 301)).astype(np.float32)
        total, order, falling, found, twice = step(gg.tensor(a))
        assert (total.numpy() == np.cumsum(a * 2, -1) + 1).all()
        assert (order.numpy() == np.argsort(a, 0, kind="stable")).all()
        assert (falling.numpy() == -np.sort(-a)).all()
        assert (found.numpy() == order.numpy()).all()
        assert (twice.numpy() == np.repeat(a, 2, 0)).all()


def test_what_reads_a_length_is_refused_by_name(path: str) -> None:
    x = gg.tensor([1, 0, 2])
    for name, function in (("nonzero", gg.nonzero), ("repeat", lambda x: gg.repeat(x, x))):
        with pytest.raises(CaptureError, match=name):
            gg.compile(function)(x)
