"""gpgpu-gl doctor: the device, what works on it, and what mends the rest."""

from __future__ import annotations

import argparse
import json

from gpgpu_gl import doctor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Prints the report; 0 when the device computes right on every path that it offers, else 1."""
    report = doctor.report()
    print(json.dumps(report, indent=2, default=str) if arguments.json else doctor.text(report))
    return 0 if report["ok"] else 1
