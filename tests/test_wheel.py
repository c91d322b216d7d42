"""The installed wheel, outside the checkout: it carries the shaders and the data, and its command works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from gpgpu_gl.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """Standard output of a command that has to succeed, run without the checkout on Python's path."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | variables
    result = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT, cwd=folder)
    (found,) = folder.glob("gpgpu_gl-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a new virtual environment with the wheel in it.

    The dependencies come from the running environment, so that nothing is downloaded; its own .pth files, the one of
    an editable installation among them, do not count there.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv = folder / "venv"
    scripts = venv / SCRIPTS
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=folder)
    python = scripts / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "-q", "--no-deps", "--no-index", wheel, cwd=folder)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(site) / "dependencies.pth").write_text("\n".join(sorted(places)))
    return scripts


def test_the_wheel_holds_the_whole_package_and_the_shaders(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "gpgpu_gl").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    shaders = {"gpgpu_gl/" + path.relative_to(ROOT).as_posix() for path in (ROOT / "shaders").rglob("*.glsl")}
    assert shaders
    assert expected | shaders <= names
    assert {name for name in names if not name.startswith("gpgpu_gl/")} == {
        name for name in names if ".dist-info/" in name
    }


def test_the_shaders_are_those_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = (
        "import gpgpu_gl, pathlib\n"
        "from gpgpu_gl.gl.source import load, shader_root\n"
        "print(pathlib.Path(gpgpu_gl.__file__).parent); print(shader_root()); load('main/cover.glsl')"
    )
    package, shaders = map(Path, run(installed / "python", "-c", code, cwd=tmp_path).splitlines())
    assert package.is_relative_to(installed.parent)
    assert shaders == package / "shaders"


def test_doctor_runs_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    report = json.loads(run(installed / "gpgpu-gl", "doctor", "--json", cwd=tmp_path))
    assert report["ok"]
    assert report["packages"]["gpgpu-gl"] != "not installed"
    assert report["paths"]["fragment"] == "works"


@pytest.mark.skipif("train" not in COMMANDS, reason="no training yet")
def test_training_runs_outside_the_checkout_on_the_built_in_data(installed: Path, tmp_path: Path) -> None:
    run(installed / "gpgpu-gl", "train", "--steps", "3", "--out", tmp_path / "out", cwd=tmp_path)
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert len(metrics["train_loss"]) == 3
    # A network that guesses has a loss near ln 10 = 2.3; steps at the default rate cannot have left that far behind.
    assert all(0 < loss < 10 for loss in metrics["train_loss"])
