"""Renders every demo headless into docs/gallery/ and writes the page that shows them.

    python -m tools.gallery [NAME ...]       only these demos; the page is always written anew
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from gpgpu_gl.cli.demo import demos, folder

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
STILL = ["--size", "480x320"]
# name: options; a demo that is not here is shown as one picture of 480 x 320
OPTIONS: dict[str, list[str]] = {
    "cube": ["--size", "240x180", "--frames", "40", "--fps", "12", "--out", "cube.gif"],
    "teapots": ["--size", "640x320"],
    "solar_system": ["--size", "480x320"],
    "life": ["--size", "240x180", "--frames", "24", "--fps", "10", "--out", "life.gif"],
    "fluid": ["--size", "360x270", "--warm-up", "160"],
    "particles": [*STILL, "--warm-up", "90"],
    "filters": ["--size", "480x320"],
    "classify": ["--size", "480x270"],
    "fit_picture": ["--size", "360x200", "--frames", "24", "--fps", "8", "--out", "fit_picture.gif"],
}


def render(name: str) -> Path:
    """Runs one demo; the file that it wrote."""
    options = list(OPTIONS.get(name, STILL))
    if "--out" not in options:
        options += ["--out", f"{name}.png"]
    at = options.index("--out") + 1
    target = GALLERY / options[at]
    options[at] = str(target)
    start = time.perf_counter()
    subprocess.run([sys.executable, str(folder() / f"{name}.py"), "--headless", *options], cwd=ROOT, check=True)
    print(f"{name}: {target.stat().st_size / 1024:.0f} kB in {time.perf_counter() - start:.1f} s", flush=True)
    return target


def rendering() -> list[str]:
    """The demos that run in gpgpu_gl.render.App; others train, or have pages of their own."""
    return [name for name in demos() if "gr.App(" in (folder() / f"{name}.py").read_text(encoding="utf-8")]


def page() -> str:
    """The page of all pictures that are there."""
    lines = ["# Gallery", "", "Every picture here was rendered by `make gallery`. Run a demo live with `gpgpu-gl demo NAME`.", ""]
    for name, text in demos().items():
        found = [GALLERY / f"{name}.{kind}" for kind in ("gif", "png") if (GALLERY / f"{name}.{kind}").exists()]
        if found and name in rendering():
            source = f"[demos/{name}.py](../../demos/{name}.py)"
            lines += [f"## {name}", "", text, "", f"![{text}]({found[0].name})", "", source, ""]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.gallery", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    known = rendering()
    wrong = set(options.names) - set(known)
    if wrong:
        print(f"no demo is called {', '.join(sorted(wrong))}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    GALLERY.mkdir(parents=True, exist_ok=True)
    for name in options.names or known:
        render(name)
    (GALLERY / "README.md").write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
