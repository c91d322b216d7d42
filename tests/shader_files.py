"""Small shader folders for the tests of the loader."""

import itertools
import os
from pathlib import Path

from gpgpu_gl.gl.source import Source

_ticks = itertools.count(1)


def write(root: Path, files: dict[str, str]) -> Path:
    """Writes the files below root, each with a time of its own: tests write faster than a file system's clock ticks."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        os.utime(path, ns=(0, next(_ticks)))
    return root


def body(loaded: Source) -> list[str]:
    """The lines that come from files, without indentation."""
    lines = loaded.text.splitlines()
    return [line.strip() for line, (file, _) in zip(lines, loaded.lines, strict=True) if file != "<header>"]
