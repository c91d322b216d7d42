"""compile(): replays equal eager calls, on both paths; fusion, planning, state, and what it refuses."""

import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl.errors import DTypeError
from gpgpu_gl.gl.grid import MOST_SCRATCH
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.gl.recorder import CaptureError
from gpgpu_gl.tensor import engine

RANDOM = np.random.default_rng(5)
# Fused expressions take the same operations in the same order in float32; the compiler may still contract or reorder
# within one expression, which is what the project allows for captured steps.
CLOSE = {"rtol": 1e-6, "atol": 1e-6}


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def only_recording(compiled):
    (found,) = [r for known in compiled.recordings.values() for r in known]
    return found


def kernels(compiled) -> list[str]:
    return [step.kernel for step in only_recording(compiled).passes if isinstance(step, Pass)]


class Model:
    """A dense layer that a step updates by replacing its tensors."""

    def __init__(self, weight: np.ndarray) -> None:
        self.w = gg.tensor(weight, requires_grad=True)
        self.b = gg.tensor(np.zeros(weight.shape[1], np.float32), requires_grad=True)

    def step(self, x, y):
        for p in (self.w, self.b):
            if engine().recorder is not None:
                engine().recorder.note_zeroed(p)
            p.grad = None
        loss = gg.mean((gg.relu(x @ self.w + self.b) - y) ** 2)
        loss.backward()
        with gg.no_grad():
            for p in (self.w, self.b):
                p.replace(p - p.grad * 0.1)
        return loss


def test_chain_becomes_one_pass(path):
    x, y = floats(5, 7), floats(5, 7)
    run = gg.compile(lambda a, b: gg.relu(a * 2 + b) - gg.tanh(b))
    for _ in range(3):
        np.testing.assert_allclose(run(x, y).numpy(), np.maximum(x * 2 + y, 0) - np.tanh(y), **CLOSE)
    assert kernels(run) == ["elementwise"]


def test_epilogue_joins_its_product(path):
    a, b, c = floats(6, 9), floats(9, 5), floats(5)
    run = gg.compile(lambda p, q, r: gg.relu(p @ q + r))
    for _ in range(2):
        np.testing.assert_allclose(run(a, b, c).numpy(), np.maximum(a @ b + c, 0), rtol=1e-5, atol=1e-5)
    assert kernels(run) == ["matmul"]


def test_shared_result_is_computed_once(path):
    def both(a):
        e = gg.exp(a)
        return e + 1, e * 2

    x = floats(3, 8)
    run = gg.compile(both)
    for _ in range(2):
        plus, times = run(x)
        np.testing.assert_allclose(plus.numpy(), np.exp(x) + 1, rtol=2e-6)
        np.testing.assert_allclose(times.numpy(), np.exp(x) * 2, rtol=2e-6)


def test_training_equals_eager(path):
    start = floats(8, 5)
    eager, captured = Model(start), Model(start)
    step = gg.compile(captured.step)
    for _ in range(6):
        x, y = floats(16, 8), floats(16, 5)
        np.testing.assert_allclose(step(x, y).item(), eager.step(gg.tensor(x), gg.tensor(y)).item(), **CLOSE)
        np.testing.assert_allclose(captured.w.numpy(), eager.w.numpy(), **CLOSE)
        np.testing.assert_allclose(captured.w.grad.numpy(), eager.w.grad.numpy(), **CLOSE)


def test_earlier_results_and_snapshots_stay(path):
    model = Model(floats(8, 5))
    step = gg.compile(model.step)
    losses, snapshots = [], []
    for _ in range(4):
        losses.append(step(floats(4, 8), floats(4, 5)))
        snapshots.append((model.w.detach(), model.w.numpy()))
    assert len({loss.item() for loss in losses}) == 4
    for tensor, values in snapshots:
        np.testing.assert_array_equal(tensor.numpy(), values)


def test_new_shape_records_anew(path):
    run = gg.compile(lambda a: gg.sum(a * a, axis=-1))
    for shape in ((3, 4), (5, 6), (3, 4), (2, 3, 7)):
        x = floats(*shape)
        np.testing.assert_allclose(run(x).numpy(), (x * x).sum(-1), rtol=1e-5)
    assert len(run.recordings) == 3


def test_gradients_accumulate_as_eagerly(path):
    w = gg.tensor(floats(3), requires_grad=True)
    x = floats(3)
    run = gg.compile(lambda a: (w * a).sum().backward())
    for count in range(1, 5):
        run(x)
        np.testing.assert_allclose(w.grad.numpy(), count * x, rtol=1e-6)
    w.grad = None
    run(x)
    np.testing.assert_allclose(w.grad.numpy(), x, rtol=1e-6)


def test_host_actions_and_changing_uniforms_replay(path):
    count = [0]

    def advance() -> None:
        count[0] += 1

    def step(a):
        engine().host(advance)
        from gpgpu_gl.ops.pointwise import pointwise

        return pointwise("x0 * x1", (a, lambda: float(count[0])), a.dtype, ("float", "float"))

    run, x = gg.compile(step), floats(4)
    for n in range(1, 4):
        np.testing.assert_allclose(run(x).numpy(), x * n, rtol=1e-6)


def test_reading_a_value_is_refused_by_name(path):
    run = gg.compile(lambda a: a * gg.sum(a).item())
    with pytest.raises(CaptureError, match="reading a tensor's value"):
        run(floats(3))
    assert engine().recorder is None
    np.testing.assert_allclose((gg.tensor([2.0]) * 2).numpy(), [4.0])


def test_arguments_must_be_tensors_or_hashable(path):
    run = gg.compile(lambda a, b: a)
    with pytest.raises(DTypeError, match="hashable"):
        run(floats(2), [1, 2])


def test_tensors_from_outside_are_read_as_they_are_at_each_call(path):
    w, x = gg.tensor(floats(4, 3)), floats(5, 4)
    first = gg.compile(lambda a: (a @ w, w, gg.reshape(w, (12,))))
    update = gg.compile(lambda g: w.replace(w - g))
    for n in range(4):
        product, same, view = first(x)
        np.testing.assert_allclose(product.numpy(), x @ w.numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(same.numpy(), w.numpy())
        np.testing.assert_array_equal(view.numpy(), w.numpy().ravel())
        if n < 2:
            update(floats(4, 3))
        else:  # in a texture of another width
            w.replace(gg.tensor(floats(3, 4, 4)).viewed((12, 4))[:4, :3])
    assert 1 <= len(next(iter(first.recordings.values()))) <= 2


def test_arguments_that_share_a_texture_are_told_apart_once_they_do_not(path):
    run = gg.compile(lambda a, b: a - 2 * b)
    x, y = gg.tensor(floats(5)), gg.tensor(floats(5))
    for a, b in ((x, x), (x, y), (y, x), (y, y), (x, x.detach())):
        np.testing.assert_allclose(run(a, b).numpy(), a.numpy() - 2 * b.numpy(), rtol=1e-6)
    closed = gg.compile(lambda a: a - 2 * x)
    alias = x.detach()
    for a in (alias, y, alias):
        np.testing.assert_allclose(closed(a).numpy(), a.numpy() - 2 * x.numpy(), rtol=1e-6)
    assert [len(found) for r in (run, closed) for found in r.recordings.values()] == [2, 2]


def test_structures_and_arguments_come_back(path):
    def f(a, scale):
        return {"twice": a * scale, "same": a, "list": [a + 1, None, 3]}

    run, x = gg.compile(f), gg.tensor(floats(5))
    for _ in range(2):
        found = run(x, 2)
        np.testing.assert_array_equal(found["twice"].numpy(), x.numpy() * 2)
        np.testing.assert_array_equal(found["same"].numpy(), x.numpy())
        assert found["list"][1:] == [None, 3]


def test_constants_made_inside_keep_their_values(path):
    run = gg.compile(lambda a: a + gg.tensor(np.arange(6, dtype=np.float32)))
    for _ in range(3):
        x = floats(6)
        np.testing.assert_allclose(run(x).numpy(), x + np.arange(6), rtol=1e-6)


def test_plan_needs_less_than_every_result_at_once(path):
    def deep(a):
        for _ in range(12):
            a = gg.exp(a @ a) * 0.01
        return a

    run, x = gg.compile(deep), floats(32, 32) * 0.1
    want = x
    for _ in range(12):
        want = np.exp(want @ want) * np.float32(0.01)
    for _ in range(2):
        np.testing.assert_allclose(run(x).numpy(), want, rtol=2e-4)
    assert len(kernels(run)) == 12
    memory = only_recording(run).memory()
    tiles = MOST_SCRATCH if path == "fragment" else 0  # all tile passes go through one array texture of at most this
    assert memory["used"] <= 1.3 * memory["needed"] + tiles
    assert memory["needed"] < 12 * 32 * 32 * 4


def test_replays_allocate_nothing(path):
    model = Model(floats(8, 5))
    step = gg.compile(model.step)
    for _ in range(5):
        step(floats(16, 8), floats(16, 5)).item()
    before = engine().pool.counters()["created"]
    for _ in range(50):
        step(floats(16, 8), floats(16, 5)).item()
    assert engine().pool.counters()["created"] == before


def test_results_of_one_pass_keep_one_size(path):
    """logsumexp makes two results in one pass; a large dead texture must not become the place of one of them."""

    def f(x, w):
        y = gg.softmax(gg.exp(gg.pad(x, 1))[:16, :4] * 0.1 @ w)
        return gg.sum(y, axis=0), gg.logsumexp(x, axis=0), gg.softmax(x, axis=0), gg.logsumexp(gg.pad(y, 2), axis=1)

    rng = np.random.default_rng(5)
    x, w = gg.tensor(rng.random((16, 4), np.float32)), gg.tensor(rng.random((4, 16), np.float32))
    for got, want in zip(gg.compile(f)(x, w), f(x, w), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6, atol=1e-6)
