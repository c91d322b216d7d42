"""Traps of programs and their cache: a key that leaves something out, sizes compiled in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import poisoned, rng_of
from hypothesis import given, settings
from hypothesis import strategies as st

import gpgpu_gl as gg
from gpgpu_gl.gl import programs
from gpgpu_gl.tensor import Tensor, engine

pytestmark = pytest.mark.gl33

# --- equal key, equal source ------------------------------------------------------------------------

VALUES = st.one_of(st.sampled_from([0, 1, 2, True, False, "0", "1", "1.0", "x0", "x0 + 1.0"]), st.integers(-3, 9))
NAMES = ("MASK", "OPERANDS", "EXPR", "FETCH_LOD", "RANK", "o0_TEXEL")


def _source(defines: dict[str, str | int]) -> str:
    needed = {
        "EXPR": "1.0", "OPERANDS": 0, "OUTPUTS": 1, "ROWS": 1, "COLS": 1, "EPILOGUE": 0, "o0_TEXEL": "vec4", "o0_SCALAR": "float",
    }  # fmt: skip
    return programs.sources("elementwise", needed | defines, "fragment")["fragment"].text


@given(st.dictionaries(st.sampled_from(NAMES), VALUES), st.dictionaries(st.sampled_from(NAMES), VALUES))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_equal_keys_are_equal_sources(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Python takes 1 == True for one key, so their sources must be one too; nothing else may be."""
    for defines in (one, other):
        defines["OPERANDS"] = 0  # an #unroll bound
    keys = [("elementwise", "fragment", tuple(sorted(d.items()))) for d in (one, other)]
    if keys[0] == keys[1]:
        assert _source(one) == _source(other)
    as_text = [{name: str(int(v) if isinstance(v, bool) else v) for name, v in d.items()} for d in (one, other)]
    if as_text[0] != as_text[1]:
        assert _source(one) != _source(other)


def test_what_a_program_is_made_from_is_its_key(path: str) -> None:
    """Every program in the cache, compiled in all tests so far, has the source that its key gives now."""
    gg.tensor([1.0]) + 1
    for (kernel, way, defines), program in list(engine().programs.cache.items())[::25]:
        assert (program.kernel, program.path) == (kernel, way)
        first = programs.sources(kernel, dict(defines), way)
        again = programs.sources(kernel, dict(reversed(defines)), way)
        assert {stage: s.text for stage, s in first.items()} == {stage: s.text for stage, s in again.items()}


# --- sizes as uniforms, few programs ----------------------------------------------------------------

FAMILIES: list[tuple[str, Callable[..., Tensor], Callable[..., np.ndarray], list[tuple[tuple[int, ...], ...]]]] = [
    ("exp", lambda x: x * 2 + 1, lambda x: x * 2 + 1, [((6, 7),), ((9, 11),), ((50, 3),)]),
    ("sum", lambda x: gg.sum(x, axis=0), lambda x: x.sum(0), [((60, 5),), ((9, 9),), ((200, 6),)]),
    ("rows", lambda x: gg.sum(x, axis=1), lambda x: x.sum(1), [((6, 9),), ((9, 31),), ((7, 13),)]),
    ("matmul", gg.matmul, np.matmul, [((5, 8), (8, 6)), ((7, 12), (12, 5)), ((3, 16), (16, 9))]),
    ("permute", lambda x: gg.permute_dims(x, (1, 0, 2)), lambda x: x.swapaxes(0, 1), [((3, 4, 5),), ((2, 7, 9),), ((5, 1, 3),)]),
    ("pad", lambda x: gg.pad(x, 1), lambda x: np.pad(x, 1), [((3, 4),), ((2, 7),), ((5, 1),)]),
    ("broadcast", lambda x, y: x + y, np.add, [((3, 5), (3, 1)), ((4, 7), (4, 1)), ((2, 9), (2, 1))]),
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f[0])
def test_sizes_are_uniforms(family: Any, path: str) -> None:
    """Three sizes share their programs and alternate, so that a size that stuck would show."""
    _, f, reference, sizes = family
    arrays = [[rng_of(size).integers(-4, 5, s).astype(np.float32) for s in size] for size in sizes]
    with poisoned():
        for step, i in enumerate((0, 1, 2, 0, 2, 1, 0)):
            got = f(*map(gg.tensor, arrays[i])).numpy()
            np.testing.assert_array_equal(got, reference(*arrays[i]))  # small whole numbers: exact
            if step == 0:
                compiled = len(engine().programs.cache)
    assert len(engine().programs.cache) == compiled
