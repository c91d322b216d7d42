"""Checks that the imports inside gpgpu_gl go down only, and exits with 1 naming each that does not.

    python -m tools.check_layers
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "gpgpu_gl"
ROOT = Path(__file__).resolve().parent.parent

# Lowest first; a module may import its own level and those below. The levels of one line belong together: an import
# inside a function, which runs after all modules are loaded, may also go up within its line.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("dtypes layout",),
    ("gl",),
    ("tensor", "op", "ops", "autograd", "bind"),
    ("nn optim data io",),
    ("render pipeline history",),
    ("train predict doctor",),
    ("cli",),
    ("__init__ __main__",),
)
LEVELS = {name: (n, m) for n, line in enumerate(LAYERS) for m, level in enumerate(line) for name in level.split()}


def imports(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """(line, first name below the package, whether inside a function) of each import of the package that runs."""
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, deferred = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend((child, deferred) for child in node.orelse)
            continue
        for name in imported(node):
            package, _, rest = name.partition(".")
            if package == PACKAGE:
                yield getattr(node, "lineno", 0), rest.partition(".")[0] or "__init__", deferred
        inside = deferred or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        pending.extend((child, inside) for child in ast.iter_child_nodes(node))


def imported(node: ast.AST) -> list[str]:
    """The dotted names that this statement imports, if it is an import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
        return [f"{PACKAGE}.{alias.name}" for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def violations(package: Path) -> list[str]:
    """One line for each import that goes up, and for each module that no layer names."""
    found = []
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).parts[0].removesuffix(".py")
        if name not in LEVELS:
            found.append(f"{path}: {name} is in no layer; give it its place in LAYERS of {Path(__file__).name}")
            continue
        line, level = LEVELS[name]
        for number, target, deferred in imports(ast.parse(path.read_text(encoding="utf-8"))):
            # `from gpgpu_gl import x` may name a function of the package itself, which lies on top of all.
            to_line, to_level = LEVELS.get(target, LEVELS["__init__"])
            if to_line > line or (to_line == line and to_level > level and not deferred):
                found.append(f"{path}:{number}: {name} imports {target}, which lies above it")
    return found


def main() -> None:
    found = violations(ROOT / PACKAGE)
    print("\n".join(found) or "imports go down only")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
