"""The profiler's counts and files, and the benchmark's rows."""

import json

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl.bench import network, workloads
from gpgpu_gl.bench.ceilings import measure
from gpgpu_gl.bench.run import save
from gpgpu_gl.tensor import engine


def test_profile_lists_every_pass(path, tmp_path):
    x = gg.tensor(np.ones((16, 16), np.float32))
    with gg.profile() as p:
        gg.exp(x) @ x
    kernels = [entry.kernel for entry in p.entries]
    assert kernels[0] == "elementwise"
    assert "matmul" in kernels
    first = p.entries[0]
    assert first.bytes_read == first.bytes_written == 16 * 4 * 16
    assert first.invocations >= 64
    assert all(entry.ms > 0 for entry in p.entries)
    assert p.total_ms > 0
    table = p.table()
    assert "matmul" in table
    assert "exp_(x0)" in table
    p.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == kernels
    assert all(event["ph"] == "X" and event["dur"] > 0 for event in events)
    gg.exp(x)
    assert len(p.entries) == len(kernels)  # nothing is counted outside the block


def test_profile_counts_fetches_and_operations(path):
    x = gg.tensor(np.ones((16, 16), np.float32))
    images, w = gg.tensor(np.ones((2, 6, 6, 4), np.float32)), gg.tensor(np.ones((3, 3, 4, 8), np.float32))
    labels = gg.tensor(np.zeros(16, np.int32))
    live = engine().pool.counters()["live"]
    with gg.profile() as p:
        for run in (
            lambda: gg.exp(x), lambda: x * 2 + 1, lambda: gg.max_pool2d(images, 2), lambda: gg.sum(x, axis=0),
            lambda: gg.softmax(x), lambda: x @ x, lambda: gg.conv2d(images, w, padding="same"), lambda: gg.pad(x, 1),
            lambda: gg.cross_entropy(x, labels),
        ):  # fmt: skip
            run()
    found = {}
    for e in p.entries:
        found.setdefault(e.kernel, []).append((e.fetches, e.flop))
    assert found["elementwise"][:3] == [(64, 256)] * 3  # of 16 rows of 4 texels, 16 x 16 elements
    assert found["max_pool2d_disjoint"] == [(2 * 6 * 6, 2 * 6 * 6 * 4)]
    assert found["reduce_rows"] == [(64, 256)]
    assert found["softmax"] == [(64 * (2 * 4 + 1), 5 * 256)]  # a texel goes over its row twice
    ((fetches, flop),) = found["matmul"]
    assert flop == 2 * 16**3
    assert fetches % 16 == 0
    assert fetches >= 128  # both matrices at least once
    ((fetches, flop),) = found["conv2d_tile"]
    assert flop == 2 * 9 * 4 * 8 * 2 * 36
    assert fetches >= 72 + 9 * 4 * 2
    assert found["pad"] == [(256, 0)]  # shifted by one lane: element by element
    assert found["cross_entropy"][0][1] > 0
    assert engine().pool.counters()["live"] == live  # nothing is kept
    assert f"{fetches:.0f}" in p.table()
    with gg.profile(fetches=False) as p:
        assert (x @ x).numpy().tolist() == np.full((16, 16), 16.0).tolist()
    assert [e.fetches for e in p.entries if e.kernel == "matmul"] == [None]


def test_every_kernel_that_computes_says_what(path):
    """Kernels that only move or make elements have no operations; all others must count theirs."""
    moving = {"reshape", "strided", "pad", "concat", "take", "gather", "arange", "uniform", "normal", "randint", "bernoulli"}
    moving |= {"elementwise"}  # a copy, or an operand repeated
    images = gg.tensor(np.ones((1, 4, 4, 4), np.float32), requires_grad=True)
    x = gg.tensor(np.ones((6, 40), np.float32), requires_grad=True)
    with gg.profile() as p:
        loss = gg.sum(gg.avg_pool2d(gg.max_pool2d(images, 2), 2)) + gg.sum(gg.softmax(x)) + gg.sum(gg.logsumexp(x, axis=0))
        loss.backward()
        for optimizer in (gg.optim.SGD, gg.optim.Adam, gg.optim.RMSprop):
            optimizer([x]).step()
        gg.optim.clip_grad_norm_([x], 1.0)
    seen = {e.kernel for e in p.entries}
    assert {"sgd", "adam", "rmsprop", "squared_norm", "logsumexp", "avg_pool2d"} <= seen
    assert not {e.kernel for e in p.entries if e.flop == 0} - moving


def test_timer_queries_of_hardware_work_here_too(path, device, monkeypatch):
    monkeypatch.setattr(device, "software", False)
    x = gg.tensor(np.ones((64, 64), np.float32))
    with gg.profile() as p:
        gg.exp(x)
    assert [entry.kernel for entry in p.entries] == ["elementwise"]
    assert p.entries[0].ms >= 0


def test_profile_counts_a_replay(path):
    run = gg.compile(lambda a: gg.relu(a * 2 + 1))
    x = gg.tensor(np.ones((8, 8), np.float32))
    run(x)
    with gg.profile() as p:
        run(x)
    assert len(p.entries) == 1


def test_ceilings_are_positive_and_plausible(path):
    found = measure(seconds=0.02)
    assert found.gflops > 0.1
    assert found.gfetches > 0.001
    assert found.looped_gflops > 0.1
    assert found.read > 0.01
    assert found.written > 0.01
    assert 0 < found.launch_ms < 1000
    assert found.upload > 0
    assert found.readback > 0


def test_small_workloads_agree_with_numpy(path):
    small = [workloads.matmul(12, 8, 16), workloads.matmul(8, 8, 8, batch=3), *workloads.convolution(6, 2, 4, 8, 3)]
    for workload in small:
        ours, theirs = workload.ours()(), workload.numpy()()
        got, want = ours.numpy().reshape(-1), np.asarray(theirs).reshape(-1)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4, err_msg=workload.name)


def test_inference_workload_has_the_networks_shape(path):
    (one, _) = [w for w in network.workloads() if "inference" in w.name]
    assert one.ours()().shape == (1, 10)


def test_rows_are_saved_with_a_plot(tmp_path):
    row = {"workload": "matmul", "path": "compute", "ms": 1.0, "gflops": 2.0, "gbytes": 1.0, "ceiling_fraction": 0.5}
    save({"header": {"renderer": "some device", "cores": 2}, "rows": [row]}, tmp_path / "bench.json")
    assert json.loads((tmp_path / "bench.json").read_text())["rows"] == [row]
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")
