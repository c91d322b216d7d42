"""gpgpu-gl tune: measures which variant of each kernel is fastest here, and keeps the choice."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gpgpu-gl tune`."""
    parser.add_argument("--path", choices=("auto", "fragment", "compute"), default="auto", help="which path to tune")


def run(arguments: argparse.Namespace) -> int:
    """Runs the benchmark's workloads once with measuring on."""
    from gpgpu_gl.bench.run import table
    from gpgpu_gl.tensor import device, engine

    device(arguments.path)
    tuner = engine().tuner
    tuner.tuning = True
    before = len(tuner.choices)
    for workload in table(quick=False):
        print(workload.name, flush=True)
        workload.ours()()
    device().ctx.finish()
    print(f"{len(tuner.choices) - before} new choices, {len(tuner.choices)} in all: {tuner.file}")
    return 0
