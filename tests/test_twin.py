"""The NumPy twin itself: against finite differences, and against values worked out by hand."""

import numpy as np
import pytest
from twin import SHAPES, Twin, conv, cross_entropy, he_normal, max_pool, max_pool_gradient


def batch(count: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.random((count, 28, 28, 1)).astype(dtype), rng.integers(0, 10, count)


@pytest.mark.parametrize("name", SHAPES)
def test_gradient_equals_finite_difference(name: str) -> None:
    params = he_normal(np.random.default_rng(1), np.float64)
    # biases off zero, so that no relu input sits on its kink
    for key in params:
        if key.endswith("bias"):
            params[key] += np.random.default_rng(2).standard_normal(params[key].shape) * 0.1
    images, labels = batch(3, np.float64)
    _, gradients = Twin(params).gradients(images, labels)

    direction = np.random.default_rng(3).standard_normal(params[name].shape)
    step = 1e-6
    losses = [
        Twin({**params, name: params[name] + sign * step * direction}).gradients(images, labels)[0] for sign in (1, -1)
    ]
    difference = (losses[0] - losses[1]) / (2 * step)
    # central differences in float64 at 1e-6: truncation 1e-12, cancellation about 1e-16 / 1e-6 = 1e-10; a relu or
    # a maximum that switches within the step adds a little
    assert np.sum(gradients[name] * direction) == pytest.approx(difference, rel=1e-5, abs=1e-8)


def test_convolution_equals_the_sum_written_out() -> None:
    rng = np.random.default_rng(0)
    x, weight, bias = rng.random((2, 6, 5, 3)), rng.random((5, 5, 3, 4)), rng.random(4)
    expected = np.zeros((2, 6, 5, 4)) + bias
    for row in range(6):
        for column in range(5):
            for i in range(5):
                for j in range(5):
                    y, z = row + i - 2, column + j - 2
                    if 0 <= y < 6 and 0 <= z < 5:
                        expected[:, row, column] += x[:, y, z] @ weight[i, j]
    # 75 products of numbers below 1 in float64: rounding stays below 75 * 75 * 1e-16
    np.testing.assert_allclose(conv(x, weight, bias), expected, rtol=0, atol=1e-12)


def test_gradient_of_max_pool_goes_to_the_first_of_equal_maxima() -> None:
    x = np.array([[1, 3, 5, 5], [3, 2, 5, 5], [0, 0, 1, 2], [0, 0, 2, 2]], np.float32).reshape(1, 4, 4, 1)
    np.testing.assert_array_equal(max_pool(x)[0, :, :, 0], [[3, 5], [0, 2]])
    gradient = max_pool_gradient(x, np.array([[10, 20], [30, 40]], np.float32).reshape(1, 2, 2, 1))
    np.testing.assert_array_equal(gradient[0, :, :, 0], [[0, 10, 20, 0], [0, 0, 0, 0], [30, 0, 0, 40], [0, 0, 0, 0]])


def test_cross_entropy_of_equal_and_of_extreme_logits() -> None:
    loss, gradient = cross_entropy(np.zeros((2, 4)), np.array([0, 3]))
    assert loss == pytest.approx(np.log(4), rel=1e-15)
    np.testing.assert_allclose(gradient[0], [-0.375, 0.125, 0.125, 0.125], rtol=1e-15)
    loss, gradient = cross_entropy(np.array([[1e4, -1e4]]), np.array([1]))
    assert loss == 2e4
    np.testing.assert_array_equal(gradient, [[1, -1]])


def test_adam_equals_its_published_form() -> None:
    twin = Twin(he_normal(np.random.default_rng(1), np.float64))
    images, labels = batch(4, np.float64)
    name, start, gradients = "linear2.weight", twin.params["linear2.weight"].copy(), []
    for _ in range(3):
        gradients.append(twin.gradients(images, labels)[1][name])
        twin.step(images, labels, lr=1e-3)
    m = v = np.zeros_like(start)
    expected = start
    for t, g in enumerate(gradients, start=1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        expected = expected - 1e-3 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    # the same formula in another order of operations, in float64
    np.testing.assert_allclose(twin.params[name], expected, rtol=1e-9, atol=1e-15)


def test_training_learns_and_stays_in_float32() -> None:
    twin = Twin(he_normal(np.random.default_rng(1)))
    images, labels = batch(32, np.float32)
    losses = [twin.step(images, labels, lr=1e-3) for _ in range(20)]
    assert losses[-1] < losses[0] / 4
    assert {array.dtype for array in twin.params.values()} == {np.dtype(np.float32)}


def test_another_architecture_is_refused() -> None:
    params = he_normal(np.random.default_rng(1))
    params["conv1.bias"] = np.zeros(8, np.float32)
    with pytest.raises(ValueError, match=r"conv1\.bias"):
        Twin(params)
