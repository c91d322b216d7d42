"""Softmax, its relatives and the losses, against SciPy and NumPy in float64, on each path, on poisoned textures."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.special

import gpgpu_gl as gg
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.ops.losses import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    l1_loss,
    mse_loss,
    nll_loss,
)
from gpgpu_gl.ops.softmax import log_softmax, logsumexp, softmax
from gpgpu_gl.tensor import Tensor, engine

pytestmark = pytest.mark.gl33

# Exponentials may be off by 4e-6 of their value on drivers' own exp(); sums and logarithms add a few 1e-7.
RTOL, ATOL = 1e-5, 1e-5


@pytest.fixture(autouse=True)
def poisoned(path: str) -> Iterator[None]:
    pool = engine().pool
    pool.poison = True
    yield
    pool.poison = False


def passes_of(monkeypatch: pytest.MonkeyPatch, f: Callable[[], Any]) -> int:
    """How many passes a call issues."""
    seen: list[Pass] = []
    run = engine().run
    with monkeypatch.context() as patch:
        patch.setattr(engine(), "run", lambda p: (seen.append(p), run(p)))
        f()
    return len(seen)


# Rows of one texel and several, more than the short rows' 8 texels, more than one chunk; other axes; none and all.
CASES = [
    ((1,), -1),
    ((3, 10), -1),
    ((3, 10), 0),
    ((4, 33), -1),
    ((2, 3, 5, 6), 1),
    ((2, 3, 5, 6), (0, -1)),
    ((2, 3, 5), None),
    ((2, 1300), 1),
    ((1300, 3), 0),
    ((0, 3), -1),
]


@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_values(shape, axis):
    a = (np.random.default_rng(1).standard_normal(shape) * 5).astype(np.float32)
    exact = a.astype(np.float64)
    for _ in range(2):  # the second run works on recycled textures
        np.testing.assert_allclose(softmax(a, axis).numpy(), scipy.special.softmax(exact, axis), RTOL, ATOL)
        np.testing.assert_allclose(log_softmax(a, axis).numpy(), scipy.special.log_softmax(exact, axis), RTOL, ATOL)
        for keepdims in (False, True):
            found = logsumexp(a, axis, keepdims=keepdims).numpy()
            expected = scipy.special.logsumexp(exact, axis, keepdims=keepdims)
            assert found.shape == np.shape(expected)
            np.testing.assert_allclose(found, expected, RTOL, ATOL)


def test_nothing_is_summed_over_an_empty_axis():
    assert logsumexp(np.zeros((2, 0), np.float32), axis=1).tolist() == [-np.inf, -np.inf]
    assert softmax(np.zeros((2, 0), np.float32)).shape == (2, 0)


@pytest.mark.parametrize("width", [3, 40])  # one pass for short rows, several for long ones
def test_extremes(width):
    a = np.zeros((7, width), np.float32)
    a[0] = -np.inf
    a[1, 0] = np.inf
    a[2, 1] = np.nan
    a[3], a[3, 0] = 1e4, -1e4
    a[4, 0] = -np.inf
    a[5] = -1e4
    a[6] = 1e4 + np.arange(width)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(softmax(a).numpy(), scipy.special.softmax(a, -1), RTOL, 1e-30)
        np.testing.assert_allclose(log_softmax(a).numpy(), scipy.special.log_softmax(a, -1), RTOL, ATOL)
        np.testing.assert_allclose(logsumexp(a, -1).numpy(), scipy.special.logsumexp(a, -1), RTOL)


def test_float16_is_computed_in_float32_and_integers_become_floats():
    a = np.array([[1.0, 2.0, 9.0]], np.float16)
    found = softmax(a)
    assert found.dtype == np.float16
    # a unit in the last place of float16: drivers may cut instead of rounding when they store it
    np.testing.assert_allclose(found.numpy(), scipy.special.softmax(a.astype(np.float64), -1), 2.0**-10)
    assert softmax(np.array([[1, 1]])).tolist() == [[0.5, 0.5]]


def test_a_wrong_axis_is_an_error():
    with pytest.raises(gg.ShapeError, match="axis 2"):
        softmax(np.zeros((2, 3)), 2)


# --- gradients ----------------------------------------------------------------------------------

C, N = 10, 6
LABELS = np.array([0, 9, 3, 3, 7, 1])


def logits(shape: tuple[int, ...] = (N, C), seed: int = 2) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * 2).astype(np.float32)


def reference(x: np.ndarray, target: np.ndarray, smoothing: float, reduction: str) -> np.ndarray:
    """Cross-entropy in float64."""
    classes = x.shape[-1]
    t = target if target.ndim == 2 else np.eye(classes)[target]
    t = t * (1 - smoothing) + smoothing / classes
    loss = -(t * scipy.special.log_softmax(x, -1)).sum(-1)
    return {"none": loss, "sum": loss.sum(), "mean": loss.mean()}[reduction]


def numeric_gradient(f: Callable[[np.ndarray], float], x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences in float64: their error is about step**2 = 1e-10 of the third derivative."""
    found = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        d = np.zeros(x.shape)
        d[i] = step
        found[i] = (f(x + d) - f(x - d)) / (2 * step)
    return found


def check_gradients(f: Callable[[Tensor], Tensor], exact: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> None:
    """First and second derivatives of f, weighted by random numbers, against differences of `exact`."""
    rng = np.random.default_rng(3)
    weights = rng.standard_normal(np.shape(exact(x.astype(np.float64)))).astype(np.float32)
    direction = rng.standard_normal(x.shape).astype(np.float32)

    def value(a: np.ndarray) -> float:
        return float((weights * exact(a)).sum())

    first = numeric_gradient(value, x.astype(np.float64))
    t = gg.tensor(x, requires_grad=True)
    (gradient,) = gg.gradients((f(t) * gg.tensor(weights)).sum(), [t], create_graph=True)
    np.testing.assert_allclose(gradient.numpy(), first, 1e-4, 1e-5)

    def slope(a: np.ndarray) -> float:  # the derivative along `direction`
        return (value(a + 1e-4 * direction) - value(a - 1e-4 * direction)) / 2e-4

    # differences of differences: 1e-16 / (1e-4 * 1e-3) rounding and (1e-3)**2 of the fourth derivative
    second = numeric_gradient(slope, x.astype(np.float64), 1e-3)
    slope_ = (gradient * gg.tensor(direction)).sum()
    (hessian_row,) = gg.gradients(slope_, [t]) if slope_.tracked else (None,)  # None: the function is linear
    np.testing.assert_allclose(0.0 if hessian_row is None else hessian_row.numpy(), second, 1e-3, 1e-4)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_gradients(name, axis):
    f = {"softmax": softmax, "log_softmax": log_softmax, "logsumexp": logsumexp}[name]
    check_gradients(lambda x: f(x, axis=axis), lambda a: getattr(scipy.special, name)(a, axis=axis), logits((3, 5)))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy(smoothing, reduction):
    check_gradients(
        lambda x: cross_entropy(x, gg.tensor(LABELS), label_smoothing=smoothing, reduction=reduction),
        lambda a: reference(a, LABELS, smoothing, reduction),
        logits(),
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_with_probabilities(smoothing):
    t = np.abs(logits(seed=4))  # rows need not sum to 1
    check_gradients(
        lambda x: cross_entropy(x, gg.tensor(t), label_smoothing=smoothing),
        lambda a: reference(a, t, smoothing, "mean"),
        logits(),
    )
    x = logits()
    check_gradients(
        lambda p: cross_entropy(gg.tensor(x), p, label_smoothing=smoothing),
        lambda a: reference(x, a, smoothing, "mean"),
        t,
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("classes", [1, 33, 1000, 4200])  # 4200: smoothing goes through probabilities
def test_cross_entropy_of_any_number_of_classes(classes, smoothing):
    x, labels = logits((3, classes)), np.array([0, classes - 1, classes // 2])
    exact = scipy.special.softmax(x.astype(np.float64), -1) - (1 - smoothing) * np.eye(classes)[labels] - smoothing / classes
    t = gg.tensor(x, requires_grad=True)
    loss = cross_entropy(t, gg.tensor(labels), label_smoothing=smoothing)
    np.testing.assert_allclose(float(loss), reference(x.astype(np.float64), labels, smoothing, "mean"), RTOL, ATOL)
    loss.backward()
    np.testing.assert_allclose(t.grad.numpy(), exact / 3, 1e-4, 1e-6)


def test_cross_entropy_takes_any_leading_axes():
    x, labels = logits((2, 3, 4)), np.array([[0, 1, 2], [3, 3, 0]])
    found = cross_entropy(x, labels, reduction="none")
    assert found.shape == (2, 3)
    np.testing.assert_allclose(found.numpy().ravel(), reference(x.reshape(6, 4), labels.ravel(), 0, "none"), RTOL, ATOL)
    assert cross_entropy(x[0, 0], 2).shape == ()


def test_cross_entropy_of_labels_takes_two_passes_and_its_gradient_one(monkeypatch):
    x, labels, g = gg.tensor(logits(), requires_grad=True), gg.tensor(LABELS), gg.tensor(1.0)
    losses: list[Tensor] = []
    assert passes_of(monkeypatch, lambda: losses.append(cross_entropy(x, labels))) == 2
    assert passes_of(monkeypatch, lambda: losses[0].backward(g)) == 1


def test_cross_entropy_of_large_logits():
    x = np.array([[1e4, 0, -1e4], [1e4, 1e4 - 1, 0]], np.float32)
    # differences from the peak are exact, so that the loss is as precise as at 0
    np.testing.assert_allclose(cross_entropy(x, [2, 1], reduction="none").numpy(), [2e4, 1.3132617], 1e-6)


@pytest.mark.parametrize("bad", [-1, 10, -100, 2**31 - 1])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_label_out_of_range(bad, smoothing):
    labels = np.array([0, bad, 3, 3, 7, 1])
    with pytest.raises(gg.ShapeError, match="each must be from 0 to 9"):
        cross_entropy(logits(), labels)
    x = gg.tensor(logits(), requires_grad=True)
    rows = cross_entropy(x, gg.tensor(labels), label_smoothing=smoothing, reduction="none")
    assert np.isnan(rows.numpy()).tolist() == [False, True, False, False, False, False]
    loss = cross_entropy(x, gg.tensor(labels), label_smoothing=smoothing)
    assert np.isnan(float(loss))
    loss.backward()
    assert np.isnan(x.grad.numpy()).any(axis=1).tolist() == [False, True, False, False, False, False]


def test_no_rows():
    x = np.zeros((0, 3), np.float32)
    empty = np.zeros(0, np.int32)
    assert np.isnan(float(cross_entropy(x, empty)))
    assert float(cross_entropy(x, empty, reduction="sum")) == 0
    assert cross_entropy(x, empty, reduction="none").shape == (0,)


def test_nll_loss_of_log_softmax_is_cross_entropy():
    check_gradients(
        lambda x: nll_loss(log_softmax(x), gg.tensor(LABELS)), lambda a: reference(a, LABELS, 0, "mean"), logits()
    )
    assert nll_loss(np.log([[0.25, 0.75]]), [0], reduction="none").numpy() == pytest.approx([np.log(4)], rel=1e-6)


# --- elementwise losses -------------------------------------------------------------------------


def bce(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, x) - x * t


@pytest.mark.parametrize(
    ("loss", "exact"),
    [
        (mse_loss, lambda x, t: (x - t) ** 2),
        (l1_loss, lambda x, t: np.abs(x - t)),
        (binary_cross_entropy_with_logits, bce),
    ],
)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_elementwise_losses(loss, exact, reduction):
    x, t = logits((3, 5)), np.random.default_rng(5).random((3, 5)).astype(np.float32)
    reduce = {"mean": np.mean, "sum": np.sum, "none": lambda a: a}[reduction]
    check_gradients(lambda a: loss(a, gg.tensor(t), reduction=reduction), lambda a: reduce(exact(a, t)), x)
    check_gradients(lambda b: loss(gg.tensor(x), b, reduction=reduction), lambda b: reduce(exact(x, b)), t)


def test_binary_cross_entropy_far_out():
    x = np.array([1e4, -1e4, 20, -20], np.float32)
    t = np.array([1, 1, 1, 0], np.float32)
    found = binary_cross_entropy_with_logits(x, t, reduction="none").numpy()
    np.testing.assert_allclose(found, [0, 1e4, 2.0611537e-9, 2.0611537e-9], 1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mse_loss(np.zeros((3, 1)), np.zeros(3)), "(3, 1) and (3,)"),
        (lambda: cross_entropy(np.zeros((3, 4)), gg.tensor([0, 1])), "labels of shape (2,)"),
        (lambda: cross_entropy(np.zeros((3, 4)), np.zeros((3, 5))), "probabilities of shape (3, 5)"),
        (lambda: cross_entropy(np.zeros((3, 4)), [0, 1, 2], reduction="avg"), "'avg'"),
        (lambda: cross_entropy(np.zeros((3, 4)), [0, 1, 2], label_smoothing=1.5), "from 0 to 1, not 1.5"),
        (lambda: cross_entropy(np.zeros((3, 0)), [0, 1, 2]), "at least one class"),
    ],
)
def test_what_does_not_fit_is_an_error(call, message):
    with pytest.raises(gg.ShapeError) as error:
        call()
    assert message in str(error.value)


def test_bool_labels_are_an_error():
    with pytest.raises(gg.DTypeError, match="labels must be int32"):
        cross_entropy(np.zeros((2, 2)), gg.tensor([True, False]))
