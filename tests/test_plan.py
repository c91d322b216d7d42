"""Texture planning by itself: no result is overwritten while it is still read, whatever the list of passes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpgpu_gl.bench import network
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.gl.plan import Plan
from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.layout import layout

SHAPES = [(4,), (3, 8), (16, 8), (5, 5), (33, 16), (7, 1), (40, 40)]
DTYPES = [np.dtype(np.float32), np.dtype(np.int32)]


def result(shape, dtype):
    lay = layout(shape, 64)
    return Storage(None, (lay.width, lay.height, dtype, 0), None), lay


@st.composite
def lists(draw):
    """Passes that read earlier results, or an upload, and make one or several new ones; and the results kept to the end."""
    uploaded = result((16, 8), DTYPES[0])
    made, passes = [uploaded], []
    for _ in range(draw(st.integers(1, 12))):
        read = [made[-1 - i % len(made)] for i in draw(st.lists(st.integers(0, 5), max_size=3))]
        shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES))
        outputs = tuple(result(shape, dtype) for _ in range(draw(st.sampled_from([1, 1, 1, 2, 4]))))
        passes.append(Pass("some", {f"x{i}": o for i, o in enumerate(read)}, outputs))
        made += outputs
    kept = {made[i % len(made)][0] for i in draw(st.lists(st.integers(0, 40), max_size=2))}
    return passes, kept


def run_through(plan, passes, private):
    """Follows what each texture holds; returns the most bytes that were alive at once, counted anew."""
    last = {storage: i for i, p in enumerate(passes) for storage, _ in (*p.inputs.values(), *p.outputs)}
    holds, alive, most = {}, set(), 0
    for i, p in enumerate(passes):
        placed = plan(p)
        for (storage, _), (texture, _) in zip(p.inputs.values(), placed.inputs.values(), strict=True):
            if storage in private and storage in alive:
                assert holds[texture] is storage  # what is read is still there
        targets = [texture for texture, _ in placed.outputs]
        assert len(set(targets)) == len(targets)
        assert not set(targets) & {texture for texture, _ in placed.inputs.values()}  # nothing reads what it writes
        assert len({texture.key[:2] for texture in targets}) == 1  # one size, as draws need it
        for (storage, lay), (texture, new) in zip(p.outputs, placed.outputs, strict=True):
            if storage in private:
                holds[texture] = storage
                alive.add(storage)
                assert texture.dtype == storage.dtype
                assert texture.width % storage.width == 0
                assert lay.texels == new.texels <= texture.width * texture.height
                assert (new.width, new.height) == texture.key[:2]
            else:
                assert texture is storage
        most = max(most, sum(s.nbytes for s in alive))
        alive -= {s for s in alive if last[s] == i}
    return most


@settings(max_examples=300, deadline=None)
@given(lists())
def test_no_two_live_results_share_a_texture(drawn):
    passes, kept = drawn
    private = {s for p in passes for s, _ in p.outputs} - kept
    plan = Plan(private, passes)
    assert run_through(plan, passes, private) == plan.peak <= plan.used
    assert plan.used <= sum(s.nbytes for s in private)


def test_a_chain_goes_back_and_forth_between_two_textures():
    chain = [result((16, 16), DTYPES[0]) for _ in range(9)]
    passes = [Pass("some", {"x": a}, (b,)) for a, b in pairwise(chain)]
    plan = Plan({s for s, _ in chain[1:]}, passes)
    assert plan.used == plan.peak == 2 * chain[0][0].nbytes


@pytest.mark.gl33
def test_the_training_step_needs_at_most_three_tenths_more_than_its_live_tensors(path):
    memory = network.texture_memory()
    assert memory["needed"] > 20e6
    assert memory["used"] <= 1.3 * memory["needed"]
