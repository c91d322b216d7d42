"""The small CNN as a workload: training steps, inference, the first step, the overhead of a replay, texture memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from gpgpu_gl.bench.workloads import Run, Workload

BATCH = 128
# Multiply-adds of one image, forwards: both convolutions and both linear layers.
FORWARD = 28 * 28 * 25 * 16 + 14 * 14 * 25 * 16 * 32 + 1568 * 128 + 128 * 10
# Backwards every layer has two products of that size, but the first needs no gradient of its image.
STEP_FLOP = 2.0 * BATCH * (3 * FORWARD - 28 * 28 * 25 * 16)


def _batch(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.random((count, 28, 28, 1), np.float32), rng.integers(0, 10, count).astype(np.int32)


def _ours(captured: bool) -> Run:
    from gpgpu_gl import compile as capture
    from gpgpu_gl import manual_seed, optim, tensor
    from gpgpu_gl.model import SmallCNN
    from gpgpu_gl.ops.losses import cross_entropy

    manual_seed(0)
    model = SmallCNN()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    images, labels = (tensor(a) for a in _batch(BATCH))

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = capture(step) if captured else step
    return lambda: run(images, labels)


def _numpy_step() -> Run:
    from gpgpu_gl.numpy_cnn import Twin, he_normal

    twin = Twin(he_normal(np.random.default_rng(0)))
    images, labels = _batch(BATCH)
    return lambda: twin.step(images, labels, 1e-3)


def torch_model() -> Any:
    """The same network in PyTorch (channels first)."""
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(1568, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def _torch_step() -> Run:
    import torch as t

    model = torch_model()
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)
    images, labels = _batch(BATCH)
    x, y = t.from_numpy(images.transpose(0, 3, 1, 2).copy()), t.from_numpy(labels.astype(np.int64))

    def step() -> Any:
        optimizer.zero_grad()
        loss = t.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def _inference(batch: int) -> Workload:
    images, _ = _batch(batch)

    def ours() -> Run:
        from gpgpu_gl import compile as capture
        from gpgpu_gl import no_grad, tensor
        from gpgpu_gl.model import SmallCNN

        model = SmallCNN()
        model.eval()
        x = tensor(images)

        def forward(x: Any) -> Any:
            with no_grad():
                return model(x)

        run = capture(forward)
        return lambda: run(x)

    def numpy() -> Run:
        from gpgpu_gl.numpy_cnn import Twin, he_normal

        twin = Twin(he_normal(np.random.default_rng(0)))
        return lambda: twin.forward(images)

    def torch() -> Run:
        import torch as t

        model = torch_model().eval()
        x = t.from_numpy(images.transpose(0, 3, 1, 2).copy())

        def forward() -> Any:
            with t.no_grad():
                return model(x)

        return forward

    return Workload(f"CNN inference batch {batch}", 2.0 * batch * FORWARD, 4.0 * images.size, 0.0, ours, numpy, torch)


def workloads() -> list[Workload]:
    """Training steps and inference."""
    return [
        Workload("CNN step eager", STEP_FLOP, 0.0, 0.0, lambda: _ours(False), _numpy_step, _torch_step),
        Workload("CNN step captured", STEP_FLOP, 0.0, 0.0, lambda: _ours(True), _numpy_step, _torch_step),
        _inference(1),
        _inference(256),
    ]


def first_step_s(path: str) -> dict[str, float]:
    """Seconds from the start of training to the end of its first step, in new processes: without and with caches."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            "MESA_SHADER_CACHE_DIR": str(Path(folder) / "mesa"),
            "MESA_GLSL_CACHE_DIR": str(Path(folder) / "mesa"),
            "GPGPU_GL_CACHE": str(Path(folder) / "cache"),
        }
        for kind in ("cold", "warm"):
            out = Path(folder) / kind
            command = [sys.executable, "-m", "gpgpu_gl.cli", "train", "--steps", "2", "--path", path, "--out", str(out)]
            subprocess.run(command, env=os.environ | variables, check=True, capture_output=True)
            found[kind] = json.loads((out / "metrics.json").read_text())["first_step_s"]
    return found


def replay_overhead() -> dict[str, float]:
    """A replayed 8 x 8 pass against a bare moderngl loop of the same draw or dispatch: ms of each, and their ratio."""
    from gpgpu_gl import compile as capture
    from gpgpu_gl import permute_dims, tensor
    from gpgpu_gl.bench.timing import median_ms
    from gpgpu_gl.gl.passes import Command
    from gpgpu_gl.tensor import device

    x, passes = tensor(np.ones((8, 8, 4), np.float32)), 200

    def chain(p: Any) -> Any:
        # Permutations do not fuse with each other: every one is a pass of 8 x 8 texels.
        for _ in range(passes):
            p = permute_dims(p, (1, 0, 2))
        return p

    run = capture(chain)
    run(x)
    (recording,) = [r for found in run.recordings.values() for r in found]
    commands = [c for c in recording.commands if isinstance(c, Command)]

    def bare() -> None:
        for c in commands:
            for unit, storage in c.inputs:
                storage.texture.use(unit)
            if c.groups is None:
                c.targets[0].framebuffer.use()
                c.program.vao.render(vertices=3)
            else:
                c.targets[0].texture.bind_to_image(0, read=False, write=True)
                c.program.program.run(*c.groups, 1)

    finish = device().ctx.finish
    for command in commands:
        recording.engine.issue(command)
    replayed = median_ms(lambda: run(x), finish) / len(commands)
    alone = median_ms(bare, finish) / len(commands)
    return {"replayed_ms": replayed, "bare_ms": alone, "ratio": replayed / alone}


def texture_memory() -> dict[str, float]:
    """Peak texture bytes of a captured training step against what its live tensors need."""
    run = _ours(True)
    run()
    cells = [c.cell_contents for c in run.__closure__ or ()]
    compiled = next(c for c in cells if hasattr(c, "recordings"))
    (recording,) = [r for known in compiled.recordings.values() for r in known]
    return recording.memory()
