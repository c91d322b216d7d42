"""Random numbers against a twin of Philox4x32-10 in NumPy: words, integers and uniform numbers bit for bit."""

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.stats
from philox import philox, words

import gpgpu_gl as gg
from gpgpu_gl.ops.random import (
    Draw,
    Generator,
    bernoulli,
    default_generator,
    dropout,
    manual_seed,
    normal,
    permutation,
    randint,
    random_bits,
    uniform,
)
from gpgpu_gl.tensor import engine

pytestmark = pytest.mark.gl33

SHAPES = [(), (1,), (7,), (3, 5), (4, 8), (2, 3, 6), (3000, 1), (1, 3000)]


@pytest.fixture(autouse=True)
def poisoned(path: str) -> Iterator[None]:
    pool = engine().pool
    pool.poison = True
    yield
    pool.poison = False


def test_the_known_answers():
    """The three vectors that the authors of Philox publish with their code."""
    ones = 2**128 - 1
    pi_counter = 0x0370734413198A2E85A308D3243F6A88
    pi_key = 0x299F31D0A4093822
    for counter, key, answer in (
        (0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (ones, 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (pi_counter, pi_key, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ):
        found = random_bits((4,), key, counter).numpy().view(np.uint32)
        assert " ".join(f"{word:08x}" for word in found) == answer
        assert " ".join(f"{word:08x}" for word in philox([counter], key)[0]) == answer


@pytest.mark.parametrize("counter", [0, 12345, 2**32 - 2, 2**64 - 2, 2**128 - 2])  # carries into every word
def test_words(counter):
    key = 0x0123456789ABCDEF
    for shape in SHAPES:
        np.testing.assert_array_equal(random_bits(shape, key, counter).numpy().view(np.uint32), words(shape, key, counter))


@pytest.mark.parametrize("shape", SHAPES)
def test_uniform(shape):
    exact = (words(shape, 7, 0) >> 8).astype(np.float32) * np.float32(2.0**-24)
    np.testing.assert_array_equal(uniform(shape, generator=Generator(7)).numpy(), exact)
    found = uniform(shape, -3, 5, generator=Generator(7)).numpy()
    # 8 u - 3: the product is exact, so that only the sum is rounded, whether a device fuses them or not
    np.testing.assert_array_equal(found, np.float32(8) * exact - np.float32(3))


def test_uniform_never_reaches_high():
    low, high = np.float32(1), np.nextafter(np.float32(1), np.float32(2))  # halfway up, sums round to high
    found = uniform((64, 64), low, high, generator=Generator(1)).numpy()
    assert (found == low).all()


def test_normal():
    shape = (200, 201)
    w = words((200, 204), 11, 5).astype(np.uint64)
    w[w >= 2**24] &= ~np.uint64(255)
    u = np.maximum(w.astype(np.float64), 0.5) * 2.0**-32
    turn = 2 * np.pi * (words((200, 204), 11, 5) >> 8) * 2.0**-24
    r, a = np.sqrt(-2 * np.log(u[:, 0::2])), turn[:, 1::2]
    exact = np.stack([r * np.cos(a), r * np.sin(a)], axis=-1).reshape(200, 204)[:, :201]
    generator = Generator(11)
    generator.counter = 5
    found = normal(shape, generator=generator).numpy()
    # r <= 6.8 has an error of a few 2^-24 of itself, the sine and the cosine of 1e-7
    np.testing.assert_allclose(found, exact, 1e-6, 2e-6)
    assert scipy.stats.kstest(found.ravel(), "norm").pvalue > 0.01  # of a fixed sample: right or wrong for ever
    generator.counter = 5
    np.testing.assert_allclose(normal(shape, 10, 0.5, generator).numpy(), 10 + 0.5 * exact, 1e-6, 2e-6)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 2**32 - 1), (2**32 - 1, 0), (2**32 - 1, 2**32 - 1)])
def test_the_edges_of_normal_are_finite(first, second):
    """Where a word is next to 0 or the largest, of the first 400,000 words that Philox gives for key 0."""
    found = words((100000, 4), 0, 0).astype(np.int64)
    block = int(np.argmin(np.abs(found[:, 0] - first) + np.abs(found[:, 1] - second)))
    generator = Generator(0)
    generator.counter = block
    assert np.isfinite(normal((4,), generator=generator).numpy()).all()


def test_randint():
    for low, high in ((0, 10), (-5, 1), (-(2**31), 2**31 - 1), (2**31 - 1, 2**31)):
        generator = Generator(3)
        exact = low + ((words((30, 30), 3, 0).astype(np.uint64) * np.uint64(high - low)) >> np.uint64(32)).astype(np.int64)
        np.testing.assert_array_equal(randint((30, 30), low, high, generator).numpy(), exact)
    counts = np.bincount(randint((300, 100), 0, 6, Generator(0)).numpy().ravel(), minlength=6)
    assert scipy.stats.chisquare(counts).pvalue > 0.01  # of a fixed sample


def test_bernoulli():
    u = (words((50, 7), 5, 0) >> 8) * 2.0**-24
    for p in (0.0, 0.25, 0.3, 1.0):
        mask = bernoulli((50, 7), p, Generator(5))
        assert mask.dtype == np.bool_
        np.testing.assert_array_equal(mask.numpy(), u < np.float32(p))


def test_permutation():
    for n in (0, 1, 5, 1000):
        assert sorted(permutation(n, Generator(n)).tolist()) == list(range(n))
    first, second = permutation(1000, Generator(1)).numpy(), permutation(1000, Generator(2)).numpy()
    assert (first != second).mean() > 0.9
    np.testing.assert_array_equal(first, permutation(1000, Generator(1)).numpy())


# --- generators ---------------------------------------------------------------------------------


def test_calls_take_neighbouring_counters():
    generator = Generator(9)
    parts = [uniform((2, 5), generator=generator).numpy() for _ in range(2)]
    assert generator.counter == 8  # two texels a row
    np.testing.assert_array_equal(parts, uniform((2, 2, 5), generator=Generator(9)).numpy())


def test_a_generator_goes_on_where_it_was_saved():
    generator = Generator(2**64 - 1)
    normal((5, 5), generator=generator)
    state = generator.state_dict()
    expected = uniform((3, 3), generator=generator).numpy()
    other = Generator()
    other.load_state_dict(state)
    np.testing.assert_array_equal(uniform((3, 3), generator=other).numpy(), expected)


def test_manual_seed_starts_the_default_generator_anew():
    state = default_generator().state_dict()
    assert manual_seed(4) is default_generator()
    first = normal((3, 3)).numpy()
    assert not np.array_equal(normal((3, 3)).numpy(), first)
    manual_seed(4)
    np.testing.assert_array_equal(normal((3, 3)).numpy(), first)
    default_generator().load_state_dict(state)


@pytest.mark.parametrize("state", [{}, {"seed": 1}, {"seed": -1, "counter": 0}, {"seed": 0, "counter": 0.5}])
def test_what_is_no_state_is_an_error(state):
    with pytest.raises(gg.FileError, match="not a state of a Generator"):
        Generator().load_state_dict(state)


def test_a_replay_draws_new_numbers():
    generator, again = Generator(6), Generator(6)

    def noisy(x: gg.Tensor) -> gg.Tensor:
        return x + uniform((2, 3), generator=generator)

    compiled = gg.compile(noisy)
    x = gg.tensor(np.zeros((2, 3), np.float32))
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x).numpy(), uniform((2, 3), generator=again).numpy())


def test_a_replayed_dropout_and_its_gradient_drop_the_same():
    w = gg.tensor(np.ones((8, 8), np.float32), requires_grad=True)
    generator, again = Generator(6), Generator(6)

    def step(x: gg.Tensor) -> gg.Tensor:
        w.grad = None
        y = dropout(w * x, 0.5, generator=generator)
        y.sum().backward()
        return y

    compiled = gg.compile(step)
    for _ in range(3):
        w.grad = None
        y = compiled(gg.tensor(np.ones((8, 8), np.float32))).numpy()
        np.testing.assert_array_equal(y, dropout(np.ones((8, 8), np.float32), 0.5, generator=again).numpy())
        np.testing.assert_array_equal(w.grad.numpy(), y)


# --- dropout ------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(6,), (5, 7), (2, 3, 4)])
def test_dropout_and_its_gradient_drop_the_same(shape, p):
    rng = np.random.default_rng(0)
    a, g = rng.standard_normal(shape).astype(np.float32), rng.standard_normal(shape).astype(np.float32)
    kept = (words(shape, 8, 0) >> 8) * 2.0**-24 >= np.float32(p)
    scale = kept * (np.float32(1 / (1 - p)) if p < 1 else np.float32(0))
    x = gg.tensor(a, requires_grad=True)
    y = dropout(x, p, generator=Generator(8))
    np.testing.assert_array_equal(y.numpy(), a * scale)
    (gradient,) = gg.gradients(y, [x], gg.tensor(g), create_graph=True)
    np.testing.assert_array_equal(gradient.numpy(), g * scale)


def test_dropout_keeps_nothing_but_its_input():
    x = gg.tensor(np.ones((64, 64), np.float32), requires_grad=True)
    before = engine().pool.counters()["live"]
    y = dropout(x, generator=Generator(0))
    assert engine().pool.counters()["live"] - before == 64 * 64 * 4
    assert y.node is not None


def test_dropout_passes_nan_on_and_does_nothing_outside_training():
    x = gg.tensor(np.full((8, 8), np.nan, np.float32))
    assert np.isnan(dropout(x, 0.9, generator=Generator(0)).numpy()).all()
    assert dropout(x, training=False) is x
    assert dropout(x, 0.0) is x
    half = gg.tensor(np.ones((3, 3)), dtype="float16")
    assert dropout(half, generator=Generator(0)).dtype == np.float16


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Generator(-1), gg.DTypeError, "0 to 2**64 - 1, not -1"),
        (lambda: Generator(1.5), gg.DTypeError, "not 1.5"),
        (lambda: random_bits((2,), 2**64), gg.DTypeError, str(2**64)),
        (lambda: uniform((2,), 1, 1), gg.ShapeError, "low must be below high"),
        (lambda: uniform((2,), 0, np.inf), gg.ShapeError, "finite"),
        (lambda: normal((2,), std=-1), gg.ShapeError, "not -1"),
        (lambda: randint((2,), 3, 3), gg.ShapeError, "from 3 to 3"),
        (lambda: randint((2,), 0, 2**31 + 1), gg.ShapeError, "int32"),
        (lambda: bernoulli((2,), 1.5), gg.ShapeError, "from 0 to 1, not 1.5"),
        (lambda: dropout(np.ones(2, np.float32), -0.5), gg.ShapeError, "not -0.5"),
        (lambda: dropout(np.ones(2, np.int32)), gg.DTypeError, "int32"),
        (lambda: uniform((-1,)), gg.ShapeError, "(-1,)"),
    ],
)
def test_what_does_not_fit_is_an_error(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_a_draw_gives_its_words():
    draw = Draw(0x0123456789ABCDEF, 0x11112222333344445555666677778888)
    assert draw.key_words() == (0x89ABCDEF, 0x01234567)
    assert draw.counter_words() == (0x77778888, 0x55556666, 0x33334444, 0x11112222)
