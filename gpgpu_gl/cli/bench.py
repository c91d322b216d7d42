"""gpgpu-gl bench: how fast this device is, and how near to its ceilings each workload comes."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gpgpu-gl bench`."""
    parser.add_argument("--quick", action="store_true", help="fewer and smaller workloads")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there, and a plot beside it")


def run(arguments: argparse.Namespace) -> int:
    """Prints each row as it is measured."""
    from gpgpu_gl.bench.run import run as measure
    from gpgpu_gl.bench.run import save

    result = measure(arguments.quick, lambda line: print(line, flush=True))
    if arguments.json is not None:
        save(result, arguments.json)
        print(f"written: {arguments.json} and {arguments.json.with_suffix('.png')}")
    return 0
