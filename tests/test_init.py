"""Starting values of parameters: their fans, their distributions, and when they are computed."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.stats
from harness import poisoned

import gpgpu_gl as gg
from gpgpu_gl import nn
from gpgpu_gl.ops.random import manual_seed

pytestmark = pytest.mark.gl33


@pytest.fixture(autouse=True)
def poison(path: str) -> Iterator[None]:
    with poisoned():
        yield


def test_fans_are_those_of_channels_last_weights():
    assert nn.init.fans(gg.tensor(np.zeros((5, 4, 3, 8)))) == (60, 160)
    assert nn.init.fans(gg.tensor(np.zeros((3, 8)))) == (3, 8)


@pytest.mark.parametrize(
    ("fill", "deviation"),
    [
        (nn.init.kaiming_uniform_, math.sqrt(2 / 600)),
        (lambda t: nn.init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"), math.sqrt(2 / 1600)),
        (lambda t: nn.init.kaiming_normal_(t, a=math.sqrt(5)), math.sqrt(1 / 1800)),
        (nn.init.xavier_uniform_, math.sqrt(2 / 2200)),
        (lambda t: nn.init.xavier_normal_(t, gain=5 / 3), 5 / 3 * math.sqrt(2 / 2200)),
        (lambda t: nn.init.uniform_(t, -1, 3), 4 / math.sqrt(12)),
        (lambda t: nn.init.normal_(t, 1, 0.5), 0.5),
    ],
)
def test_starting_values(fill, deviation):
    manual_seed(1)
    t = nn.Parameter(np.zeros((5, 4, 30, 80), np.float32))
    assert fill(t) is t
    values = t.numpy().ravel()
    centre = 1 if deviation in (0.5, 4 / math.sqrt(12)) else 0
    uniform = fill in (nn.init.kaiming_uniform_, nn.init.xavier_uniform_) or deviation > 1
    shape = scipy.stats.uniform(-math.sqrt(3), 2 * math.sqrt(3)) if uniform else scipy.stats.norm()
    # of a sample that the seed fixes; of 48,000 numbers the other shape, or a deviation 5% off, gives less than 1e-4
    assert scipy.stats.kstest((values - centre) / deviation, shape.cdf).pvalue > 0.001


def test_layers_start_as_pytorchs_do():
    manual_seed(2)
    for layer, fan_in in ((nn.Linear(50, 400), 50), (nn.Conv2d(4, 400, (5, 5), groups=2), 50)):
        for p in layer.parameters():
            found = p.numpy().ravel() * math.sqrt(fan_in)
            assert abs(found).max() <= 1
            assert scipy.stats.kstest(found, scipy.stats.uniform(-1, 2).cdf).pvalue > 0.001  # of a fixed sample
    manual_seed(2)
    again = nn.Linear(50, 400)
    manual_seed(2)
    np.testing.assert_array_equal(again.weight.numpy(), nn.Linear(50, 400).weight.numpy())
    assert scipy.stats.kstest(nn.Embedding(40, 20).weight.numpy().ravel(), "norm").pvalue > 0.001
    assert nn.init.ones_(nn.Parameter(np.full(2, 7.0, np.float32))).tolist() == [1, 1]
    assert nn.init.zeros_(nn.Parameter(np.full(2, 7.0, np.float32))).tolist() == [0, 0]


def test_starting_values_are_computed_at_first_use_even_while_recording(path):
    """The generator moves when a layer is made; its numbers are drawn when they are read, and never by a replay again."""
    x = np.random.default_rng(3).standard_normal((4, 6)).astype(np.float32)

    def made():
        gg.manual_seed(11)
        layers = nn.Linear(6, 5), nn.Linear(6, 5)
        nn.init.kaiming_normal_(layers[0].weight)
        return layers

    first, second = made()
    run = gg.compile(lambda a: second(a) + first(a))
    replays = [run(x).numpy() for _ in range(3)]
    gg.manual_seed(11)
    one, other, third = (gg.uniform((6, 5), -1, 1), gg.uniform((5,), -1, 1), gg.uniform((6, 5), -1, 1))
    del one, other
    np.testing.assert_allclose(second.weight.numpy(), third.numpy() / np.sqrt(6), rtol=1e-6)
    eager_first, eager_second = made()
    want = (eager_second(gg.tensor(x)) + eager_first(gg.tensor(x))).numpy()
    for found in replays:
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(first.weight.numpy(), eager_first.weight.numpy())
