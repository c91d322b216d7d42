"""The texture pool: recycling, the byte cap and what it says, counters, and textures that belong to the caller."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl.gl.pool import Pool
from gpgpu_gl.tensor import engine, new

pytestmark = pytest.mark.gl33
FLOAT32 = np.dtype(np.float32)


@pytest.fixture
def pool(device: gg.Device) -> Iterator[Pool]:
    """A pool of its own, with a cap of 64 KiB."""
    made = Pool(device.ctx, device.max_texture_size, cap=1 << 16)
    yield made
    gc.collect()
    made.trim()


def test_a_texture_is_used_again(pool: Pool) -> None:
    first = pool.get(8, 8, FLOAT32)
    texture = first.texture
    del first
    assert pool.get(8, 8, FLOAT32).texture is texture
    counters = pool.counters()
    assert (counters["created"], counters["reused"]) == (1, 1)


def test_only_an_equal_texture_is_used_again(pool: Pool) -> None:
    held = [pool.get(8, 8, FLOAT32).texture]  # given back at once: only the texture is kept here
    for key in ((8, 4, FLOAT32), (4, 8, FLOAT32), (8, 8, gg.int32), (8, 8, gg.float16), (8, 8, FLOAT32, 3)):
        held.append(pool.get(*key).texture)
    assert len({id(texture) for texture in held}) == len(held)
    assert pool.counters()["reused"] == 0


def test_bytes_are_counted(pool: Pool) -> None:
    sizes = {FLOAT32: 16, gg.float16: 8, gg.int32: 16, gg.bool_: 4}
    for dtype, size in sizes.items():
        before = pool.counters()
        storage = pool.get(5, 7, dtype)
        assert storage.nbytes == 5 * 7 * size
        assert pool.counters()["live"] - before["live"] == 5 * 7 * size
        del storage
        after = pool.counters()
        assert after["live"] == before["live"]
        assert after["idle"] - before["idle"] == 5 * 7 * size
    layered = pool.get(5, 7, FLOAT32, 3)
    assert layered.nbytes == 5 * 7 * 3 * 16
    assert pool.counters()["peak"] == 5 * 7 * 3 * 16


def test_past_the_cap_the_error_says_all(pool: Pool) -> None:
    held = pool.get(60, 60, FLOAT32)
    with pytest.raises(gg.OutOfTextureMemory) as caught:
        pool.get(30, 30, FLOAT32)
    message = str(caught.value)
    used = f"{held.nbytes} bytes are in use"
    for part in ("30 x 30 float32", "14400 bytes", used, "cap is 65536 bytes", "GPGPU_GL_TEXTURE_CAP_MB", "batches"):
        assert part in message
    assert isinstance(caught.value, MemoryError)
    assert pool.counters()["live"] == held.nbytes  # nothing was lost
    del held
    assert pool.get(30, 30, FLOAT32).nbytes == 14400


def test_idle_textures_make_room(pool: Pool) -> None:
    for side in range(10, 60):
        pool.get(side, side, FLOAT32)
        counters = pool.counters()
        assert counters["live"] + counters["idle"] <= pool.cap
    assert pool.counters()["evicted"] > 0


def test_the_longest_unused_size_goes_first(pool: Pool) -> None:
    for side in (20, 30, 20):
        pool.get(side, side, FLOAT32)
    pool.collect()
    pool.trim(20 * 20 * 16)
    assert [key[0] for key in pool.free] == [20]


def test_a_side_beyond_the_device_is_refused(pool: Pool) -> None:
    with pytest.raises(gg.OutOfTextureMemory, match=rf"{pool.max_side + 1} x 1 .* {pool.max_side}"):
        pool.get(pool.max_side + 1, 1, FLOAT32)


def test_a_tensor_beyond_the_cap_is_refused_and_nothing_is_lost(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = gg.tensor(np.arange(10, dtype=np.float32))
    own = engine().pool
    own.trim()
    monkeypatch.setattr(own, "cap", own.counters()["live"] + 4096)
    with pytest.raises(gg.OutOfTextureMemory, match="cap is"):
        gg.zeros((100, 100))
    with pytest.raises(gg.OutOfTextureMemory, match="cap is"):
        gg.tensor(np.ones((100, 100), np.float32))
    np.testing.assert_array_equal((x + 1).numpy(), np.arange(10) + 1)


def test_a_tensor_given_up_on_another_thread_comes_back(path: str) -> None:
    x = gg.tensor(np.ones((9, 9), np.float32))
    texture, before = x.texture, engine().pool.counters()["live"]
    holder = [x]
    del x
    thread = threading.Thread(target=holder.clear)  # no GL call may happen there
    thread.start()
    thread.join()
    assert before - engine().pool.counters()["live"] == texture.width * texture.height * 16
    assert gg.zeros((9, 9)).texture is texture


def test_the_callers_texture_is_never_recycled(device: gg.Device, path: str) -> None:
    texture = device.ctx.texture((3, 3), 4, np.arange(36, dtype=np.float32).tobytes(), dtype="f4")
    x = gg.from_texture(texture)
    before = engine().pool.counters()["live"]
    del x
    assert engine().pool.counters()["live"] == before
    assert gg.zeros((3, 3, 4)).texture is not texture
    assert np.frombuffer(texture.read(), np.float32)[35] == 35
    texture.release()


def test_the_poison_fills_what_is_handed_out(device: gg.Device, path: str) -> None:
    """Guards the other tests: what was not written reads as NaN (-77, or true)."""
    own = engine().pool
    own.poison = True
    try:
        for _ in range(2):  # a new one, then a recycled one
            assert np.isnan(new((3, 5), gg.float32).numpy()).all()
            assert (new((3, 5), gg.int32).numpy() == -77).all()
            assert new((3, 5), gg.bool_).numpy().all()
    finally:
        own.poison = False


def test_the_cap_comes_from_the_environment(device: gg.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPGPU_GL_TEXTURE_CAP_MB", "3")
    assert Pool(device.ctx, 1024).cap == 3 << 20
    monkeypatch.setenv("GPGPU_GL_TEXTURE_CAP_MB", "3 GB")
    with pytest.raises(gg.DeviceError, match="GPGPU_GL_TEXTURE_CAP_MB .* not '3 GB'"):
        Pool(device.ctx, 1024)
