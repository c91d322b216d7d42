"""Random numbers from Philox4x32-10: a key and a counter give the words, so that nothing is stored but two numbers.

Element (row, column) of a tensor gets word column % 4 of counter + row * texels + column // 4, where a row has `texels` =
ceil(columns / 4) texels. That depends on the shape alone: every device and path gives equal words, integers and
uniform numbers; normal ones agree to a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import bool_, float32, int32
from gpgpu_gl.errors import DTypeError, FileError, ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import op
from gpgpu_gl.ops.create import Shape, as_shape
from gpgpu_gl.ops.elementwise import as_tensor
from gpgpu_gl.ops.pointwise import is_integer
from gpgpu_gl.tensor import Tensor, engine, new, tensor

Later = Callable[[], Tensor]

WORD = 2**32
ROUNDS = 10  # of Philox4x32-10
KEYS, COUNTERS = 2**64, 2**128


class Draw:
    """The key and the first counter of one call; what runs from it again gives the same numbers."""

    __slots__ = ("counter", "seed")

    def __init__(self, seed: int, counter: int) -> None:
        self.seed, self.counter = seed, counter

    def key_words(self) -> tuple[int, int]:
        return self.seed % WORD, self.seed // WORD

    def counter_words(self) -> tuple[int, int, int, int]:
        c = self.counter
        return c % WORD, (c >> 32) % WORD, (c >> 64) % WORD, (c >> 96) % WORD

    @property
    def uniforms(self) -> dict[str, Any]:
        """The uniforms of lib/philox.glsl. Functions: a replay of recorded passes asks for new numbers."""
        return {"key": self.key_words, "counter": self.counter_words, "rounds": ROUNDS}


class Generator:
    """A source of random numbers: seed, 0 to 2**64 - 1, is Philox's key; `counter` tells how far it has got."""

    def __init__(self, seed: int = 0) -> None:
        self.manual_seed(seed)

    def manual_seed(self, seed: int) -> Generator:
        """Starts anew from a seed. Raises DTypeError for one outside 0 to 2**64 - 1."""
        if not is_integer(seed) or not 0 <= seed < KEYS:
            raise DTypeError(f"a seed is an integer from 0 to 2**64 - 1, not {seed!r}")
        self.seed, self.counter = int(seed), 0
        return self

    def draw(self, shape: tuple[int, ...]) -> Draw:
        """The numbers of one tensor of that shape; moves the counter past them."""
        made = Draw(self.seed, self.counter)
        texels = engine().layout(shape).texels

        def take() -> None:
            made.seed, made.counter = self.seed, self.counter
            self.counter = (self.counter + texels) % COUNTERS

        engine().host(take)
        return made

    def state_dict(self) -> dict[str, int]:
        """All that the next numbers depend on, as plain numbers for JSON."""
        return {"seed": self.seed, "counter": self.counter}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where state_dict() was taken. Raises FileError when the state is not one."""
        seed: Any = state.get("seed")
        counter: Any = state.get("counter")
        if not (is_integer(seed) and is_integer(counter) and 0 <= seed < KEYS and 0 <= counter < COUNTERS):
            raise FileError(f"not a state of a Generator: {dict(state)}; it has a seed and a counter")
        self.seed, self.counter = int(seed), int(counter)

    def __repr__(self) -> str:
        return f"Generator(seed={self.seed}, counter={self.counter})"


_default = Generator()


def default_generator() -> Generator:
    """The generator that random operators use where none is given; seeded with 0 at the start."""
    return _default


def manual_seed(seed: int) -> Generator:
    """Starts the default generator anew from a seed, 0 to 2**64 - 1, and returns it."""
    return _default.manual_seed(seed)


def _run(kernel: str, out: Tensor, draw: Draw, **uniforms: Any) -> Tensor:
    engine().run(Pass(kernel, {}, (out.operand,), {}, draw.uniforms | uniforms))
    return out


def _later(kernel: str, shape: Shape, dtype: np.dtype, generator: Generator | None, **uniforms: Any) -> Later:
    sides = as_shape(shape)
    draw = (generator or _default).draw(sides)
    return lambda: _run(kernel, new(sides, dtype), draw, **uniforms)


def _drawn(kernel: str, shape: Shape, dtype: np.dtype, generator: Generator | None, **uniforms: Any) -> Tensor:
    return _later(kernel, shape, dtype, generator, **uniforms)()


def random_bits(shape: Shape, key: int = 0, counter: int = 0) -> Tensor:
    """Philox4x32-10's words as int32 (bit for bit), for a key of 64 bits and a first counter of 128.

    random_bits((1, 4)) is the words 6627e8d5 e169c58d bc57ac4c 9b00dbd8. Raises DTypeError for a key or counter out of range.
    """
    if not 0 <= key < KEYS or not 0 <= counter < COUNTERS:
        raise DTypeError(f"key {key} and counter {counter}: they must be from 0 to 2**64 - 1 and 2**128 - 1")
    return _run("random_bits", new(as_shape(shape), int32), Draw(int(key), int(counter)))


def uniform(shape: Shape, low: float = 0.0, high: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Numbers evenly spread over [low, high), float32: low + (high - low) * k / 2**24 with whole k.

    Raises ShapeError where low is not below high or one is not finite.
    """
    return uniform_later(shape, low, high, generator)()


def uniform_later(shape: Shape, low: float, high: float, generator: Generator | None) -> Later:
    """What computes uniform()'s numbers; the generator has moved past them already."""
    bottom, top = np.float32(low), np.float32(high)
    if not (np.isfinite(bottom) and np.isfinite(top) and bottom < top):
        raise ShapeError(f"uniform over [{low}, {high}): low must be below high, and both finite in float32")
    limits = {"low": float(bottom), "width": float(top - bottom), "top": float(np.nextafter(top, bottom))}
    return _later("uniform", shape, float32, generator, **limits)


def normal(shape: Shape, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normally distributed numbers, float32, never further than 6.8 std from the mean. Raises ShapeError for std < 0."""
    return normal_later(shape, mean, std, generator)()


def normal_later(shape: Shape, mean: float, std: float, generator: Generator | None) -> Later:
    """What computes normal()'s numbers; the generator has moved past them already."""
    if not std >= 0:
        raise ShapeError(f"a standard deviation is at least 0, not {std}")
    return _later("normal", shape, float32, generator, mean=float(mean), deviation=float(std))


def randint(shape: Shape, low: int, high: int, generator: Generator | None = None) -> Tensor:
    """Integers from low to high - 1, int32; each is as likely as the others to within 2**-32.

    Raises ShapeError where low is not below high or int32 cannot hold them.
    """
    if not (is_integer(low) and is_integer(high) and -(2**31) <= low < high <= 2**31 and high - low < WORD):
        raise ShapeError(f"randint from {low} to {high} - 1: integers that int32 holds, low below high")
    return _drawn("randint", shape, int32, generator, low=int(low), range=int(high - low))


def bernoulli(shape: Shape, p: float = 0.5, generator: Generator | None = None) -> Tensor:
    """A bool mask, each element true with probability p. Raises ShapeError for p outside 0 to 1."""
    return _drawn("bernoulli", shape, bool_, generator, probability=_probability(p))


def permutation(n: int, generator: Generator | None = None) -> Tensor:
    """The integers 0 to n - 1 in random order, (n,) int32: the words come from the generator, the host sorts them."""
    sides = as_shape(n)
    if len(sides) != 1:
        raise ShapeError(f"permutation takes a number of elements, not {n}")
    words = _drawn("random_bits", (*sides, 4), int32, generator).numpy().view(np.uint32)
    return tensor(np.lexsort((words[:, 1], words[:, 0])), dtype=int32)


def _probability(p: float) -> float:
    if not 0 <= p <= 1:
        raise ShapeError(f"a probability is from 0 to 1, not {p}")
    return float(p)


@op("dropout", lambda g, out, x, p, draw: _dropout(g, p=p, draw=draw))
def _dropout(x: Tensor, p: float, draw: Draw) -> Tensor:
    out = new(x.shape, x.dtype)
    factor = 0.0 if p == 1 else 1 / (1 - p)
    uniforms = draw.uniforms | {"probability": p, "factor": factor}
    engine().run(Pass("dropout", {"x": x.operand}, (out.operand,), {}, uniforms, flop=float(x.size)))
    return out


def dropout(x: Any, p: float = 0.5, training: bool = True, generator: Generator | None = None) -> Tensor:
    """x with elements zeroed with probability p and the others divided by 1 - p; x itself unless training.

    No mask is stored: the backward pass draws the same numbers again. NaN stays NaN. Raises ShapeError for p outside
    0 to 1, DTypeError unless x is a float tensor.
    """
    x = as_tensor(x)
    if x.dtype.kind != "f":
        raise DTypeError(f"dropout needs a float tensor, not {x.dtype}")
    if not training or _probability(p) == 0:
        return x
    return _dropout(x, p=float(p), draw=(generator or _default).draw(x.shape))
