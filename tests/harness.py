"""What the operator tests share: a row of the table of cases, its inputs, its tolerance, and the checks of one row.

A `Case` is one operator; `cases.py` is the table. Everything is compared with the row's NumPy reference in float64.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl.tensor import Tensor, engine

Shape = tuple[int, ...]
Draw = Callable[[np.random.Generator, Shape], np.ndarray]
EPS = float(np.finfo(np.float32).eps)
SMALLEST = float(np.finfo(np.float32).tiny)  # below it a device may flush to zero


# --- a row ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be from the float64 reference, and why.

    ulps: units in the last place of the result. summed: float32 roundings of the sum of the absolute terms, which is
    the reference of the absolute inputs: what sums and products of sums can lose.
    """

    why: str
    ulps: float = 0.0
    summed: float = 0.0

    def bound(self, want: np.ndarray, terms: np.ndarray | float, dtype: np.dtype) -> np.ndarray:
        """The largest error allowed for each element, in absolute terms."""
        with np.errstate(all="ignore"):
            magnitude = np.minimum(np.abs(np.nan_to_num(want)), float(np.finfo(dtype).max))
            bound = self.ulps * spacing(magnitude, np.float32) + self.summed * EPS * terms + SMALLEST
            return bound + spacing(magnitude, np.float16) / 2 if dtype == np.float16 else bound


def spacing(magnitude: np.ndarray, dtype: Any) -> np.ndarray:
    """The unit in the last place at each magnitude, that of the smallest normal number at least."""
    return np.spacing(np.maximum(magnitude, np.finfo(dtype).tiny).astype(dtype)).astype(np.float64)


@dataclass(frozen=True)
class Run:
    """One call of an operator: the shapes of its tensors and its options."""

    shapes: tuple[Shape, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return " and ".join(map(str, self.shapes)) + (f" with {options}" if options else "")


@dataclass(frozen=True)
class Case:
    """One operator: how to call it, its reference in NumPy and on which inputs the two are compared.

    name: the operator's in Op.registry, or the public function's. call(*tensors, **options);
    reference(*arrays, **options) in float64 (int64, bool). draws: one for each tensor argument, or one for all; arguments
    drawn as floats take any dtype of `dtypes`, others keep theirs. dtypes: letters of those that the operator takes:
    f float32, h float16, i int32, b bool. result: how the result's dtype follows from the common one: "same",
    "number" (bool counts as int32), "float", or a dtype's name. grad: numbers of the differentiable arguments.
    edges: (arrays, options) with NaN, infinities and what overflows. scalars: a Python number may stand for a tensor.
    covers: private operators that this one goes through. speed: the run that is timed.
    """

    name: str
    call: Callable[..., Tensor]
    reference: Callable[..., np.ndarray]
    runs: Sequence[Run]
    tolerance: Tolerance
    draws: Draw | tuple[Draw, ...]
    dtypes: str = "fhib"
    result: str = "number"
    grad: tuple[int, ...] = ()
    second: bool = True
    edges: Sequence[tuple[tuple[np.ndarray, ...], dict[str, Any]]] = ()
    integers: tuple[int, int] = (-4, 5)
    scalars: bool = False
    covers: tuple[str, ...] = ()
    speed: Run | None = None

    def __str__(self) -> str:
        return self.name

    def draw(self, rng: np.random.Generator, run: Run) -> list[np.ndarray]:
        """Inputs of one run; floats as float32."""
        draws = self.draws if isinstance(self.draws, tuple) else (self.draws,) * len(run.shapes)
        arrays = [d(rng, shape) for d, shape in zip(draws, run.shapes, strict=False)]  # a last one may be left out
        return [a.astype(np.float32) if a.dtype.kind == "f" else a for a in arrays]

    def want(self, arrays: Sequence[np.ndarray], options: dict[str, Any]) -> np.ndarray:
        """The reference, computed in float64 where inputs are floats."""
        with np.errstate(all="ignore"):
            return np.asarray(self.reference(*map(widen, arrays), **options))

    def terms(self, arrays: Sequence[np.ndarray], options: dict[str, Any]) -> np.ndarray | float:
        """What `Tolerance.summed` multiplies."""
        if not self.tolerance.summed:
            return 0.0
        return np.abs(self.want([np.abs(a) if a.dtype.kind == "f" else a for a in arrays], options)).astype(np.float64)


def widen(a: np.ndarray) -> np.ndarray:
    """Floats as float64 and integers as int64."""
    return a.astype({"f": np.float64, "i": np.int64}.get(a.dtype.kind, a.dtype))


def rng_of(*parts: Any) -> np.random.Generator:
    """A generator seeded by what a test is about."""
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


# --- tensors of awkward make ----------------------------------------------------------------------


def strided(a: np.ndarray) -> np.ndarray:
    """The same values in a view that is not contiguous: every other column, backwards, of a Fortran-ordered array."""
    if a.ndim == 0:
        return a
    fill = np.nan if a.dtype.kind == "f" else 99
    big = np.full((*a.shape[:-1], 2 * a.shape[-1]), fill, a.dtype, order="F")
    view = big[..., ::-2]
    view[...] = a
    return view


def relaid(a: np.ndarray) -> Tensor:
    """The same values in a texture that is not as wide as that of a new tensor: a reshaped view of rows."""
    if a.ndim < 2 or a.size == 0:
        return gg.tensor(a)
    return gg.reshape(gg.tensor(a.reshape(-1, a.shape[-1])), a.shape)


@contextmanager
def largest_side(side: int) -> Iterator[None]:
    """Pretends that the device's largest texture has this side, so that small tensors are folded."""
    device, pool = gg.device(), engine().pool
    before = device.max_texture_size, pool.max_side
    device.max_texture_size = pool.max_side = side
    try:
        yield
    finally:
        device.max_texture_size, pool.max_side = before


@contextmanager
def poisoned() -> Iterator[None]:
    """Fills every texture that the pool hands out with NaN, so that reading what was not written shows."""
    pool = engine().pool
    before, pool.poison = pool.poison, True
    try:
        yield
    finally:
        pool.poison = before


def assert_pads_are_zero(t: Tensor, what: str) -> None:
    """The lanes beyond the last axis hold zero."""
    lay = t.layout
    if t.size == 0 or lay.last % 4 == 0:
        return
    channel = gg.dtypes.FORMATS[t.dtype].channel
    lanes = np.frombuffer(engine().read(t.storage), channel)[: lay.texels * 4].reshape(lay.rows, lay.columns * 4)
    pads = lanes[:, lay.last :]
    assert not pads.any(), f"{what}: pad lanes of shape {t.shape} hold {pads[pads != 0][:4]}, not zero"


# --- comparing ------------------------------------------------------------------------------------


def assert_close(got: np.ndarray, want: np.ndarray, tolerance: Tolerance, terms: np.ndarray | float, what: str) -> None:
    """Equal to the reference within the tolerance; NaN and infinities where it has them."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    if got.dtype.kind != "f":
        wrapped = want.astype(np.int64).astype(got.dtype) if want.dtype.kind in "iu" else want
        wrong = got != wrapped
        assert not wrong.any(), (
            f"{what}: {got[wrong][:3]}, not {wrapped[wrong][:3]} ({wrong.sum()} of {wrong.size} differ)"
        )
        return
    want = want.astype(np.float64)
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        equal = (got == rounded) | np.isnan(got) & np.isnan(rounded)
        error = np.abs(got.astype(np.float64) - want)
        bound = np.broadcast_to(tolerance.bound(want, terms, got.dtype), want.shape)
        wrong = ~(equal | (error <= bound) & np.isfinite(rounded))
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise AssertionError(
            f"{what}: {got[at]!r} at {at}, not {want[at]!r} (error {error[at]:.3g}, allowed {bound[at]:.3g}: "
            f"{tolerance.why}); {wrong.sum()} of {wrong.size} elements differ"
        )


def assert_same_bits(got: np.ndarray, want: np.ndarray, what: str) -> None:
    """Bit for bit equal."""
    assert got.shape == want.shape, what
    assert got.dtype == want.dtype, what
    different = np.frombuffer(got.tobytes(), np.uint8) != np.frombuffer(want.tobytes(), np.uint8)
    assert not different.any(), f"{what}: {different.sum()} bytes differ: {got.ravel()[:8]} and {want.ravel()[:8]}"


# --- the checks of one row ------------------------------------------------------------------------


def check_forward(case: Case, run: Run) -> None:
    """Against the reference, twice on the same tensors, which must come out of it unchanged."""
    arrays = case.draw(rng_of(case.name, str(run)), run)
    tensors = [gg.tensor(strided(a)) for a in arrays]
    what = f"{case.name} of {run}"
    want, terms = case.want(arrays, run.options), case.terms(arrays, run.options)
    first = case.call(*tensors, **run.options)
    got = first.numpy()
    assert_close(got, want, case.tolerance, terms, what)
    assert_pads_are_zero(first, what)
    assert_same_bits(case.call(*tensors, **run.options).numpy(), got, f"{what}, the second time")
    for t, a in zip(tensors, arrays, strict=True):
        assert_same_bits(t.numpy(), a, f"an input of {what}")


def check_edges(case: Case) -> None:
    """NaN, infinities, zeros and what overflows, as NumPy has them."""
    for arrays, options in case.edges:
        found = case.call(*map(gg.tensor, arrays), **options).numpy()
        assert_close(
            found, case.want(arrays, options), case.tolerance, case.terms(arrays, options), f"{case.name} at the edges"
        )


def check_layouts(case: Case, run: Run) -> None:
    """The same bits from textures of another width, and where tensors only just fit the largest texture."""
    arrays = case.draw(rng_of(case.name, str(run)), run)
    what = f"{case.name} of {run}"
    tensors = [gg.tensor(a) for a in arrays]
    out = case.call(*tensors, **run.options)
    want = out.numpy()
    assert_same_bits(case.call(*map(relaid, arrays), **run.options).numpy(), want, f"{what}, inputs of another width")
    tightest = max(2, math.isqrt(max(t.layout.texels for t in (*tensors, out))) + 1)
    for side in (tightest, 2 * tightest):
        with largest_side(side):
            folded = case.call(*map(gg.tensor, arrays), **run.options)
            assert_same_bits(folded.numpy(), want, f"{what}, textures of at most {side} x {side}")
            assert_pads_are_zero(folded, what)


# The lower letter of two gives way: bool, int32, float16, float32.
LETTERS = {"b": gg.bool_, "i": gg.int32, "h": gg.float16, "f": gg.float32}


def promoted(letters: Sequence[str], result: str) -> tuple[str, np.dtype]:
    """The letter that operands of these dtypes are computed in, and the dtype of the result."""
    common = max(letters, key="bihf".index)
    if result == "number" and common == "b":
        common = "i"
    if result == "float" and common in "bi":
        common = "f"
    return common, LETTERS[common] if result in ("same", "number", "float") else np.dtype(result)


def check_dtypes(case: Case) -> None:
    """Every dtype, and every pair of them, with Python numbers in place of a tensor where the operator takes them."""
    run = next(r for r in case.runs if all(1 < np.prod(s, dtype=int) < 100 for s in r.shapes))
    arrays = case.draw(rng_of("dtypes", case.name), run)
    free = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
    for letters in itertools.product(case.dtypes, repeat=min(len(free), 2)):
        letters = letters + letters[-1:] * (len(free) - 2)
        mixed = [_of_dtype(case, a, letters[free.index(i)]) if i in free else a for i, a in enumerate(arrays)]
        _check_mixed(case, run, mixed, letters, free)
    if case.scalars:
        for letter, (number, side) in itertools.product(case.dtypes, ((3, 0), (3, 1), (2.5, 0), (2.5, 1), (True, 1))):
            mixed = [_of_dtype(case, a, letter) for a in arrays]
            mixed[side] = number
            kind = {int: "i", float: "f", bool: "b"}[type(number)]
            weak = letter if letter in "fh" or kind == "b" else kind
            _check_mixed(case, run, mixed, (letter, weak), free)


def _of_dtype(case: Case, a: np.ndarray, letter: str) -> np.ndarray:
    if letter in "fh":
        return a.astype(LETTERS[letter])
    whole = rng_of("whole", case.name, a.shape).integers(*case.integers, a.shape)
    return whole.astype(LETTERS[letter])


def _check_mixed(case: Case, run: Run, mixed: list[Any], letters: Sequence[str], free: list[int]) -> None:
    common, expected = promoted(letters, case.result)
    what = f"{case.name} of {[getattr(a, 'dtype', a) for a in mixed]}"
    got = case.call(*[gg.tensor(a) if isinstance(a, np.ndarray) else a for a in mixed], **run.options)
    assert got.dtype == expected, f"{what}: dtype {got.dtype}, not {expected}"
    wide = np.dtype({"f": np.float64, "h": np.float64, "i": np.int64, "b": np.bool_}[common])
    seen = [np.asarray(a).astype(wide) if i in free else a for i, a in enumerate(mixed)]
    assert_close(got.numpy(), case.want(seen, run.options), case.tolerance, case.terms(seen, run.options), what)


def projected(case: Case, arrays: Sequence[np.ndarray], g: np.ndarray, options: dict[str, Any]) -> float:
    """sum(g * reference): the scalar whose derivatives are compared."""
    return float(np.sum(g.astype(np.float64) * case.want(arrays, options)))


def shifted(arrays: Sequence[np.ndarray], *moves: tuple[int, float, np.ndarray]) -> list[np.ndarray]:
    """Copies in float64 with step * direction added to argument i for each (i, step, direction)."""
    moved = [widen(a) for a in arrays]
    for i, step, direction in moves:
        moved[i] = moved[i] + step * direction
    return moved


# Gradients pass through some ten float32 roundings; a central difference in float64 adds some 1e-9.
GRADIENT = 2e-5
# The gradient's own gradient passes through twice as many, and a second difference adds some 1e-8.
SECOND = 2e-4


def check_gradient(case: Case, run: Run) -> None:
    """Every gradient, projected on a random direction, against a finite difference of the reference in float64."""
    rng = rng_of("gradient", case.name, str(run))
    arrays = case.draw(rng, run)
    tensors = [gg.tensor(strided(a), requires_grad=i in case.grad) for i, a in enumerate(arrays)]
    out = case.call(*tensors, **run.options)
    g = rng.standard_normal(out.shape).astype(np.float32)
    wanted = [i for i in case.grad if i < len(tensors)]
    found = gg.gradients(out, [tensors[i] for i in wanted], gradient=gg.tensor(g))
    for i, gradient in zip(wanted, found, strict=True):
        what = f"gradient of {case.name} of {run} with respect to argument {i}"
        assert gradient is not None, f"no {what}"
        assert gradient.shape == arrays[i].shape, f"{what} has shape {gradient.shape}"
        assert gradient.dtype == arrays[i].dtype, f"{what} has dtype {gradient.dtype}"
        assert_pads_are_zero(gradient, what)
        direction = rng.standard_normal(arrays[i].shape)
        step = 1e-5
        difference = projected(case, shifted(arrays, (i, step, direction)), g, run.options)
        difference -= projected(case, shifted(arrays, (i, -step, direction)), g, run.options)
        want = difference / (2 * step)
        products = gradient.numpy().astype(np.float64) * direction
        allowed = GRADIENT * float(np.sum(np.abs(products))) + 1e-7
        assert abs(products.sum() - want) <= allowed, (
            f"{what}: projected {products.sum()!r}, not {want!r} (+-{allowed:.2g})"
        )


def check_second(case: Case, run: Run) -> None:
    """The gradients' gradients, projected on two random directions, against differences of the reference in float64.

    With respect to the arguments these are second differences; with respect to the gradient that the first sweep
    starts from, first ones.
    """
    rng = rng_of("second", case.name, str(run))
    arrays = case.draw(rng, run)
    tensors = [gg.tensor(a, requires_grad=i in case.grad) for i, a in enumerate(arrays)]
    out = case.call(*tensors, **run.options)
    g = rng.standard_normal(out.shape).astype(np.float32)
    start = gg.tensor(g, requires_grad=True)
    wanted = [i for i in case.grad if i < len(tensors)]
    firsts = gg.gradients(out, [tensors[i] for i in wanted], gradient=start, create_graph=True)
    for i, first in zip(wanted, firsts, strict=True):
        u = rng.standard_normal(arrays[i].shape).astype(np.float32)
        slope = (first * gg.tensor(u)).sum()
        seconds = gg.gradients(slope, [*(tensors[j] for j in wanted), start])
        for j, second in zip((*wanted, None), seconds, strict=True):
            what = f"second derivative of {case.name} of {run} by argument {i} and {'the start' if j is None else j}"
            w = rng.standard_normal(g.shape if j is None else arrays[j].shape)
            if j is None:
                ends = [projected(case, shifted(arrays, (i, sign * 1e-5, u)), w, run.options) for sign in (1, -1)]
                want = (ends[0] - ends[1]) / 2e-5
            else:
                ends = [
                    a * b * projected(case, shifted(arrays, (i, a * 1e-4, u), (j, b * 1e-4, w)), g, run.options)
                    for a, b in itertools.product((1, -1), repeat=2)
                ]
                want = sum(ends) / 4e-8
            products = np.zeros(1) if second is None else second.numpy().astype(np.float64) * w
            allowed = SECOND * float(np.sum(np.abs(products))) + 1e-6 * (1 + max(map(abs, ends)))
            assert abs(products.sum() - want) <= allowed, f"{what}: {products.sum()!r}, not {want!r} (+-{allowed:.2g})"
