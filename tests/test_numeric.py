"""Accuracy of the functions of one and two numbers over the whole range of float32, and of whole-number division.

The bounds are our own series' (shaders/lib); what a driver computes itself has the bounds that GLSL gives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from harness import rng_of, spacing
from scipy import special

import gpgpu_gl as gg

pytestmark = pytest.mark.gl33

# name, float64 reference, units in the last place allowed, why
FUNCTIONS: list[tuple[str, Callable[..., np.ndarray], float]] = [
    ("exp", np.exp, 2),
    ("expm1", np.expm1, 2),
    ("log", np.log, 2),
    ("log1p", np.log1p, 2),
    ("sin", np.sin, 4),
    ("cos", np.cos, 4),
    ("tanh", np.tanh, 3),
    ("sigmoid", special.expit, 4),
    ("softplus", lambda x: np.logaddexp(0, x), 4),
    ("erf", special.erf, 4),
    ("sqrt", np.sqrt, 2),  # GLSL: as 1 / inversesqrt()
    ("rsqrt", lambda x: 1 / np.sqrt(x), 4.5),
    ("reciprocal", lambda x: 1 / x, 2.5),  # GLSL: a / b
]


def every_exponent() -> np.ndarray:
    """Every sign and exponent, denormals, infinities and NaN included, with 64 mantissas each: (512, 64)."""
    mantissas = np.concatenate([[0, 1, 2**22, 2**23 - 1], rng_of("mantissas").integers(0, 2**23, 60)]).astype(np.uint32)
    signs_and_exponents = np.arange(512, dtype=np.uint32) << np.uint32(23)
    return (signs_and_exponents[:, None] | mantissas).view(np.float32)


def units(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Errors in units in the last place; 0 where both are the same infinity or NaN, infinite where just one is."""
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        error = np.abs(got.astype(np.float64) - want) / spacing(np.abs(np.nan_to_num(want, posinf=0, neginf=0)), np.float32)
        same = (got == rounded) | np.isnan(got) & np.isnan(rounded)
    return np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))


def flushed(x: np.ndarray) -> np.ndarray:
    """Denormals as zeros of their sign, which is what a device may take them for."""
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)


def worst(name: str, x: np.ndarray, reference: Callable[..., np.ndarray], *more: np.ndarray) -> tuple[float, str]:
    """The largest error over x, denormal arguments and results taken as they are or as zero, and where it is."""
    got = getattr(gg, name)(gg.tensor(x), *map(gg.tensor, more)).numpy()
    with np.errstate(all="ignore"):
        wants = [reference(*(a.astype(np.float64) for a in arrays)) for arrays in ((x, *more), tuple(map(flushed, (x, *more))))]
        errors = np.minimum(*(units(got, want) for want in wants))
        errors = np.where((got == 0) & (np.abs(wants[0]) < np.finfo(np.float32).tiny), 0, errors)
    at = np.unravel_index(np.argmax(errors), errors.shape)
    return float(errors[at]), f"{name}({x[at]!r}) = {got[at]!r}, not {wants[0][at]!r}"


@pytest.mark.parametrize(("name", "reference", "allowed"), FUNCTIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_accuracy_over_every_exponent(name: str, reference: Callable[..., np.ndarray], allowed: float, path: str) -> None:
    error, where = worst(name, every_exponent(), reference)
    assert error <= allowed, f"{error:.3g} units: {where}"


@pytest.mark.parametrize(("name", "reference", "allowed"), FUNCTIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_accuracy_where_values_are_ordinary(
    name: str, reference: Callable[..., np.ndarray], allowed: float, path: str
) -> None:
    x = np.concatenate([np.linspace(-100, 100, 2**15), np.linspace(-4, 4, 2**15)]).astype(np.float32).reshape(256, 256)
    error, where = worst(name, x, reference)
    assert error <= allowed, f"{error:.3g} units: {where}"


def test_power_over_every_exponent(path: str) -> None:
    rng = rng_of("power")
    x = np.exp2(rng.uniform(-149, 128, (256, 256))).astype(np.float32)
    # Exponents that take x anywhere between underflow and overflow, and a row each of whole and half exponents.
    y = (rng.uniform(-155, 130, x.shape) / np.log2(x.astype(np.float64))).astype(np.float32)
    y[:64] = np.round(y[:64])
    y[64:128] = np.round(y[64:128]) + np.float32(0.5)
    x[:128:2] *= -1
    error, where = worst("power", x, np.power, y)
    assert error <= 4, f"{error:.3g} units: {where}"


def test_division(path: str) -> None:
    rng = rng_of("division")
    x, y = (np.exp2(rng.uniform(-60, 60, (256, 256))).astype(np.float32) for _ in range(2))
    error, where = worst("divide", x, np.divide, y)
    assert error <= 2.5, f"{error:.3g} units: {where}"


def test_int32_division_to_4096(path: str) -> None:
    """Every quotient and remainder of 0 to 4095 by 1 to 4096, and the same with each sign for a part of them."""
    x, y = np.arange(4096, dtype=np.int32)[:, None], np.arange(1, 4097, dtype=np.int32)
    for a, b in ((x, y), (-x[::17], y[:777]), (x[::17], -y[:777]), (-x[::17], -y[::11])):
        tall, wide = gg.tensor(a), gg.tensor(b)
        np.testing.assert_array_equal((tall // wide).numpy(), a // b)
        np.testing.assert_array_equal((tall % wide).numpy(), a % b)


def test_int32_division_at_the_limits(path: str) -> None:
    limits = np.array([-(2**31), -(2**31) + 1, -65536, -4097, -3, -1, 0, 1, 2, 7, 65535, 2**31 - 1], np.int32)
    with np.errstate(all="ignore"):
        quotient, rest = limits[:, None] // limits, limits[:, None] % limits
    tall, wide = gg.tensor(limits[:, None]), gg.tensor(limits)
    np.testing.assert_array_equal((tall // wide).numpy(), quotient)
    np.testing.assert_array_equal((tall % wide).numpy(), rest)


def test_float_division_of_whole_numbers_to_4096(path: str) -> None:
    """Quotients rounded down and remainders of floats that hold whole numbers are exact."""
    x, y = np.arange(-4096, 4096, dtype=np.float32)[::3, None], np.arange(1, 4097, dtype=np.float32)[::7]
    for b in (y, -y):
        tall, wide = gg.tensor(x), gg.tensor(b)
        np.testing.assert_array_equal((tall // wide).numpy(), x // b)
        np.testing.assert_array_equal((tall % wide).numpy(), x % b)
        whole = x % b == 0
        np.testing.assert_array_equal((tall / wide).numpy()[whole], (x / b)[whole])


def test_float_remainder_is_exact(path: str) -> None:
    rng = rng_of("remainder")
    x, y = (np.exp2(rng.uniform(-100, 100, (128, 128))).astype(np.float32) * rng.choice([-1, 1]) for _ in range(2))
    got = (gg.tensor(x) % gg.tensor(y)).numpy()
    want = np.remainder(x, y)
    small = np.abs(want) < 2.0**-125  # may be flushed to zero on the way
    np.testing.assert_array_equal(got[~small], want[~small])


def test_a_quotient_of_equal_whole_numbers_is_one(path: str) -> None:
    x = gg.tensor(np.arange(1, 4097, dtype=np.float32))
    assert (x // x == 1).numpy().all()
    assert (x % x == 0).numpy().all()
    assert (x / x == 1).numpy().all()


def test_halves_are_rounded_to_the_nearest(path: str) -> None:
    """Every half, what lies between it and the next, and their neighbours in float32: ties to even, 65520 to infinity."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    middles = (halves + np.append(halves[1:], np.float32(65536))) / 2
    up, down = np.nextafter(middles, np.float32(np.inf)), np.nextafter(middles, np.float32(0))
    x = np.stack([halves, middles, up, down, -halves, -middles, -up, -down])
    with np.errstate(over="ignore"):
        want = x.astype(np.float16)
    np.testing.assert_array_equal(gg.tensor(x).astype("float16").numpy(), want)
    beyond = np.float32([np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(gg.tensor(beyond).astype("float16").numpy(), beyond)


def test_the_sign_of_a_zero_constant(path: str) -> None:
    """One program, one uniform: 0.0 == -0.0, but they are not the same divisor."""
    x = gg.tensor(np.ones(3, np.float32))
    for divisor in (0.0, -0.0, 0.0):
        np.testing.assert_array_equal((x / divisor).numpy(), np.copysign(np.float32(np.inf), divisor).repeat(3))
