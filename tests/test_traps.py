"""What others fell into who compute with OpenGL, each whole kind as a test on every path.

Traps of single operators (NaN, reuse, odd shapes, edges, gradients on each path) are in the table of cases, those of
numbers in test_numeric.py, of host state in test_state.py, of optimisers and training in their own tests.
"""

from __future__ import annotations

import gc
import itertools
import resource
import sys
from collections.abc import Callable, Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from harness import largest_side, poisoned, rng_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpgpu_gl as gg
from gpgpu_gl.gl import passes
from gpgpu_gl.gl.passes import Command, Engine
from gpgpu_gl.ops import reduce, take
from gpgpu_gl.tensor import Tensor, engine

pytestmark = pytest.mark.gl33
quick = settings(
    deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Command]]:
    """Every draw and dispatch that is issued meanwhile."""
    seen: list[Command] = []
    issue = Engine.issue
    monkeypatch.setattr(Engine, "issue", lambda self, command: (seen.append(command), issue(self, command))[1])
    yield seen
    seen.clear()


# --- broadcasting -----------------------------------------------------------------------------------


def _pairs() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs over {1, 2, 3, 5} to rank 2; of rank 3 every pair of axes' states next to every other."""
    states = [(a, b) for a in (1, 2, 3, 5) for b in (1, 2, 3, 5) if a == b or 1 in (a, b)]
    pairs = [((), ()), *(((a,), (b,)) for a, b in states)]
    for (a, b), (c, d) in itertools.product(states, repeat=2):
        pairs.append(((a, c), (b, d)))
        if a == 1:
            pairs.append(((c,), (b, d)))
    for i, j in itertools.product(range(len(states)), repeat=2):
        (a, b), (c, d), (e, f) = states[i], states[j], states[(i + j) % len(states)]
        pairs.append(((a, c, e), (b, d, f)))
        if a == 1:
            pairs.append(((c, e), (b, d, f)))
        if a == c == 1:
            pairs.append(((e,), (b, d, f)))
    pairs += [((), p) for p, _ in pairs[::7]]
    return pairs + [(q, p) for p, q in pairs[::3]]


def test_every_pair_of_shapes_broadcasts(path: str) -> None:
    arrays: dict[tuple[int, ...], np.ndarray] = {}
    tensors: dict[tuple[int, ...], Tensor] = {}
    for pair in _pairs():
        for s in pair:
            if s not in arrays:
                arrays[s] = rng_of("broadcast", s).standard_normal(s).astype(np.float32)
                tensors[s] = gg.tensor(arrays[s])
    with poisoned():
        for one, other in _pairs():
            got = (tensors[one] - tensors[other]).numpy()
            np.testing.assert_array_equal(got, arrays[one] - arrays[other], err_msg=f"{one} and {other}")


def test_three_shapes_broadcast(path: str) -> None:
    sides = [(1,), (5,), (3, 1), (3, 5), (2, 1, 1), (2, 3, 5), (1, 3, 1), ()]
    with poisoned():
        for n, (a, b, c) in enumerate(itertools.product(sides, repeat=3)):
            if n % 25:
                continue
            rng = rng_of(a, b, c)
            flags, x, y = rng.random(a) < 0.5, rng.standard_normal(b).astype(np.float32), rng.standard_normal(c).astype(np.float32)
            got = gg.where(gg.tensor(flags), gg.tensor(x), gg.tensor(y)).numpy()
            np.testing.assert_array_equal(got, np.where(flags, x, y), err_msg=f"{a}, {b} and {c}")


# --- skinny and large textures ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [3672, 16383, 16384, 16385, 40001])
def test_skinny_tensors(n: int, path: str) -> None:
    """n x 1 and 1 x n: one element to a texel, in textures one texel wide or one line high, or folded."""
    whole = rng_of(n).integers(-8, 9, n).astype(np.float32)
    with poisoned():
        for s in ((n, 1), (1, n), (n,), (1, n, 1)):
            a = whole.reshape(s)
            t = gg.tensor(a)
            np.testing.assert_array_equal((t * 2 + 1).numpy(), a * 2 + 1)
            np.testing.assert_array_equal((t + gg.tensor(whole[:1])).numpy(), a + whole[:1])
            assert t.sum().item() == whole.sum()
            assert t.max().item() == whole.max()
            assert gg.argmin(t).item() == whole.argmin()
            np.testing.assert_array_equal(gg.flip(t).numpy(), a[tuple(slice(None, None, -1) for _ in s)])
        column = gg.tensor(whole.reshape(n, 1))
        np.testing.assert_array_equal(column.T.numpy(), whole.reshape(1, n))
        np.testing.assert_array_equal((column.T @ column).numpy(), [[(whole * whole).sum()]])
        row = np.float32([[2, -3, 1]])
        np.testing.assert_array_equal((column @ gg.tensor(row)).numpy(), whole[:, None] * row)


def test_the_largest_textures(device: gg.Device, path: str) -> None:
    """One line as wide, and one column as high, as the device's largest side: no pixel at the far end is lost."""
    side = device.max_texture_size
    with poisoned():
        for s in ((1, 4 * side), (side, 4), (1, 4 * side + 4), (side + 1, 1)):
            a = np.arange(s[0] * s[1], dtype=np.float32).reshape(s) % 4096
            t = gg.tensor(a) + 1
            assert max(t.layout.width, t.layout.height) <= side
            np.testing.assert_array_equal(t.numpy(), a + 1)


def test_what_is_larger_than_the_device_says_so(path: str) -> None:
    with largest_side(16), pytest.raises(gg.OutOfTextureMemory, match=r"\(300, 4\) needs 300 texels.*16 x 16"):
        gg.zeros((300, 4))


def test_more_work_groups_than_one_dimension_holds(commands: list[Command], path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "MOST_ACROSS", 3)
    rng = rng_of("groups")
    a, b = (rng.integers(-3, 4, s).astype(np.float32) for s in ((301, 17), (17, 90)))
    with poisoned():
        np.testing.assert_array_equal((gg.tensor(a) @ gg.tensor(b)).numpy(), a @ b)
    groups = [c.groups for c in commands if c.program.kernel == "matmul"]
    assert len(groups) == 1
    if path == "compute":
        assert groups[0][0] <= 3
        assert groups[0][1] > 1


def test_dispatches_stay_below_the_limit(path: str) -> None:
    assert passes.MOST_ACROSS <= 65535
    assert gg.device().max_texture_size <= 65535 * min(passes.LOCAL)  # lines of a point pass


# --- sums of whole numbers --------------------------------------------------------------------------


def test_sums_of_whole_numbers_are_exact(path: str) -> None:
    for n, total in ((4096, 8386560), (5793, 16776528), (10000, 49995000)):
        a = np.arange(n)
        for s in ((n,), (n, 1), (1, n)):
            assert gg.tensor(a.reshape(s)).sum().item() == total
            if total < 2**24:  # beyond it a float32 sum depends on its order
                assert gg.tensor(a.astype(np.float32).reshape(s)).sum().item() == total
    assert gg.tensor(np.arange(10000, dtype=np.float32)).sum().item() == 49995000


def test_int32_never_goes_through_floats(path: str) -> None:
    rng = rng_of("int32")
    a = rng.integers(-(2**31), 2**31, (37, 9)).astype(np.int32)
    b = rng.integers(-(2**31), 2**31, (37, 9)).astype(np.int32)
    x, y = gg.tensor(a), gg.tensor(b)
    found = {
        "add": x + y, "subtract": x - y, "multiply": x * y, "negative": -x, "square": gg.square(x), "maximum": gg.maximum(x, y),
        "minimum": gg.minimum(x, y), "where": gg.where(x > y, x, y), "sum": x.sum(axis=0), "max": x.max(axis=1), "min": x.min(),
        "concat": gg.concat([x, y], 1), "pad": gg.pad(x, 1, 2**31 - 1), "take": gg.take(x, [3, 0], axis=1),
        "slice": x[::-2, 1::3],
        "reshape": gg.reshape(x, (9, 37)), "permute": x.T, "flip": gg.flip(x), "equal": x == y, "less": x < y,
        "scalar": x + 16777217, "floor": gg.floor(x), "round": gg.round(x), "abs": gg.abs(x), "relu": gg.relu(x),
        "full": gg.full((37, 9), 2**31 - 1),
    }  # fmt: skip
    with np.errstate(all="ignore"):
        expected = {
            "add": a + b, "subtract": a - b, "multiply": a * b, "negative": -a, "square": a * a, "maximum": np.maximum(a, b),
            "minimum": np.minimum(a, b), "where": np.where(a > b, a, b), "sum": a.sum(axis=0, dtype=np.int32), "max": a.max(axis=1),
            "min": a.min(), "concat": np.concatenate([a, b], 1), "pad": np.pad(a, 1, constant_values=2**31 - 1),
            "take": a[:, [3, 0]], "slice": a[::-2, 1::3], "reshape": a.reshape(9, 37), "permute": a.T, "flip": a[::-1, ::-1],
            "equal": a == b, "less": a < b, "scalar": a + np.int32(16777217), "floor": a, "round": a, "abs": np.abs(a),
            "relu": np.maximum(a, 0), "full": np.full((37, 9), 2**31 - 1, np.int32),
        }  # fmt: skip
    for name, t in found.items():
        np.testing.assert_array_equal(t.numpy(), expected[name], err_msg=name)
    assert gg.argmax(gg.tensor([16777216, 16777217, 16777216])).item() == 1
    assert (gg.tensor([16777216]) == 16777217).tolist() == [False]


def test_nan_is_known_by_its_bits(path: str) -> None:
    words = np.uint32([0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF, 0xFF812345, 0x7F800000, 0xFF800000, 0, 0x3F800000])
    a = words.view(np.float32)
    t = gg.tensor(a)
    np.testing.assert_array_equal(gg.isnan(t).numpy(), np.isnan(a))
    np.testing.assert_array_equal(gg.isinf(t).numpy(), np.isinf(a))
    np.testing.assert_array_equal((t != t).numpy(), np.isnan(a))
    np.testing.assert_array_equal((t == t).numpy(), ~np.isnan(a))
    for f in (gg.relu, gg.abs, gg.sign, gg.tanh, gg.gelu, lambda x: gg.maximum(x, 0.0), lambda x: gg.clip(x, -1.0, 1.0)):
        assert np.isnan(f(t).numpy()[:5]).all()
    assert gg.where(t, 1.0, 0.0).tolist() == np.where(a, 1.0, 0.0).tolist()


def test_a_maximum_starts_at_its_first_value(path: str) -> None:
    for value in (-np.inf, -3e38, -1e20):
        for s in ((5,), (3, 5), (2, 700)):
            t = gg.full(s, value)
            assert t.max().item() == np.float32(value)
            assert (-t).min().item() == -np.float32(value)
            assert gg.argmax(t).item() == 0


# --- long work is split -----------------------------------------------------------------------------


def test_one_invocation_takes_a_bounded_number_of_steps(commands: list[Command], path: str) -> None:
    """A watchdog may end a draw that takes long, without an error: reductions split what is long."""
    ones = gg.ones((600_000,))
    tall, broad = gg.ones((300_000, 2)), gg.ones((2, 300_000))
    index = gg.tensor(np.zeros(20_000, np.int32))
    commands.clear()
    assert ones.sum().item() == 600_000
    assert tall.sum(axis=0).tolist() == [300_000, 300_000]
    assert broad.max(axis=1).tolist() == [1, 1]
    picked = gg.take(gg.tensor(np.float32([[1, 2]]), requires_grad=True), index, axis=0)
    (g,) = gg.gradients(picked.sum(), [picked.node.inputs[0]])
    assert g.tolist() == [[20_000, 20_000]]
    steps = [value for c in commands for name, value in c.uniforms if name in ("chunk", "run")]
    steps += [value for c in commands for name, value in c.uniforms if name == "count" and c.program.kernel == "take_vjp"]
    assert len(steps) >= 8
    assert max(steps) <= max(4 * reduce.LONGEST_CHUNK, take.LONGEST_PICK)


# --- writes and reads in turn -----------------------------------------------------------------------


def test_ping_pong(path: str) -> None:
    """500 passes that each read what the last one wrote, over two textures that take turns."""
    rng = rng_of("ping-pong")
    a = rng.integers(0, 1000, (257, 260)).astype(np.float32)
    t = gg.tensor(a)
    for step in range(250):
        t = gg.flip(t, 1) + float(step % 7)
        a = a[:, ::-1] + np.float32(step % 7)
    np.testing.assert_array_equal(t.numpy(), a)


def test_uploads_reads_and_passes_in_turn(path: str) -> None:
    for step in range(100):
        t = gg.tensor(np.full((33, 9), step, np.float32))  # into the texture that was read a moment ago
        np.testing.assert_array_equal((t * 2).numpy(), np.full((33, 9), 2 * step))
        np.testing.assert_array_equal((t @ gg.ones((9, 5))).numpy(), np.full((33, 5), 9 * step))


def test_barriers_follow_from_the_next_use(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compute pass's result needs the barrier of whatever uses it next, once; fragment passes need none."""
    t = gg.tensor(np.ones((5, 8), np.float32)) + 0  # all that came before is covered below
    uses = (moderngl.TEXTURE_FETCH_BARRIER_BIT, moderngl.SHADER_IMAGE_ACCESS_BARRIER_BIT, moderngl.TEXTURE_UPDATE_BARRIER_BIT)
    for bit in uses:
        engine().barrier([t.storage], bit)
    bits: list[int] = []
    cover = Engine._cover
    monkeypatch.setattr(Engine, "_cover", lambda self, bit: (bits.append(bit), cover(self, bit))[1])

    def issued(action: Callable[[], Any]) -> list[int]:
        bits.clear()
        kept.append(action())
        return sorted(set(bits))

    kept: list[Any] = []
    fetch, image, update = ([bit] if path == "compute" else [] for bit in uses)
    assert issued(lambda: t + 1) == []  # t is covered
    u = kept.pop()
    assert issued(lambda: u * 2) == fetch  # u was written, and is fetched
    assert issued(lambda: u * 3) == []  # which needs it once
    assert issued(lambda: kept[-1].numpy()) == update  # written, and copied to the host
    texture = kept[0].texture
    del kept[0]
    assert issued(lambda: t * 4) == image  # into a texture that was written before
    assert kept[-1].texture is texture


# --- memory -----------------------------------------------------------------------------------------


def test_random_shapes_level_off(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 steps of ever new shapes: the pool stays below its cap, and the process stays as large as it is."""
    pool = engine().pool
    pool.trim()
    monkeypatch.setattr(pool, "cap", pool.counters()["live"] + (1 << 20))
    rng = rng_of("shapes")
    shapes = rng.integers(1, 60, (10_000, 2))
    sizes = []
    for step, (rows, columns) in enumerate(shapes.tolist()):
        t = gg.zeros((rows, columns))
        t = t + 1
        if step % 100 == 0:
            assert t.numpy().sum() == rows * columns
            counters = pool.counters()
            assert counters["live"] + counters["idle"] <= pool.cap
        if step % 2500 == 2499:
            gc.collect()
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    assert pool.counters()["evicted"] > 0
    assert sizes[-1] - sizes[0] < 8 << 20, sizes  # what Python's own allocator may still take


def test_steps_leave_nothing_alive(path: str) -> None:
    x = gg.tensor(np.ones((20, 30), np.float32), requires_grad=True)
    w = gg.tensor(np.ones((30, 7), np.float32), requires_grad=True)
    before = None
    for step in range(30):
        x.grad = w.grad = None
        gg.tanh(x @ w).sum().backward()
        if step == 2:
            before = engine().pool.counters()
    after = engine().pool.counters()
    assert before is not None
    assert after["live"] == before["live"]
    assert after["created"] == before["created"]


@quick
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12))
def test_any_order_of_passes_gives_what_numpy_gives(path: str, steps: list[tuple[int, int, int]]) -> None:
    """Passes of all kinds on recycled, poisoned textures, in any order."""
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    t = gg.tensor(a)
    with poisoned():
        for kind, p, q in steps:
            if kind == 0:
                a, t = a + np.float32(p), t + float(p)
            elif kind == 1:
                a, t = a.T, t.T
            elif kind == 2:
                w = (np.arange(a.shape[-1] * q) % 3 - 1).astype(np.float32).reshape(-1, q)
                a, t = a @ w % np.float32(64), t @ gg.tensor(w) % 64.0
            elif kind == 3:
                a, t = np.pad(a, ((p % 3, 0), (0, q % 3))), gg.pad(t, ((p % 3, 0), (0, q % 3)))
            else:
                a, t = a - a.max(0), t - t.max(axis=0)
        np.testing.assert_array_equal(t.numpy(), a)
