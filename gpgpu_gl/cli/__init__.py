"""The command gpgpu-gl: one row of COMMANDS for each subcommand."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from gpgpu_gl.errors import GpgpuError

# name: (module, help). The module has add_arguments(parser) and run(arguments) -> exit status; only the one that is
# called gets imported, so that --help and mistakes are answered at once.
COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("gpgpu_gl.cli.train", "train the small CNN on MNIST or another data set"),
    "predict": ("gpgpu_gl.cli.predict", "classify PNG or JPEG pictures with trained weights"),
    "demo": ("gpgpu_gl.cli.demo", "list the demos, and run one in a window or into a file"),
    "bench": ("gpgpu_gl.cli.bench", "measure how fast this device is, against its own ceilings"),
    "tune": ("gpgpu_gl.cli.tune", "measure which kernel variants are fastest here and keep the choice"),
    "pipeline": ("gpgpu_gl.cli.pipeline", "show every stage of the emulated pipeline, beside the hardware"),
    "doctor": ("gpgpu_gl.cli.doctor", "show the OpenGL device, what works on it, and what mends the rest"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `gpgpu-gl ARGV`; returns the exit status: 0 done, 1 an error that is explained, 2 wrong arguments."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="gpgpu-gl", description="Neural networks and pictures through OpenGL passes.")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, text) in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if words[:1] == [name]:
            command = importlib.import_module(module)
            command.add_arguments(subparser)
    arguments = parser.parse_args(words)
    try:
        return int(command.run(arguments))
    except GpgpuError as error:
        print(f"gpgpu-gl {arguments.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
