"""The profiler's counts and files, and the benchmark's rows."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl.bench import network, workloads
from gpgpu_gl.bench.ceilings import Ceilings, measure
from gpgpu_gl.bench.run import roofline_ms, save
from gpgpu_gl.tensor import engine

CHECKOUT = Path(__file__).parents[1]


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


COLLECT = """
import json
from unittest.mock import patch
from gpgpu_gl.gl.passes import Engine
from tools.shader_cases import CASES, collected, _operator, _training

least, run = {}, Engine.run

def watched(self, p):
    if p.outputs[0][1].texels:  # those without are skipped
        flop = p.flop + (p.expression.operations if p.expression else 0)
        least[p.kernel] = min(flop, least.get(p.kernel, flop))
    run(self, p)

with patch.object(Engine, "run", watched), collected("compute"):
    for case in CASES:
        _operator(case)
    _training()
print(json.dumps(least))
"""
# Kernels that only move or make elements. Elementwise counts its expression, which is none where it only copies.
MOVING = {"reshape", "strided", "pad", "concat", "take", "gather", "elementwise"}
MOVING |= {"sort_keys", "sort_place", "permuted"}
MOVING |= {"arange", "random_bits", "uniform", "normal", "randint", "bernoulli"}
# Kernels of no operator, which do not say: the benchmark's, the renderer's, the demos', the pipeline's.
NO_OPERATOR = {"ceiling_madd", "ceiling_fetch", "transform", "scene_matrices"}
NO_OPERATOR |= {"fluid_advect", "fluid_pressure", "mandelbrot", "particles", "raymarch"}
STAGES = """
anchor assemble assemble_count bin bin_count bin_lines clip clip_count clip_primitives clip_values
coverage cull divide early early_count edges fragments interpolate merge offset quad_count quad_facts
quads setup unpack viewport
"""
NO_OPERATOR |= {f"pipeline_{stage}" for stage in STAGES.split()}


def test_every_pass_of_a_kernel_that_computes_says_its_operations():
    """All that the operators' cases and training issue, collected without running; a new kernel must be among them."""
    done = subprocess.run([sys.executable, "-c", COLLECT], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    least = json.loads(done.stdout)
    assert not {kernel for kernel, flop in least.items() if flop == 0} - MOVING
    files = {file.stem for file in (CHECKOUT / "shaders" / "kernels").glob("*.glsl")}
    assert files - set(least) == NO_OPERATOR | {"gather"}  # gather: of the fragment path alone


def test_each_invocation_of_a_product_fetches_what_its_tile_needs(path, device, monkeypatch):
    monkeypatch.setitem(device.engine.tuner.forced, "matmul", (4, 1, 1))
    x = gg.tensor(np.ones((16, 16), np.float32))
    with gg.profile() as p:
        x @ x
    first = p.entries[0]
    # A step takes four k: a texel from each of 4 rows of a, and one from each of 4 rows of b.
    assert first.fetches == first.invocations * (16 // 4) * (4 + 4)
    assert first.invocations == (32 if path == "compute" else 16)  # 4 x 4 tiles; a work group has 32 invocations
    assert [(e.kernel, e.fetches, e.flop) for e in p.entries[1:]] == ([] if path == "compute" else [("gather", 64, 0)])


def test_dispatches_wider_than_textures_are_counted(path):
    x = gg.ones((8192, 4))
    with gg.profile() as p:
        gg.matmul(x, gg.ones((4, 1024)))
    found = [e for e in p.entries if e.kernel == "matmul"]  # in parts, where they are drawn by a processor
    assert sum(e.fetches for e in found) >= 8192 + 4 * 256
    assert sum(e.flop for e in found) == pytest.approx(2 * 8192 * 4 * 1024)


def test_counting_changes_no_result_of_recorded_steps(path):
    def trained(fetches):
        gg.manual_seed(0)
        layer, x = gg.nn.Linear(8, 8), gg.ones((4, 8))
        optimizer = gg.optim.Adam(layer.parameters())

        @gg.compile
        def step(given):
            optimizer.zero_grad()
            loss = gg.sum(gg.dropout(gg.relu(layer(given)), 0.5))
            loss.backward()
            optimizer.step()
            return loss

        found, counts = [], []
        for _ in range(3):  # the first is recorded
            with gg.profile(fetches) as p:
                found.append(step(x).item())
            counts.append([(e.kernel, e.fetches, e.bytes_read > 0) for e in p.entries])
        return [*found, *(parameter.numpy().tolist() for parameter in layer.parameters())], counts

    plain, uncounted = trained(False)
    profiled, counts = trained(True)
    assert profiled == plain  # bit for bit: the same programs ran once on the same inputs
    assert counts[1] == counts[2]
    assert all((fetches > 0) == reads for _, fetches, reads in counts[1])  # a fill fetches nothing
    assert [kernel for kernel, *_ in counts[1]] == [kernel for kernel, *_ in uncounted[1]]


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


def test_workloads_in_pairs_run_in_pairs_and_agree(device, monkeypatch):
    if "compute" not in device.paths:
        pytest.skip("no compute path")
    gg.device("compute")
    tuner, picked = engine().tuner, []
    pick = tuner.pick
    monkeypatch.setattr(tuner, "pick", lambda *call: picked.append(pick(*call)) or picked[-1])
    plain = workloads.convolution(8, 2, 8, 8, 3)[:2]
    for workload, paired in zip(plain, workloads.in_pairs(plain, 8), strict=True):
        ours = paired.ours()().numpy().reshape(-1)
        assert picked[-1][2] == 1, paired.name
        np.testing.assert_allclose(ours, workload.numpy()().reshape(-1), rtol=1e-4, atol=1e-4, err_msg=paired.name)
    assert tuner.forced == {}


def test_inference_workload_has_the_networks_shape(path):
    (one, _) = [w for w in network.workloads() if "inference" in w.name]
    assert one.ours()().shape == (1, 10)


def test_the_roofline_adds_what_each_ceiling_takes():
    ceilings = Ceilings(gflops=2.0, looped_gflops=1.0, gfetches=0.5, read=8.0, written=4.0, launch_ms=0.1, upload=1.0, readback=1.0)
    assert roofline_ms(6e6, 2e6, 8e6, ceilings) == 3.0 + 4.0 + 2.0


def test_rows_are_saved_with_a_plot(tmp_path):
    row = {"workload": "matmul", "path": "compute", "ms": 1.0, "gflops": 2.0, "gbytes": 1.0, "ceiling_fraction": 0.5}
    rows = [row, row | {"path": "fragment", "roofline_fraction": 0.7}]  # a file of before has no roofline
    save({"header": {"renderer": "some device", "cores": 2}, "rows": rows}, tmp_path / "bench.json")
    assert json.loads((tmp_path / "bench.json").read_text())["rows"] == rows
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")
