"""Makes .venv, installs the package into it and checks that OpenGL starts. Run by make; needs Python 3.10 alone.

    python3 tools/bootstrap.py [--dev]      --dev adds what the tests need

As root on Debian or Ubuntu it installs the system packages that are missing; elsewhere it names them.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
OLDEST = (3, 10)
START = "from gpgpu_gl.gl.context import device; print('OpenGL starts:', device())"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", action="store_true", help="install what the tests need, too")
    arguments = parser.parse_args()
    if sys.version_info < OLDEST:
        sys.exit(
            f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed, and {sys.executable} is {sys.version.split()[0]}. "
            "Name another: make PYTHON=python3.12 ..."
        )
    remedies = load_remedies()
    make_venv(remedies)
    install(arguments.dev)
    start_opengl(remedies)
    for stamp in (".ready", ".ready-dev") if arguments.dev else (".ready",):
        (VENV / stamp).touch()


def load_remedies() -> ModuleType:
    """gpgpu_gl/gl/remedies.py by its path, since the package itself needs what is not installed yet."""
    spec = importlib.util.spec_from_file_location("remedies", ROOT / "gpgpu_gl/gl/remedies.py")
    if spec is None or spec.loader is None:
        sys.exit("gpgpu_gl/gl/remedies.py is missing: run this from a whole checkout.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_venv(remedies: ModuleType) -> None:
    if PYTHON.exists() and succeeds([PYTHON, "-m", "pip", "--version"]):
        return
    if importlib.util.find_spec("ensurepip") is None:  # Debian keeps it in a package of its own
        version = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        if not remedies.can_install() or not (apt_install("python3-venv") or apt_install(version)):
            sys.exit(f"{sys.executable} cannot make virtual environments. As root: apt-get install python3-venv")
    say(f"Making {VENV.name} with Python {sys.version.split()[0]}")
    run([sys.executable, "-m", "venv", "--clear", VENV])


def install(dev: bool) -> None:
    say("Installing gpgpu_gl" + (" and what its tests need" if dev else ""))
    # --no-input and the quiet flag keep the log short; errors are printed all the same.
    run([PYTHON, "-m", "pip", "install", "-q", "--no-input", "--disable-pip-version-check",
         "-e", f"{ROOT}{'[dev]' if dev else ''}"])  # fmt: skip


def start_opengl(remedies: ModuleType) -> None:
    """Starts OpenGL in a process of its own, so that a driver that crashes is reported too."""
    result = started()
    if result.returncode and remedies.can_install():
        say("OpenGL does not start yet: installing Mesa's EGL and software renderer")
        if apt_install(*remedies.DEBIAN_PACKAGES):
            result = started()
    if result.returncode:
        # The message of the error names every way tried and the remedy; a crash prints nothing of its own.
        error = result.stderr.strip().rpartition("DeviceError: ")[2] or f"It ended with status {result.returncode}."
        sys.exit(error if remedies.no_opengl() in error else f"{error}\n{remedies.no_opengl()}")
    print(result.stdout, end="")


def started() -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PYTHON), "-c", START], cwd=ROOT, text=True, capture_output=True)


def apt_install(*packages: str) -> bool:
    say("apt-get install " + " ".join(packages))
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    quiet = {"env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    subprocess.run(["apt-get", "update", "-q"], **quiet)  # may fail in part, where one of several sources is away
    command = ["apt-get", "install", "-qy", "--no-install-recommends", *packages]
    return subprocess.run(command, **quiet).returncode == 0


def run(command: list[str | Path]) -> None:
    result = subprocess.run([str(part) for part in command], cwd=ROOT)
    if result.returncode:
        sys.exit(f"Failed with status {result.returncode}: {' '.join(str(part) for part in command)}")


def succeeds(command: list[str | Path]) -> bool:
    return subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True).returncode == 0


def say(text: str) -> None:
    print(f"-- {text}", flush=True)


if __name__ == "__main__":
    main()
