"""gpgpu-gl demo: lists the demos, and runs one live or headless."""

from __future__ import annotations

import argparse
import ast
import runpy
import sys
from pathlib import Path

from gpgpu_gl.errors import FileError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="the demo to run; without it they are listed")
    parser.add_argument("options", nargs=argparse.REMAINDER, help="its own options, such as --headless --frames 40 --out a.gif")


def folder() -> Path:
    """Where the demos are: in the installed package, else in the checkout. Raises FileError where they are not."""
    package = Path(__file__).parents[1]
    for found in (package / "demos", package.parent / "demos"):
        if found.is_dir():
            return found
    raise FileError(f"the demos are neither in {package} nor beside it: install gpgpu_gl again")


def demos() -> dict[str, str]:
    """Name and first line of every demo, in order of names. Nothing is imported."""
    found = {}
    for path in sorted(folder().glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[path.stem] = text.splitlines()[0] if text else ""
    return found


def run(arguments: argparse.Namespace) -> int:
    """Lists the demos, or runs one; 0 when it is done. Raises FileError for an unknown name."""
    known = demos()
    if arguments.name is None:
        width = max(map(len, known))
        print("\n".join(f"{name:<{width}}  {text}" for name, text in known.items()))
        print("\nRun one: gpgpu-gl demo cube        without a window: gpgpu-gl demo cube --headless --frames 40 --out cube.gif")
        return 0
    if arguments.name not in known:
        raise FileError(f"there is no demo {arguments.name!r}; there are {', '.join(known)}")
    before = sys.argv
    sys.argv = [f"gpgpu-gl demo {arguments.name}", *arguments.options]
    try:
        runpy.run_path(str(folder() / f"{arguments.name}.py"), run_name="__main__")
    finally:
        sys.argv = before
    return 0
