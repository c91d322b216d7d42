"""Every variant of a kernel, forced in turn, against the plain product in NumPy over random shapes; the tuner's choices."""

import json
import warnings

import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl.gl import grid, passes
from gpgpu_gl.layout import with_width
from gpgpu_gl.ops import linear
from gpgpu_gl.tensor import engine

RANDOM = np.random.default_rng(11)


@pytest.fixture
def tuner(monkeypatch, tmp_path):
    """The device's tuner with an empty cache folder; as before afterwards."""
    found = engine().tuner
    monkeypatch.setenv("GPGPU_GL_CACHE", str(tmp_path))
    monkeypatch.setattr(found, "forced", {})
    monkeypatch.setattr(found, "tuning", False)
    monkeypatch.setattr(found, "_choices", None)
    return found


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def random_product(transposed: int) -> tuple[np.ndarray, np.ndarray, bool, bool]:
    """Random factors of a product, stored as `transposed` (0 to 3) says."""
    batch = tuple(int(n) for n in RANDOM.integers(1, 4, RANDOM.integers(0, 2)))
    m, k, n = (int(side) for side in RANDOM.integers(1, 70, 3))
    k *= 1 + 3 * (k % 2)  # long enough for a split of K in half of the cases
    a = floats(*batch, k, m) if transposed & 1 else floats(*batch, m, k)
    b = floats(*batch, n, k) if transposed & 2 else floats(*batch, k, n)
    return a, b, bool(transposed & 1), bool(transposed & 2)


def with_rows_in_lines(a: np.ndarray, count: int) -> gg.Tensor:
    """The array in a texture with so many rows in each line, as a plan may lay it, and NaN in what it leaves."""
    lay = gg.tensor(a).layout
    width, height = count * lay.columns, -(-lay.rows // count) + 1
    flat = np.full((width * height, 4), np.nan, np.float32)
    rows = np.zeros((lay.rows, lay.columns * 4), np.float32)
    rows[:, : a.shape[-1]] = a.reshape(lay.rows, -1)
    flat[: lay.texels] = rows.reshape(-1, 4)
    storage = engine().pool.get(width, height, np.dtype(np.float32))
    engine().upload(storage, flat)
    return gg.Tensor(storage, with_width(a.shape, width, height), np.dtype(np.float32))


def test_products_of_matrices_whose_rows_share_lines(path, tuner):
    for variant in linear.VARIANTS[path][::4]:
        tuner.forced["matmul"] = variant
        for transposed in range(4):
            a, b, flip_a, flip_b = random_product(transposed)
            ours = [with_rows_in_lines(m, int(RANDOM.integers(2, 6))) for m in (a, b)]
            plain = [gg.tensor(m) for m in (a, b)]
            found, want = (gg.matmul(x.mT if flip_a else x, y.mT if flip_b else y).numpy() for x, y in (ours, plain))
            np.testing.assert_array_equal(found, want, err_msg=f"{variant} {a.shape} {b.shape}")


def test_every_matmul_variant_computes_the_product(path, tuner):
    for variant in linear.VARIANTS[path]:
        tuner.forced["matmul"] = variant
        for transposed in range(4):
            a, b, flip_a, flip_b = random_product(transposed)
            ours = gg.matmul(gg.tensor(a).mT if flip_a else gg.tensor(a), gg.tensor(b).mT if flip_b else gg.tensor(b))
            x, y = a.astype(np.float64), b.astype(np.float64)
            want = (x.swapaxes(-1, -2) if flip_a else x) @ (y.swapaxes(-1, -2) if flip_b else y)
            # Rounding of a sum of K products of normals: each of size 1, so that it grows with K at most.
            bound = 2.0**-23 * (a.shape[-2] if flip_a else a.shape[-1]) * 2 + 1e-6
            np.testing.assert_allclose(ours.numpy(), want, rtol=1e-5, atol=bound, err_msg=f"{variant} {a.shape} {b.shape}")


def test_tiles_drawn_in_small_parts_compute_the_same(device, tuner, monkeypatch):
    """Parts that end within a row of tiles and within a line of the output; with epilogues, which see every texel once."""
    gg.device("fragment")
    a, b, bias = floats(3, 37, 21), floats(3, 21, 90), floats(90)
    x, w = floats(2, 9, 11, 5), floats(3, 3, 5, 7)

    def results() -> list[np.ndarray]:
        product = gg.compile(lambda p, q: gg.relu(p @ q + gg.tensor(bias)))
        image, taps = gg.tensor(x, requires_grad=True), gg.tensor(w, requires_grad=True)
        out = gg.conv2d(image, taps, padding="same")
        (out * out).sum().backward()
        return [t.numpy() for t in (product(gg.tensor(a), gg.tensor(b)), out, image.grad, taps.grad)]

    for variant in [v for v in linear.VARIANTS["fragment"] if v[0] * v[1] > 1]:
        tuner.forced["matmul"] = variant
        whole = results()
        np.testing.assert_allclose(whole[0], np.maximum(a @ b + bias, 0), rtol=1e-4, atol=1e-4)
        with monkeypatch.context() as m:
            m.setattr(device, "software", True)
            m.setattr(grid, "scratch_size", lambda texel_bytes, max_side: (8, 3))
            for part, all_at_once in zip(results(), whole, strict=True):
                np.testing.assert_array_equal(part, all_at_once)


def test_columns_written_in_a_loop_or_one_by_one_are_the_same(device, tuner, monkeypatch):
    """With epilogues, folded rows, tails of rows and of channels, and columns of a tile that lie apart."""
    if "compute" not in device.paths:
        pytest.skip("no compute path")
    gg.device("compute")
    monkeypatch.setattr(device, "software", True)
    a, b, bias = floats(3, 37, 21), floats(3, 21, 90), floats(90)
    x, w, g = floats(2, 8, 10, 6), floats(3, 3, 6, 7), floats(2, 8, 10, 7)

    def results() -> list[np.ndarray]:
        product = gg.compile(lambda p, q, r: gg.relu(p @ q + r))
        image, taps = gg.tensor(x, requires_grad=True), gg.tensor(w, requires_grad=True)
        out = gg.max_pool2d(gg.relu(gg.conv2d(image, taps, padding="same") + gg.tensor(g)), 2)
        (out * out).sum().backward()
        return [t.numpy() for t in (product(gg.tensor(a), gg.tensor(b), gg.tensor(bias)), out, image.grad, taps.grad)]

    for variant in [v for v in linear.VARIANTS["compute"] if v[0] * v[1] > 1]:
        tuner.forced["matmul"] = variant
        found = {}
        for least in (1, 1000):
            monkeypatch.setattr(passes, "LEAST_LOOPED", least)
            with gg.profile(fetches=False) as p:
                found[least] = results()
            assert {c.kernel for c in p.entries} >= {"conv2d_tile", "conv2d_weight_grad_tile", "max_pool2d_disjoint_vjp"}
        np.testing.assert_allclose(found[1][0], np.maximum(a @ b + bias, 0), rtol=1e-4, atol=1e-4)
        for looped, one_by_one in zip(found[1], found[1000], strict=True):
            # The same operations in the same order, which a compiler may still contract in one program and not in the other.
            np.testing.assert_allclose(looped, one_by_one, rtol=1e-6, atol=1e-6)


def test_hardware_multiplies_large_matrices_through_shared_memory(device, tuner, monkeypatch):
    if "compute" not in device.paths:
        pytest.skip("no compute path")
    gg.device("compute")
    monkeypatch.setattr(device, "software", False)
    x, w, bias = floats(70, 33), floats(33, 130), floats(130)
    run = gg.compile(lambda a, b: gg.relu(gg.matmul(a, b) + gg.tensor(bias)))
    with gg.profile(fetches=False) as p:
        found = run(gg.tensor(x), gg.tensor(w)).numpy()
    assert [e.kernel for e in p.entries] == ["matmul_shared"]  # several blocks, none full, and an epilogue
    np.testing.assert_allclose(found, np.maximum(x @ w + bias, 0), rtol=1e-5, atol=1e-5)
    with gg.profile(fetches=False) as p:
        gg.tensor(x[:20]) @ gg.tensor(w)
    assert [e.kernel for e in p.entries][:1] == ["matmul"]


def test_tuning_keeps_the_fastest_and_finds_it_again(path, tuner, monkeypatch):
    times = iter(float(t) for t in range(1000))
    monkeypatch.setattr(tuner, "_time", lambda variant, trial: 0.0 if tuple(variant) == (4, 1, 1) else next(times) + 1)
    tuner.tuning = True
    a, b = floats(40, 24), floats(24, 32)
    np.testing.assert_allclose((gg.tensor(a) @ gg.tensor(b)).numpy(), a @ b, atol=1e-4)
    key = f"matmul {path} 1x40x24x32x0x0"
    assert json.loads(tuner.file.read_text())["choices"][key] == [4, 1, 1]
    tuner.tuning, tuner._choices = False, None
    picked = []
    tuner.pick("matmul", (1, 40, 24, 32, 0, 0), linear.VARIANTS[path], linear.VARIANTS[path][0], picked.append)
    assert tuner.choices[key] == [4, 1, 1]
    assert picked == []


@pytest.mark.parametrize("content", ["no json", '{"format": 1}', '{"format": 1, "renderer": "x", "version": "y", "choices": {}}'])
def test_a_broken_or_foreign_file_is_ignored_with_a_warning(tuner, content):
    tuner.file.parent.mkdir(parents=True, exist_ok=True)
    tuner.file.write_text(content)
    with pytest.warns(UserWarning, match="ignored"):
        assert tuner.choices == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose((gg.tensor([[2.0]]) @ gg.tensor([[3.0]])).numpy(), [[6.0]])


def test_tuning_measures_for_real(path, tuner):
    tuner.tuning = True
    a, b = floats(9, 12), floats(12, 8)
    np.testing.assert_allclose((gg.tensor(a) @ gg.tensor(b)).numpy(), a @ b, atol=1e-5)
    assert len(tuner.choices) == 1
