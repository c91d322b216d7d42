"""Reverse-mode differentiation: what reaches .grad, higher derivatives, modes, ties, and what is refused."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl.ops.create import identity
from gpgpu_gl.tensor import Tensor, engine

pytestmark = pytest.mark.gl33


def leaf(*values: float, dtype: str = "float32") -> Tensor:
    return gg.tensor(np.array(values, dtype), requires_grad=True)


# --- backward and .grad -----------------------------------------------------------------------------


def test_backward_fills_grad(path: str) -> None:
    x, w = leaf(1, 2, 3), leaf(4, 5, 6)
    (x * w).sum().backward()
    assert x.grad.tolist() == [4, 5, 6]
    assert w.grad.tolist() == [1, 2, 3]


def test_grad_adds_up_for_each_leaf_alone(path: str) -> None:
    """add hands the same gradient to both leaves; adding to one must not change the other."""
    x, w, start = leaf(1, 2), leaf(3, 4), gg.tensor(np.float32([1, 10]))
    for n in range(1, 4):
        (x + w).backward(start)
        assert x.grad.tolist() == [n, 10 * n]
        assert w.grad.tolist() == [n, 10 * n]
    assert start.tolist() == [1, 10]


def test_grad_adds_up_after_a_graph_was_kept(path: str) -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    (x + w).sum().backward(create_graph=True)
    (x + w).sum().backward()
    (x + w).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert w.grad.tolist() == [3, 3]


def test_the_start_is_not_changed(path: str) -> None:
    x, start = leaf(1, 2), gg.tensor(np.float32([1, 2]))
    for _ in range(2):
        identity(x).backward(start)
    assert x.grad.tolist() == [2, 4]
    assert start.tolist() == [1, 2]


def test_a_tensor_used_twice(path: str) -> None:
    x = leaf(1, 2, 3)
    y = x * x + x
    (y * y).sum().backward()
    a = np.array([1, 2, 3.0])
    np.testing.assert_allclose(x.grad.numpy(), 2 * (a * a + a) * (2 * a + 1), rtol=1e-6)  # some roundings


def test_a_leaf_is_its_own_result(path: str) -> None:
    x = leaf(3)
    x.backward()
    assert x.grad.tolist() == [1]


def test_a_long_chain_needs_no_recursion(path: str) -> None:
    x = leaf(1, 2)
    y = x
    for _ in range(3000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_wide_diamond_is_walked_once(path: str) -> None:
    """2**40 ways from end to start: each tensor is visited once."""
    x = leaf(1)
    y = x
    for _ in range(40):
        y = y * 0.5 + y * 0.5
    y.sum().backward()
    assert x.grad.tolist() == [1]


def test_only_float_leaves_have_gradients(path: str) -> None:
    with pytest.raises(gg.DTypeError, match="only float tensors have gradients; this one is int32"):
        gg.tensor([1, 2], requires_grad=True)
    x = leaf(1, 2)
    index = gg.argmax(x)
    assert not index.tracked
    assert not (x > 1).tracked
    assert not x.astype("int32").tracked


def test_half_precision_gradients_keep_their_dtype(path: str) -> None:
    x = leaf(1, 2, 3, dtype="float16")
    w = leaf(1, 2, 3)
    (x * w).sum().backward()
    assert x.grad.dtype == np.float16
    assert w.grad.dtype == np.float32
    assert x.grad.tolist() == [1, 2, 3]


def test_gradients_of_empty_tensors(path: str) -> None:
    x = gg.tensor(np.zeros((0, 3), np.float32), requires_grad=True)
    (gg.exp(x).sum() + 1).backward()
    assert x.grad.shape == (0, 3)


def test_memory_is_given_back(path: str) -> None:
    x = gg.tensor(np.ones((64, 64), np.float32), requires_grad=True)
    before = engine().pool.counters()["live"]
    loss = gg.tanh(gg.exp(x) * 2).sum()
    assert engine().pool.counters()["live"] > before + 2 * 64 * 64 * 4
    loss.backward()
    del loss
    assert engine().pool.counters()["live"] == before + 64 * 64 * 4  # the gradient
    x.grad = None
    gc.disable()
    try:
        for _ in range(3):  # no cycle keeps a graph that was never run backwards
            gg.tanh(gg.exp(x))
        assert engine().pool.counters()["live"] == before
    finally:
        gc.enable()


# --- gradients, grad, value_and_grad ----------------------------------------------------------------


def test_gradients_leave_grad_alone(path: str) -> None:
    x, w, unused = leaf(1, 2), leaf(3, 4), leaf(5)
    y = x * w
    found = gg.gradients(y.sum(), [w, x, y, unused])
    assert [None if g is None else g.tolist() for g in found] == [[1, 2], [3, 4], [1, 1], None]
    assert x.grad is None


def test_gradients_of_what_lies_between(path: str) -> None:
    x = leaf(1, 2)
    y = x * 2
    z = (y * y).sum()
    (g,) = gg.gradients(z, [y])
    assert g.tolist() == [4, 8]


def test_value_and_grad(path: str) -> None:
    def f(x: Tensor, w: Tensor, scale: float = 1.0) -> Tensor:
        return (x * x * w).sum() * scale

    x, w = gg.tensor(np.float32([1, 2])), gg.tensor(np.float32([3, 4]))
    value, g = gg.value_and_grad(f)(x, w, scale=2.0)
    assert (value.item(), g.tolist()) == (38, [12, 32])
    assert [g.tolist() for g in gg.grad(f, argnums=(0, 1))(x, w)] == [[6, 16], [1, 4]]
    assert x.grad is None
    assert not x.tracked


def test_the_gradient_of_what_is_not_used_is_zero(path: str) -> None:
    x, w = gg.tensor(np.float32([1, 2])), gg.tensor(np.float32([3, 4, 5]))
    assert [g.tolist() for g in gg.grad(lambda x, w: (x * x).sum(), (0, 1))(x, w)] == [[2, 4], [0, 0, 0]]
    assert gg.grad(lambda x: gg.ones(()))(x).tolist() == [0, 0]


def test_third_derivatives(path: str) -> None:
    def f(x: Tensor) -> Tensor:
        return (x**4).sum()

    first = gg.grad(f)
    second = gg.grad(lambda x: first(x).sum())
    third = gg.grad(lambda x: second(x).sum())
    x = gg.tensor(np.float32([1, 2, -3]))
    # Each derivative of a power rounds a few times.
    np.testing.assert_allclose(first(x).numpy(), [4, 32, -108], rtol=1e-5)
    np.testing.assert_allclose(second(x).numpy(), [12, 48, 108], rtol=1e-5)
    np.testing.assert_allclose(third(x).numpy(), [24, 48, -72], rtol=1e-5)


def test_a_gradient_in_a_loss(path: str) -> None:
    """A gradient penalty: the loss holds a gradient, and is differentiated by a parameter."""
    w = leaf(2, 3)
    x = gg.tensor(np.float32([1, 1]), requires_grad=True)
    y = (w * w * x * x).sum()
    (g,) = gg.gradients(y, [x], create_graph=True)  # 2 w^2 x
    (g * g).sum().backward()  # 4 w^4, so 16 w^3
    np.testing.assert_allclose(w.grad.numpy(), [128, 432], rtol=1e-6)


# --- modes ------------------------------------------------------------------------------------------


def test_no_grad(path: str) -> None:
    x = leaf(1, 2)
    with gg.no_grad():
        assert not gg.is_grad_enabled()
        y = x * 2
        with gg.enable_grad():
            assert (x * 2).tracked
    assert not y.tracked
    assert gg.is_grad_enabled()
    with pytest.raises(gg.GpgpuError, match="requires_grad=True"):
        y.sum().backward()


def test_no_grad_ends_with_an_error(path: str) -> None:
    with pytest.raises(gg.ShapeError), gg.no_grad():
        leaf(1, 2) + leaf(1, 2, 3)
    assert gg.is_grad_enabled()


def test_an_operator_that_fails_goes_on_recording(path: str) -> None:
    with pytest.raises(gg.ShapeError):
        leaf(1, 2) + leaf(1, 2, 3)
    assert gg.is_grad_enabled()
    assert (leaf(1) * 2).tracked


def test_detach(path: str) -> None:
    x = leaf(1, 2)
    y = x * 3
    assert y.detach().storage is y.storage
    (y.detach() * x).sum().backward()
    assert x.grad.tolist() == [3, 6]


def test_a_graph_runs_backwards_once(path: str) -> None:
    x = leaf(1, 2)
    y = gg.exp(x).sum()
    y.backward()
    with pytest.raises(gg.GpgpuError, match="second time.*retain_graph=True"):
        y.backward()
    y = gg.exp(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.exp([1, 2]), rtol=1e-6)  # 2 units


# --- ties and kinks ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: gg.relu(x), [-1, 0, 2, np.inf], [0, 0, 1, 1]),
        (lambda x: gg.abs(x), [-2, 0, 3], [-1, 0, 1]),
        (lambda x: gg.maximum(x, 1.0), [0, 1, 2], [0, 0.5, 1]),
        (lambda x: gg.minimum(x, 1.0), [0, 1, 2], [1, 0.5, 0]),
        (lambda x: gg.maximum(x, x), [1, 2], [1, 1]),
        (lambda x: gg.clip(x, 0.0, 1.0), [-1, 0.5, 2], [0, 1, 0]),
        (lambda x: x.max(), [1, 3, 3, 2], [0, 0.5, 0.5, 0]),
        (lambda x: x.min(), [1, 3, 1, 1], [1 / 3, 0, 1 / 3, 1 / 3]),
        (lambda x: gg.leaky_relu(x, 0.5), [-1, 2], [0.5, 1]),
        (lambda x: gg.sign(x), [-1, 0, 2], [0, 0, 0]),
        (lambda x: gg.floor(x), [0.5, 1.5], [0, 0]),
        (lambda x: x**0, [0, 1, 2], [0, 0, 0]),
        (lambda x: x**1, [0, -1, 2], [1, 1, 1]),
        (lambda x: x**2, [0, -1, 2], [0, -2, 4]),
        (lambda x: gg.where(x > 0, x, x * 3), [-1, 2], [3, 1]),
        (lambda x: gg.where(x > 0, gg.log(x), 0.0), [-1, 2], [0, 0.5]),  # nothing of the side not taken gets through
        (lambda x: x[[0, 0, 1]], [1, 2], [2, 1]),
        (lambda x: gg.take(x, gg.tensor([1, 1, -1])), [1, 2], [0, 3]),
    ],
)
def test_gradients_at_ties_and_kinks(f: object, x: list[float], expected: list[float], path: str) -> None:
    a = leaf(*x)
    y = f(a)  # type: ignore[operator]
    y.backward(gg.ones(y.shape))
    np.testing.assert_allclose(a.grad.numpy(), expected, rtol=1e-6)  # thirds


def test_power_by_its_exponent(path: str) -> None:
    x, y = leaf(2, 0, 3), leaf(3, 2, 0)
    (x**y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [12, 0, 0], rtol=1e-6)  # a few units
    np.testing.assert_allclose(y.grad.numpy(), [8 * np.log(2), 0, np.log(3)], rtol=1e-6)


def test_broadcast_gradients_sum_back(path: str) -> None:
    for shape, other in (((1,), (3,)), ((), (2, 3)), ((2, 1), (2, 3)), ((1, 3), (2, 3)), ((3,), (2, 3)), ((1, 1, 3), (4, 2, 1))):
        x = gg.tensor(np.ones(shape, np.float32), requires_grad=True)
        y = gg.tensor(np.full(other, 2, np.float32), requires_grad=True)
        (x * y).sum().backward()
        size = np.broadcast_shapes(shape, other)
        np.testing.assert_array_equal(x.grad.numpy(), np.full(shape, 2 * np.prod(size) / max(1, np.prod(shape))))
        np.testing.assert_array_equal(y.grad.numpy(), np.full(other, np.prod(size) / np.prod(other)))


# --- refused ----------------------------------------------------------------------------------------


def test_a_start_must_fit(path: str) -> None:
    y = leaf(1, 2, 3) * 2
    with pytest.raises(gg.ShapeError, match=r"shape \(3,\) needs a starting gradient"):
        y.backward()
    with pytest.raises(gg.ShapeError, match=r"\(2,\) for a tensor of shape \(3,\)"):
        y.backward(gg.ones(2))


def test_an_operator_without_a_gradient_says_so(path: str) -> None:
    with pytest.raises(gg.GpgpuError, match="operator prod has no gradient.*detach"):
        gg.prod(leaf(5, 2)).backward()
