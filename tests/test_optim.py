"""Optimisers, schedules and clipping against NumPy in float64, on each path, on poisoned textures."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl import nn, optim
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.tensor import engine

pytestmark = pytest.mark.gl33

STEPS = 12
SHAPES = [(5, 7), (8,), (3, 3, 2, 4), ()]


@pytest.fixture(autouse=True)
def poisoned(path: str) -> Iterator[None]:
    pool = engine().pool
    pool.poison = True
    yield
    pool.poison = False


def arrays(seed: int, scale: float = 1.0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal(shape) * scale).astype(np.float32) for shape in SHAPES]


# --- references, from PyTorch's documentation ---------------------------------------------------

State = dict[str, Any]


def sgd(p, g, s: State, t, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
    g = g + weight_decay * p
    if momentum:
        s["b"] = g if t == 1 else momentum * s["b"] + (1 - dampening) * g
        g = g + momentum * s["b"] if nesterov else s["b"]
    return p - lr * g


def adam(p, g, s: State, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, decoupled=False):
    if decoupled:
        p = p * (1 - lr * weight_decay)
    else:
        g = g + weight_decay * p
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    v = s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    if amsgrad:
        v = s["peak"] = np.maximum(s.get("peak", 0), v)
    m_hat, v_hat = s["m"] / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
    return p - lr * m_hat / (np.sqrt(v_hat) + eps)


def adamw(p, g, s: State, t, weight_decay=1e-2, **settings):
    return adam(p, g, s, t, weight_decay=weight_decay, decoupled=True, **settings)


def rmsprop(p, g, s: State, t, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False):
    g = g + weight_decay * p
    v = s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
    if centered:
        s["m"] = alpha * s.get("m", 0) + (1 - alpha) * g
        v = v - s["m"] ** 2
    change = g / (np.sqrt(v) + eps)
    if momentum:
        change = s["b"] = momentum * s.get("b", 0) + change
    return p - lr * change


CASES: list[tuple[Callable[..., optim.Optimizer], Callable[..., np.ndarray], dict[str, Any]]] = [
    (optim.SGD, sgd, {}),
    (optim.SGD, sgd, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    (optim.SGD, sgd, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (optim.Adam, adam, {}),
    (optim.Adam, adam, {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    (optim.Adam, adam, {"lr": 0.01, "amsgrad": True}),
    (optim.AdamW, adamw, {}),
    (optim.AdamW, adamw, {"lr": 0.02, "weight_decay": 0.5}),
    (optim.RMSprop, rmsprop, {}),
    (optim.RMSprop, rmsprop, {"lr": 0.005, "centered": True, "momentum": 0.9, "weight_decay": 0.1}),
    (optim.RMSprop, rmsprop, {"alpha": 0.9, "momentum": 0.5}),
    (optim.RMSprop, rmsprop, {"centered": True}),
]


def run(optimizer: optim.Optimizer, params: list[gg.Tensor], steps: range) -> None:
    for t in steps:
        for p, g in zip(params, arrays(100 + t), strict=True):
            p.grad = gg.tensor(g, dtype=p.dtype)
        optimizer.step()


@pytest.mark.parametrize(("kind", "exact", "settings"), CASES)
def test_steps(kind, exact, settings):
    maximize = "weight_decay" in settings
    params = [nn.Parameter(a) for a in arrays(1)]
    optimizer = kind(params, **settings, maximize=maximize)
    run(optimizer, params, range(STEPS))
    for i, p in enumerate(params):
        expected, state = arrays(1)[i].astype(np.float64), {}
        for t in range(STEPS):
            g = arrays(100 + t)[i].astype(np.float64)
            expected = exact(expected, -g if maximize else g, state, t + 1, **settings)
        # every step rounds to float32 a few times; centred RMSprop subtracts nearly equal squares
        tolerance = 1e-4 if settings.get("centered") else 2e-6
        np.testing.assert_allclose(p.numpy(), expected, tolerance, tolerance)


@pytest.mark.parametrize(("kind", "exact", "settings"), [CASES[1], CASES[3], CASES[6], CASES[8]])
def test_float16_parameters_with_small_gradients(kind, exact, settings):
    """Gradients of 1e-5, whose squares float16 cannot hold, and zero gradients, beside eps = 1e-8, which it cannot either."""
    start, gradient = np.linspace(0.5, 1, 8).astype(np.float16), np.full(8, 1e-5, np.float16)
    gradient[::2] = 0
    p = nn.Parameter(gg.tensor(start))
    optimizer = kind([p], **settings)
    expected, state = start.astype(np.float64), {}
    for t in range(STEPS):
        p.grad = gg.tensor(gradient)
        optimizer.step()
        expected = exact(expected, gradient.astype(np.float64), state, t + 1, **settings)
    assert p.dtype == np.float16
    assert all(t.dtype == np.float32 for s in optimizer.state.values() for t in s.tensors.values())
    # a parameter from 0.5 to 1 is stored in steps of 2^-11, and cut or rounded at every update
    np.testing.assert_allclose(p.numpy(), expected, 0, STEPS * 2.0**-11)


def test_an_update_is_one_pass(monkeypatch):
    params = [nn.Parameter(a) for a in arrays(1)]
    optimizer = optim.Adam(params)
    run(optimizer, params, range(1))
    seen: list[Pass] = []
    original = engine().run
    with monkeypatch.context() as patch:
        patch.setattr(engine(), "run", lambda p: (seen.append(p), original(p)))
        optimizer.step()
    assert [(p.kernel, len(p.outputs)) for p in seen] == [("adam", 3)] * len(params)


def test_a_gradient_in_another_texture_size():
    """A reshaped view keeps its texture, which may have other sides than a new one of that shape."""
    p = nn.Parameter(np.ones((6, 8), np.float32))
    p.grad = gg.tensor(np.arange(48, dtype=np.float32).reshape(48 // 4, 4)).reshape(6, 8)
    assert p.grad.layout.width != p.layout.width
    optim.SGD([p], lr=0.5).step()
    np.testing.assert_array_equal(p.numpy(), 1 - 0.5 * np.arange(48).reshape(6, 8))


def test_a_gradient_of_another_shape_is_an_error():
    p = nn.Parameter(np.ones((6, 8), np.float32))
    p.grad = gg.tensor(np.ones((8, 6), np.float32))
    with pytest.raises(gg.ShapeError, match=r"\(8, 6\) for a parameter of shape \(6, 8\)"):
        optim.SGD([p]).step()


def test_padding_stays_zero_without_eps():
    p = nn.Parameter(np.ones((2, 3), np.float32))
    p.grad = gg.tensor(np.ones((2, 3), np.float32))
    optim.Adam([p], lr=0.5, eps=0).step()
    texels = np.frombuffer(engine().read(p.storage), np.float32).reshape(-1, 4)
    np.testing.assert_allclose(texels, [[0.5, 0.5, 0.5, 0]] * 2, 1e-6)


# --- groups and state ---------------------------------------------------------------------------


def test_groups_have_their_own_settings_and_skip_what_has_no_gradient():
    a, b, c = (nn.Parameter(np.ones(4, np.float32)) for _ in range(3))
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": [b, c]}], lr=0.25)
    a.grad, b.grad = gg.tensor(np.ones(4, np.float32)), gg.tensor(np.ones(4, np.float32))
    optimizer.step()
    assert [float(p.numpy()[0]) for p in (a, b, c)] == [0.5, 0.75, 1.0]
    optimizer.param_groups[0]["lr"] = 0.125  # as a schedule does
    optimizer.step()
    assert float(a.numpy()[0]) == 0.375
    optimizer.zero_grad()
    assert a.grad is None is b.grad
    optimizer.step()
    assert float(a.numpy()[0]) == 0.375
    assert optimizer.state_dict()["info"]["steps"] == [2, 2, 0]


@pytest.mark.parametrize(("kind", "exact", "settings"), [CASES[n] for n in (1, 3, 5, 7, 9)])
def test_resuming_is_bit_identical(kind, exact, settings):
    params = [nn.Parameter(a) for a in arrays(1)]
    optimizer = kind(params, **settings)
    run(optimizer, params, range(5))
    saved = optimizer.state_dict()
    saved["info"] = json.loads(json.dumps(saved["info"]))
    middle = [p.numpy() for p in params]
    run(optimizer, params, range(5, 9))
    resumed = [nn.Parameter(a) for a in middle]
    other = kind(resumed, **{**settings, "lr": 7.0})
    other.load_state_dict(saved)
    run(other, resumed, range(5, 9))
    for p, q in zip(params, resumed, strict=True):
        np.testing.assert_array_equal(p.numpy(), q.numpy())
    assert other.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]


def test_the_state_of_another_run_is_refused_and_changes_nothing():
    def adam_of(*shapes: tuple[int, ...]) -> optim.Adam:
        return optim.Adam([nn.Parameter(np.zeros(shape, np.float32)) for shape in shapes])

    optimizer = adam_of((2, 3), (4,))
    for state, message in (
        ({}, "not the state of an optimiser"),
        (optim.SGD([nn.Parameter(np.zeros(2, np.float32))]).state_dict(), "SGD"),
        (adam_of((2, 3)).state_dict(), r"\[1\] parameters"),
        (adam_of((2, 3), (5,)).state_dict(), r"misshapen: 1.exp_avg \(5,\), expected \(4,\)"),
    ):
        with pytest.raises(gg.FileError, match=message):
            optimizer.load_state_dict(state)
    broken = optimizer.state_dict()
    del broken["arrays"]["0.exp_avg_sq"]
    broken["info"]["groups"][0]["lr"] = 5.0
    with pytest.raises(gg.FileError, match="missing: 0.exp_avg_sq"):
        optimizer.load_state_dict(broken)
    assert optimizer.param_groups[0]["lr"] == 1e-3


def test_a_replayed_training_step_equals_a_call():
    def training(compiled: bool) -> list[np.ndarray]:
        params = [nn.Parameter(a) for a in arrays(1)[:1]]
        optimizer = optim.Adam(params, lr=0.1)
        schedule = optim.warmup_cosine(optimizer, 2, 8)

        def step(x: gg.Tensor) -> gg.Tensor:
            loss = ((params[0] * x) ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            norm = optim.clip_grad_norm_(params, 0.5)
            optimizer.step()
            schedule.step()
            return norm

        f = gg.compile(step) if compiled else step
        norms = [f(gg.tensor(arrays(7 + t)[0])).numpy() for t in range(6)]
        assert optimizer.state_dict()["info"]["steps"] == [6]
        return [*norms, params[0].numpy()]

    for called, replayed in zip(training(False), training(True), strict=True):
        np.testing.assert_allclose(replayed, called, 1e-6)  # what compile() promises


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: optim.SGD([]), "SGD got no parameters"),
        (lambda p: optim.SGD([p, p]), "(2,) is given to the optimiser twice"),
        (lambda p: optim.SGD([{"params": [p], "rate": 1}]), "SGD has no setting rate"),
        (lambda p: optim.SGD([p * 2]), "were not computed"),
        (lambda p: optim.SGD([p], lr=-1), "lr must be at least 0, not -1"),
        (lambda p: optim.SGD([p], nesterov=True), "nesterov needs a momentum"),
        (lambda p: optim.Adam([p], betas=(0.9, 1.0)), "betas must be from 0 to below 1, not (0.9, 1.0)"),
        (lambda p: optim.RMSprop([p], lr=float("nan")), "lr must be at least 0, not nan"),
        (lambda p: optim.clip_grad_norm_([p], -1), "max_norm must be at least 0, not -1"),
        (lambda p: optim.SGD(["w"]), "not str"),
    ],
)
def test_what_makes_no_sense_is_an_error(call, message):
    with pytest.raises(gg.GpgpuError) as error:
        call(nn.Parameter(np.zeros(2, np.float32)))
    assert message in str(error.value)


# --- clipping -----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 19])  # a pass reads eight
@pytest.mark.parametrize("max_norm", [0.5, 1e6])
def test_clip_grad_norm(count, max_norm):
    gradients = [arrays(i)[i % 4] for i in range(count)]
    params = [nn.Parameter(np.zeros(g.shape, np.float32)) for g in gradients]
    for p, g in zip(params, gradients, strict=True):
        p.grad = gg.tensor(g)
    exact = math.sqrt(sum(float((g.astype(np.float64) ** 2).sum()) for g in gradients))
    norm = optim.clip_grad_norm_([*params, nn.Parameter(np.zeros(2, np.float32))], max_norm)  # one without a gradient
    np.testing.assert_allclose(float(norm), exact, 1e-6)  # a tree of sums of float32
    for p, g in zip(params, gradients, strict=True):
        np.testing.assert_allclose(p.grad.numpy(), g * min(1.0, max_norm / (exact + 1e-6)), 1e-6, 1e-7)


def test_clip_grad_norm_of_many_elements_and_of_none():
    p = nn.Parameter(np.zeros((700, 1001), np.float32))
    p.grad = gg.tensor(np.full((700, 1001), 0.125, np.float32))
    assert float(optim.clip_grad_norm_(p, 1.0)) == pytest.approx(0.125 * math.sqrt(700 * 1001), rel=1e-6)
    assert float(optim.clip_grad_norm_([nn.Parameter(np.zeros(2, np.float32))], 1.0)) == 0


def test_clip_grad_norm_shows_what_is_not_finite():
    p = nn.Parameter(np.zeros(3, np.float32))
    p.grad = gg.tensor(np.array([1, np.nan, 2], np.float32))
    assert math.isnan(float(optim.clip_grad_norm_([p], 1.0)))
    assert np.isnan(p.grad.numpy()).all()


# --- schedules ----------------------------------------------------------------------------------


def rates(make: Callable[[optim.Optimizer], optim.Schedule], steps: int = 12) -> list[float]:
    optimizer = optim.SGD([nn.Parameter(np.zeros(1, np.float32))], lr=0.5)
    schedule = make(optimizer)
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        schedule.step()
    return found


def cosine(t: float) -> float:
    return (1 + math.cos(math.pi * t)) / 2


@pytest.mark.parametrize(
    ("make", "exact"),
    [
        (optim.LinearLR, lambda t: 0.5 * min(1.0, 1 / 3 + 2 / 3 * t / 5)),
        (lambda o: optim.LinearLR(o, 0.1, 0.9, 10), lambda t: 0.5 * (0.1 + 0.08 * min(t, 10))),
        (lambda o: optim.CosineAnnealingLR(o, 8, 0.05), lambda t: 0.05 + 0.45 * cosine(t / 8)),
        (lambda o: optim.StepLR(o, 3, 0.5), lambda t: 0.5 * 0.5 ** (t // 3)),
        (
            lambda o: optim.SequentialLR(o, [optim.LinearLR(o, 0.5, 1, 2), optim.StepLR(o, 2)], [4]),
            lambda t: 0.5 * (min(1, 0.5 + t / 4) if t < 4 else 0.1 ** ((t - 4) // 2)),
        ),
        (lambda o: optim.warmup_cosine(o, 4, 12), lambda t: 0.5 * ((t + 1) / 4 if t < 4 else cosine((t - 4) / 8))),
        (lambda o: optim.warmup_cosine(o, 1, 12, 0.1), lambda t: 0.5 if t == 0 else 0.1 + 0.4 * cosine((t - 1) / 11)),
        (lambda o: optim.warmup_cosine(o, 0, 12), lambda t: 0.5 * cosine(t / 12)),
    ],
)
def test_rates(make, exact):
    # the same formula in another order of operations: a few units in the last place of a double
    np.testing.assert_allclose(rates(make), [exact(t) for t in range(12)], 1e-14, 1e-16)


def test_a_schedule_goes_on_where_it_was_saved():
    optimizer = optim.SGD([nn.Parameter(np.zeros(1, np.float32))], lr=0.5)
    schedule = optim.warmup_cosine(optimizer, 3, 10)
    for _ in range(5):
        schedule.step()
    state = json.loads(json.dumps(schedule.state_dict()))
    saved = json.loads(json.dumps(optimizer.state_dict()["info"])), optimizer.state_dict()["arrays"]
    other = optim.SGD([nn.Parameter(np.zeros(1, np.float32))], lr=0.5)
    again = optim.warmup_cosine(other, 3, 10)
    other.load_state_dict({"info": saved[0], "arrays": saved[1]})
    again.load_state_dict(state)
    for _ in range(4):
        assert again.get_last_lr() == schedule.get_last_lr()
        schedule.step()
        again.step()
    with pytest.raises(gg.FileError, match="not the state of a schedule"):
        again.load_state_dict({"last_epoch": -1})


@pytest.mark.parametrize(
    "make",
    [
        lambda o: optim.LinearLR(o, 0.0),
        lambda o: optim.CosineAnnealingLR(o, 0),
        lambda o: optim.StepLR(o, 0),
        lambda o: optim.SequentialLR(o, [optim.StepLR(o, 1)], [3]),
        lambda o: optim.warmup_cosine(o, 5, 5),
    ],
)
def test_a_schedule_that_makes_no_sense_is_an_error(make):
    with pytest.raises(gg.GpgpuError):
        rates(make)
