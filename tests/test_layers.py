"""The package's layers: imports go down only, glfw is imported late only, GLSL stays out of Python."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

CHECKOUT = Path(__file__).parents[1]
PACKAGE = "gpgpu_gl"

# From low to high. A module imports its own layer and those before it. "" is gpgpu_gl/__init__.py, what users import;
# its lazy imports, which it makes on a user's behalf, may go up.
LAYERS = (
    ("errors",),
    ("dtypes", "layout"),  # plain data about textures, which gl/ lays out and allocates
    ("gl",),
    ("tensor",),
    ("op", "autograd", "ops"),
    ("bind",),  # the one file that gives Tensor, from above, the operators as methods
    ("capture", "profile"),
    ("nn", "optim", "data", "io"),
    ("",),
    ("numpy_cnn", "model", "report"),
    ("train", "predict", "doctor"),
    ("bench",),
    ("render", "pipeline", "history"),
    ("cli", "__main__"),
)
RANKS = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

# (importer, imported): what may be imported against the order, inside functions only.
EXCEPTIONS = {("tensor", "bind")}


class Import(NamedTuple):
    file: str
    line: int
    module: str  # absolute, with dots
    late: bool  # inside a function

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}{' late' if self.late else ''}"


def modules(checkout: Path) -> list[Path]:
    return sorted((checkout / PACKAGE).rglob("*.py"))


def dotted(checkout: Path, path: Path) -> str:
    parts = path.relative_to(checkout).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def imports(checkout: Path, path: Path) -> Iterator[Import]:
    """Every import of a file, those for type checkers left out; `from a import b` gives a.b where that is a module."""
    file = path.relative_to(checkout).as_posix()
    package = dotted(checkout, path).split(".")
    if path.name != "__init__.py":
        package.pop()

    def exists(module: str) -> bool:
        place = checkout.joinpath(*module.split("."))
        return place.is_dir() or place.with_suffix(".py").is_file()

    def visit(node: ast.AST, late: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and is_type_checking(node.test):
            for child in node.orelse:
                yield from visit(child, late)
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, late)
        elif isinstance(node, ast.ImportFrom):
            base = (
                ".".join([*package[: len(package) + 1 - node.level], node.module or ""]) if node.level else node.module
            )
            base = (base or "").rstrip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield Import(file, node.lineno, inner if exists(inner) else base, late)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield Import(file, node.lineno, node.args[0].value, late)
        inside = late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inside)

    yield from visit(ast.parse(path.read_text(encoding="utf-8"), file), False)


def layer_name(module: str) -> str:
    """The part of gpgpu_gl that a module belongs to: its first name below gpgpu_gl, "" for gpgpu_gl itself."""
    return module.split(".")[1] if "." in module else ""


def violations(checkout: Path) -> list[str]:
    """Imports that go up, and modules that have no layer."""
    found = []
    for path in modules(checkout):
        importer = layer_name(dotted(checkout, path))
        if importer not in RANKS:
            found.append(f"{path.relative_to(checkout).as_posix()} has no layer: give {importer!r} a place in LAYERS")
            continue
        for one in imports(checkout, path):
            if one.module.split(".")[0] != PACKAGE:
                continue
            imported = layer_name(one.module)
            if RANKS.get(imported, -1) <= RANKS[importer]:
                continue
            if not (one.late and (importer == "" or (importer, imported) in EXCEPTIONS)):
                found.append(f"{one}, which is above {importer or PACKAGE!r}")
    return found


def early_imports_of(name: str, checkout: Path) -> list[str]:
    """Where a package is imported as soon as the importing module is."""
    found = [one for path in modules(checkout) for one in imports(checkout, path)]
    return [str(one) for one in found if one.module.split(".")[0] == name and not one.late]


GLSL = {"#version": re.compile(r"#\s*version\s+\d"), "void main": re.compile(r"\bvoid\s+main\s*\(")}
GLSL_EXCEPTIONS = {(f"{PACKAGE}/gl/source.py", "#version")}  # the headers of the dialects


def glsl_in_strings(checkout: Path) -> list[str]:
    """GLSL in the strings of the package and the demos; docstrings may show some."""
    found = []
    for path in [*modules(checkout), *sorted((checkout / "demos").rglob("*.py"))]:
        file = path.relative_to(checkout).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), file)
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                for name, pattern in GLSL.items():
                    if pattern.search(node.value) and (file, name) not in GLSL_EXCEPTIONS:
                        found.append(f"{file}:{node.lineno} holds GLSL ({name}): put it into shaders/")
    return found


# --- the package


def test_imports_go_down_only():
    assert modules(CHECKOUT)
    assert violations(CHECKOUT) == []


def test_glfw_is_imported_late_only():
    assert early_imports_of("glfw", CHECKOUT) == []


def test_no_glsl_in_python():
    assert glsl_in_strings(CHECKOUT) == []


def test_importing_every_module_loads_no_window_library():
    program = """
import importlib, pkgutil, sys, gpgpu_gl
for found in pkgutil.walk_packages(gpgpu_gl.__path__, "gpgpu_gl."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
print("glfw" in sys.modules, len([name for name in sys.modules if name.startswith("gpgpu_gl")]))
"""
    loaded, count = run(program).split()
    assert loaded == "False"
    assert int(count) > 5


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="offscreen work needs GLFW's hidden window here")
def test_offscreen_work_loads_no_window_library():
    program = """
import sys
from gpgpu_gl.tensor import tensor
print(tensor([1.0, 2.0, 3.0]).numpy().tolist(), "glfw" in sys.modules)
"""
    assert run(program).strip() == "[1.0, 2.0, 3.0] False"


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- the checks themselves


def checkout_with(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in {"gpgpu_gl/__init__.py": "", "gpgpu_gl/gl/__init__.py": "", **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tensor.py", "from gpgpu_gl.ops import add"),
        ("tensor.py", "import gpgpu_gl.ops.add as add"),
        ("tensor.py", "from gpgpu_gl import ops"),
        ("tensor.py", "from . import ops"),
        ("tensor.py", "from .ops.add import add"),
        ("tensor.py", "def f():\n    from gpgpu_gl.ops import add"),
        ("tensor.py", "import importlib\nimportlib.import_module('gpgpu_gl.ops')"),
        ("tensor.py", "from gpgpu_gl.bind import x"),
        ("gl/pool.py", "from ..tensor import Tensor"),
        ("gl/pool.py", "from gpgpu_gl import Tensor"),
        ("gl/pool.py", "try:\n    import gpgpu_gl\nexcept ImportError:\n    pass"),
        ("__init__.py", "from gpgpu_gl import cli"),
        ("render/scene.py", "from gpgpu_gl.cli import main"),
        ("stray.py", ""),
    ],
)
def test_an_import_that_goes_up_is_found(tmp_path, file, text):
    files = {f"gpgpu_gl/{name}.py": "" for name in ("bind", "cli", "tensor", "ops/__init__", "ops/add")}
    (violation,) = violations(checkout_with(tmp_path, {**files, f"gpgpu_gl/{file}": text}))
    assert violation.startswith(f"gpgpu_gl/{file}")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tensor.py", "def f():\n    from gpgpu_gl import bind"),
        ("tensor.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gpgpu_gl.ops import add"),
        ("tensor.py", "import typing\nif typing.TYPE_CHECKING:\n    from gpgpu_gl.ops import add"),
        ("tensor.py", "import numpy\nfrom . import errors\nfrom .gl import pool"),
        ("ops/add.py", "from . import other\nfrom ..gl.pool import Pool\nfrom gpgpu_gl.autograd import grad"),
        ("cli.py", "import gpgpu_gl\nfrom gpgpu_gl.train import fit"),
        ("__init__.py", "from gpgpu_gl.nn import Linear\ndef __getattr__(name):\n    from gpgpu_gl import render"),
    ],
)
def test_an_import_that_goes_down_is_allowed(tmp_path, file, text):
    files = {f"gpgpu_gl/{name}.py": "" for name in ("bind", "errors", "ops/__init__", "render/__init__", "gl/pool")}
    assert violations(checkout_with(tmp_path, {**files, f"gpgpu_gl/{file}": text})) == []


def test_an_early_import_of_glfw_is_found(tmp_path):
    early = {"gpgpu_gl/gl/a.py": "import glfw", "gpgpu_gl/gl/b.py": "class A:\n    from glfw import init"}
    late = {"gpgpu_gl/gl/c.py": "def f():\n    import glfw"}
    found = early_imports_of("glfw", checkout_with(tmp_path, early | late))
    assert found == ["gpgpu_gl/gl/a.py:1 imports glfw", "gpgpu_gl/gl/b.py:2 imports glfw"]


def test_glsl_in_a_string_is_found(tmp_path):
    files = {
        "gpgpu_gl/gl/source.py": 'A = "#version 330"\nB = "void main() {}"',
        "gpgpu_gl/tensor.py": '"""A void main() in a docstring."""\nA = f"# version 300 es {1}"\nB = "#version of it"',
        "demos/a.py": "A = 'void  main(void)'",
    }
    found = [line.split(" ")[0] for line in glsl_in_strings(checkout_with(tmp_path, files))]
    assert found == ["gpgpu_gl/gl/source.py:2", "gpgpu_gl/tensor.py:2", "demos/a.py:1"]
