"""The profiler's counts and files, and the benchmark's rows."""

import json

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl.bench import network, workloads
from gpgpu_gl.bench.ceilings import measure
from gpgpu_gl.bench.run import save


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
