"""Modules and layers, against NumPy in float64 where they compute, on each path."""

from collections.abc import Iterator

import numpy as np
import pytest
from harness import poisoned

import gpgpu_gl as gg
from gpgpu_gl import nn, optim
from gpgpu_gl.ops.norm import layer_norm, std, var
from gpgpu_gl.ops.random import Generator, manual_seed

pytestmark = pytest.mark.gl33

# float32 sums of some ten to hundred products
RTOL, ATOL = 1e-5, 1e-5


@pytest.fixture(autouse=True)
def poison(path: str) -> Iterator[None]:
    with poisoned():
        yield


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        self.norm = nn.BatchNorm2d(width)
        self.dense = nn.Linear(width, width, bias=False)
        self.scale = nn.Parameter(np.ones(width, np.float32))
        self.register_buffer("mask", gg.tensor(np.ones(width, np.float32)))
        self.register_buffer("scratch", gg.tensor(np.zeros(3, np.float32)), persistent=False)
        self.width = width

    def forward(self, x: gg.Tensor) -> gg.Tensor:
        return self.dense(self.norm(x)) * self.scale * self.mask


# --- modules ------------------------------------------------------------------------------------


def test_parameters_buffers_and_modules_have_names():
    model = nn.Sequential(nn.Conv2d(1, 4, 3), Block(4))
    assert [name for name, _ in model.named_parameters()] == [
        "0.weight",
        "0.bias",
        "1.scale",
        "1.norm.weight",
        "1.norm.bias",
        "1.dense.weight",
    ]
    assert [name for name, _ in model.named_buffers()] == [
        "1.mask",
        "1.norm.running_mean",
        "1.norm.running_var",
        "1.norm.num_batches_tracked",
    ]
    assert [name for name, _ in model.named_modules()] == ["", "0", "1", "1.norm", "1.dense"]
    assert len(model) == 2
    assert model[1] is list(model)[1]
    assert set(model.state_dict()) == {name for name, _ in (*model.named_parameters(), *model.named_buffers())}


def test_a_shared_layer_is_counted_once_and_saved_under_each_name():
    layer = nn.Linear(3, 3)
    model = nn.ModuleList([layer, nn.ReLU(), layer])
    assert len(list(model.parameters())) == 2
    assert sorted(model.state_dict()) == ["0.bias", "0.weight", "2.bias", "2.weight"]
    assert [name for name, _ in model.named_modules()] == ["", "0", "1"]


def test_a_replaced_attribute_is_no_parameter_any_more():
    layer = nn.Linear(3, 3)
    layer.bias = None
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    del layer.weight
    assert list(layer.parameters()) == []


def test_the_state_goes_from_one_model_to_another():
    first, second = Block(4), Block(4)
    x = gg.tensor(random(2, 3, 3, 4))
    first(x)
    state = first.state_dict()
    assert all(isinstance(value, np.ndarray) for value in state.values())
    second.load_state_dict(state)
    np.testing.assert_array_equal(first.eval()(x).numpy(), second.eval()(x).numpy())
    for name, value in second.state_dict().items():
        np.testing.assert_array_equal(value, state[name])
    kept = second.scale
    state["scale"][:] = 7  # a copy, both ways
    second.load_state_dict({"scale": gg.tensor(np.full(4, 2.0))}, strict=False)
    assert second.scale is kept
    assert second.scale.tolist() == [2, 2, 2, 2]


def test_a_state_that_does_not_fit_names_every_entry_and_changes_nothing():
    layer = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    before = layer.state_dict()
    state = {**layer.state_dict(), "1.weight": np.zeros((4, 1), np.float32), "2.bias": np.zeros(5)}
    del state["0.bias"]
    state["0.weight"] = state["0.weight"] + 1
    with pytest.raises(gg.FileError) as error:
        layer.load_state_dict(state)
    for part in ("missing: 0.bias (3,)", "unexpected: 2.bias (5,)", "misshapen: 1.weight (4, 1), expected (3, 1)"):
        assert part in str(error.value)
    for name, value in layer.state_dict().items():
        np.testing.assert_array_equal(value, before[name])


def test_train_eval_apply_and_freezing():
    model = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout(), nn.Linear(2, 2)))
    assert model.eval() is model
    assert not any(module.training for module in model.modules())
    assert all(module.training for module in model.train().modules())
    seen: list[str] = []
    model.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Dropout", "Dropout", "Linear", "Sequential", "Sequential"]
    model.requires_grad_(False)
    assert not model(gg.tensor(random(1, 2))).tracked


def test_another_dtype():
    model = Block(4).to(np.float16)
    assert {value.dtype for _, value in model.named_parameters()} == {np.dtype(np.float16)}
    assert model.mask.dtype == np.float16
    assert model.norm.num_batches_tracked.dtype == np.int64
    with pytest.raises(gg.DTypeError, match="int32"):
        model.to(np.int32)


def test_repr():
    model = nn.Sequential(
        nn.Conv2d(1, 4, (3, 5), padding="same", bias=False), nn.Sequential(nn.ReLU(), nn.Flatten()), nn.Linear(3, 2)
    )
    assert repr(model) == (
        "Sequential(\n"
        "  (0): Conv2d(1, 4, kernel_size=(3, 5), stride=1, padding='same', bias=False)\n"
        "  (1): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Flatten(start_dim=1, end_dim=-1)\n"
        "  )\n"
        "  (2): Linear(in_features=3, out_features=2, bias=True)\n"
        ")"
    )
    assert repr(nn.MaxPool2d(2)) == "MaxPool2d(kernel_size=2, stride=2, padding=0)"
    assert repr(nn.MSELoss()) == "MSELoss()"
    assert repr(nn.Parameter(np.zeros(1, np.float32))).startswith("Parameter containing:\ntensor([0.")


# --- layers -------------------------------------------------------------------------------------


def test_linear():
    layer = nn.Linear(5, 3)
    x = random(2, 4, 5)
    w, b = (p.numpy().astype(np.float64) for p in (layer.weight, layer.bias))
    y = layer(gg.tensor(x))
    np.testing.assert_allclose(y.numpy(), x @ w + b, RTOL, ATOL)
    y.sum().backward()
    np.testing.assert_allclose(layer.weight.grad.numpy(), x.reshape(8, 5).sum(0)[:, None] * np.ones(3), RTOL, ATOL)
    assert layer.bias.grad.tolist() == [8, 8, 8]
    with pytest.raises(gg.ShapeError, match=r"Linear\(5, 3\) of a tensor of shape \(2, 4\)"):
        layer(gg.tensor(random(2, 4)))


def test_a_small_convolutional_network_learns():
    manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding="same"), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 4 * 4, 3)
    )
    x, labels = gg.tensor(random(12, 8, 8, 1)), gg.tensor(np.arange(12) % 3)
    loss = nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    first = float(loss(model(x), labels))
    for _ in range(25):
        found = loss(model(x), labels)
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
    assert float(found) < 0.1 * first  # it can learn twelve pictures by heart


def test_layers_are_the_operators():
    x = gg.tensor(random(2, 6, 4, 3))
    table = nn.Embedding(7, 5)
    picked = table([[0, 6], [3, 3]])
    assert picked.shape == (2, 2, 5)
    np.testing.assert_array_equal(picked.numpy(), table.weight.numpy()[[[0, 6], [3, 3]]])
    for layer, expected in (
        (nn.ReLU(), gg.relu(x)),
        (nn.LeakyReLU(0.2), gg.leaky_relu(x, negative_slope=0.2)),
        (nn.GELU(), gg.gelu(x)),
        (nn.GELU("tanh"), gg.gelu(x, "tanh")),
        (nn.Sigmoid(), gg.sigmoid(x)),
        (nn.Tanh(), gg.tanh(x)),
        (nn.Identity(), x),
        (nn.Softmax(), gg.exp(nn.LogSoftmax()(x))),
        (nn.MaxPool2d((3, 2)), x.reshape(2, 2, 3, 2, 2, 3).max(axis=(2, 4))),
        (nn.AvgPool2d(2), x.reshape(2, 3, 2, 2, 2, 3).mean(axis=(2, 4))),
        (nn.Flatten(), x.reshape(2, 72)),
        (nn.Flatten(0, 1), x.reshape(12, 4, 3)),
    ):
        np.testing.assert_allclose(layer(x).numpy(), expected.numpy(), 1e-6, 1e-6)
    t = gg.tensor(random(2, 6, 4, 3, seed=1))
    assert float(nn.MSELoss()(x, t)) == pytest.approx(np.mean((x.numpy() - t.numpy()) ** 2), rel=1e-6)
    assert float(nn.L1Loss("sum")(x, t)) == pytest.approx(np.abs(x.numpy() - t.numpy()).sum(), rel=1e-6)
    assert nn.BCEWithLogitsLoss("none")(x, t).shape == x.shape
    assert nn.NLLLoss()(nn.LogSoftmax()(x[0, 0]), [0, 1, 2, 0]).shape == ()


def test_dropout_only_in_training():
    x = gg.tensor(np.ones((50, 50), np.float32))
    layer = nn.Dropout(0.2, Generator(1))
    y = layer(x).numpy()
    assert set(np.unique(y)) == {0, np.float32(1.25)}
    assert abs((y == 0).mean() - 0.2) < 0.03  # 3 standard deviations of 2,500 draws are 0.024
    assert layer.eval()(x) is x


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.Linear(0, 3), "in_features must be at least 1, not 0"),
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "groups=2 must divide in_channels=3"),
        (lambda: nn.Conv2d(3, 4, 0), "kernel_size"),
        (lambda: nn.Dropout(2), "from 0 to 1, not 2"),
        (lambda: nn.BatchNorm2d(3)(gg.tensor(random(2, 3, 3, 4))), "(N, H, W, 3), not (2, 3, 3, 4)"),
        (lambda: nn.BatchNorm2d(4)(gg.tensor(random(1, 1, 1, 4))), "more than one value"),
        (lambda: nn.LayerNorm(3)(gg.tensor(random(2, 4))), "(3,) of a tensor of shape (2, 4)"),
        (lambda: nn.Flatten(3)(gg.tensor(random(2, 4))), "Flatten from axis 3"),
        (lambda: nn.Embedding(3, 2)([3]), "3"),
        (lambda: nn.MSELoss("avg"), "'avg'"),
        (lambda: nn.init.kaiming_normal_(nn.Parameter(random(3))), "two axes"),
        (lambda: nn.init.calculate_gain("swish"), "swish"),
    ],
)
def test_what_does_not_fit_is_an_error(call, message):
    with pytest.raises(gg.ShapeError) as error:
        call()
    assert message in str(error.value)


# --- normalisation ------------------------------------------------------------------------------


def normalised(a: np.ndarray, axes: tuple[int, ...], eps: float = 1e-5) -> np.ndarray:
    m, v = a.mean(axis=axes, keepdims=True), a.var(axis=axes, keepdims=True)
    return (a - m) / np.sqrt(v + eps)


def gradient_of_normalised(a: np.ndarray, g: np.ndarray, axes: tuple[int, ...], eps: float = 1e-5) -> np.ndarray:
    """S. Ioffe and C. Szegedy, "Batch normalization", ICML 2015, section 3."""
    y = normalised(a, axes, eps)
    centred = g - g.mean(axis=axes, keepdims=True) - y * (g * y).mean(axis=axes, keepdims=True)
    return centred / np.sqrt(a.var(axis=axes, keepdims=True) + eps)


def test_batch_norm():
    layer = nn.BatchNorm2d(5)
    w, b = random(5, seed=3), random(5, seed=4)
    layer.load_state_dict({"weight": w, "bias": b}, strict=False)
    running_mean, running_var = np.zeros(5), np.ones(5)
    for step in range(3):
        a, g = random(4, 3, 2, 5, seed=step) * 3 + 1, random(4, 3, 2, 5, seed=10 + step)
        exact = a.astype(np.float64)
        x = gg.tensor(a, requires_grad=True)
        layer.weight.grad = layer.bias.grad = None
        y = layer(x)
        y.backward(gg.tensor(g))
        np.testing.assert_allclose(y.numpy(), normalised(exact, (0, 1, 2)) * w + b, RTOL, ATOL)
        np.testing.assert_allclose(x.grad.numpy(), gradient_of_normalised(exact, g * w, (0, 1, 2)), 1e-4, ATOL)
        np.testing.assert_allclose(layer.weight.grad.numpy(), (normalised(exact, (0, 1, 2)) * g).sum((0, 1, 2)), 1e-4, 1e-4)
        np.testing.assert_allclose(layer.bias.grad.numpy(), g.sum((0, 1, 2)), RTOL, ATOL)
        running_mean = 0.9 * running_mean + 0.1 * exact.mean((0, 1, 2))
        running_var = 0.9 * running_var + 0.1 * exact.var((0, 1, 2), ddof=1)
    np.testing.assert_allclose(layer.running_mean.numpy(), running_mean, RTOL, ATOL)
    np.testing.assert_allclose(layer.running_var.numpy(), running_var, RTOL, ATOL)
    assert layer.num_batches_tracked == 3
    expected = (exact - running_mean) / np.sqrt(running_var + 1e-5) * w + b
    np.testing.assert_allclose(layer.eval()(x).numpy(), expected, RTOL, ATOL)
    assert layer.num_batches_tracked == 3


@pytest.mark.parametrize("compiled", [False, True])
def test_batch_norm_by_plain_averages(compiled):
    layer = nn.BatchNorm2d(3, momentum=None, affine=False)
    batches = [random(2, 3, 4, 3, seed=s) for s in range(4)]
    forward = gg.compile(lambda x: layer(x)) if compiled else layer
    for a in batches:
        forward(gg.tensor(a))
    np.testing.assert_allclose(layer.running_mean.numpy(), np.mean([a.mean((0, 1, 2)) for a in batches], 0), RTOL, ATOL)
    expected = np.mean([a.var((0, 1, 2), ddof=1) for a in batches], 0)
    np.testing.assert_allclose(layer.running_var.numpy(), expected, RTOL, ATOL)


def test_batch_norm_without_running_statistics():
    layer = nn.BatchNorm2d(3, track_running_stats=False, affine=False).eval()
    a = random(2, 3, 4, 3)
    np.testing.assert_allclose(layer(gg.tensor(a)).numpy(), normalised(a, (0, 1, 2)), RTOL, ATOL)
    assert layer.state_dict() == {}


@pytest.mark.parametrize("shape", [(6,), (4, 6)])
def test_layer_norm(shape):
    layer = nn.LayerNorm(shape)
    w, b, a, g = random(*shape, seed=1), random(*shape, seed=2), random(3, 4, 6), random(3, 4, 6, seed=5)
    layer.load_state_dict({"weight": w, "bias": b})
    axes = tuple(range(3 - len(shape), 3))
    x, exact = gg.tensor(a, requires_grad=True), a.astype(np.float64)
    y = layer(x)
    np.testing.assert_allclose(y.numpy(), normalised(exact, axes) * w + b, RTOL, ATOL)
    y.backward(gg.tensor(g))
    np.testing.assert_allclose(x.grad.numpy(), gradient_of_normalised(exact, g * w, axes), 1e-4, ATOL)
    lead = tuple(range(3 - len(shape)))
    np.testing.assert_allclose(layer.weight.grad.numpy(), (normalised(exact, axes) * g).sum(lead), 1e-4, 1e-4)
    np.testing.assert_allclose(layer.bias.grad.numpy(), g.sum(lead), RTOL, ATOL)


def test_the_second_derivative_of_layer_norm():
    a, g, d = (random(1, 6, seed=s).astype(np.float64) for s in (0, 1, 2))
    step = 1e-5  # central differences: step**2 of the third derivative and 1e-16 / step of rounding
    ahead, behind = (gradient_of_normalised(a + s * d, g, (1,)) for s in (step, -step))
    x = gg.tensor(a, requires_grad=True)
    (gradient,) = gg.gradients((layer_norm(x, 6) * gg.tensor(g)).sum(), [x], create_graph=True)
    (second,) = gg.gradients((gradient * gg.tensor(d)).sum(), [x])
    np.testing.assert_allclose(second.numpy(), (ahead - behind) / (2 * step), 1e-3, 1e-4)


def test_var_and_std():
    a = random(3, 5, 4) * 10 + 1000  # far from 0: the mean is taken out first
    x = gg.tensor(a)
    for axis, correction in ((None, 0), (1, 1), ((0, -1), 0)):
        exact = np.var(a.astype(np.float64), axis=axis, ddof=correction)
        np.testing.assert_allclose(var(x, axis, correction).numpy(), exact, 1e-4)
        np.testing.assert_allclose(std(x, axis, correction).numpy(), np.sqrt(exact), 1e-4)
    assert var(x, 1, keepdims=True).shape == (3, 1, 4)
    assert np.isnan(var(x[:1, :1, :1], None, 1).numpy())
