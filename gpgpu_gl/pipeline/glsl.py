"""Reads what a shader declares: its inputs, outputs, uniforms and structs, with their places in the text.

A small parser of global declarations, enough for GLSL 3.30 and GLSL ES 3.00. It evaluates #if and #ifdef over the
shader's own #defines, skips function bodies, and leaves every check of the language to the compiler.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\S")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PRECISION = {"highp", "mediump", "lowp"}
_INTERPOLATION = {"flat", "noperspective", "smooth"}
_STORAGE = {"in", "out", "uniform"}
_AUXILIARY = {"centroid", "sample"}
_OTHER = {"invariant", "const", "precise"}
QUALIFIERS = _PRECISION | _INTERPOLATION | _AUXILIARY | _STORAGE | _OTHER

_SCALARS = {"float": "float", "int": "int", "uint": "uint", "bool": "bool"}
_KINDS = {"vec": "float", "ivec": "int", "uvec": "uint", "bvec": "bool"}


@dataclass(frozen=True)
class Variable:
    """One declared variable, or one member of an interface block.

    array: its length, 0 where it is none. auxiliary: centroid, sample or "".
    block, instance: names of the interface block it is in, "" for none.
    marks: (start, end) of the qualifiers in the text, which a global variable may not have.
    """

    name: str
    type: str
    storage: str
    array: int = 0
    interpolation: str = "smooth"
    auxiliary: str = ""
    location: int = -1
    block: str = ""
    instance: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    line: int = 0

    @property
    def expression(self) -> str:
        """How the shader itself writes it."""
        return f"{self.instance}.{self.name}" if self.instance else self.name

    @property
    def key(self) -> str:
        """The name by which a vertex output and a fragment input find each other."""
        return f"{self.block}.{self.name}" if self.block else self.name

    @property
    def feedback(self) -> str:
        """How transform feedback calls it: members of a block without an instance go by their own name."""
        return self.key if self.instance else self.name


INTERPOLATIONS = {"smooth": 0, "flat": 1, "noperspective": 2}  # as the kernels number them


@dataclass(frozen=True)
class Slot:
    """Up to four components that travel together: one texel of a table of vertices.

    expression: the part of the variable (a whole vector, a column of a matrix, an element of an array).
    kind: float, int or uint. count: components. interpolation: smooth, flat or noperspective. centroid: taken where the
    primitive covers the pixel.
    """

    expression: str
    kind: str
    count: int
    interpolation: str
    centroid: bool = False


@dataclass
class Interface:
    """What one shader declares, and its text."""

    text: str
    version: str = "330"
    es: bool = False
    version_line: int = -1
    variables: list[Variable] = field(default_factory=list)
    structs: dict[str, list[tuple[str, str, int]]] = field(default_factory=dict)
    blocks: list[tuple[str, str, tuple[int, int], tuple[int, int]]] = field(default_factory=list)
    words: frozenset[str] = frozenset()

    def of(self, storage: str) -> list[Variable]:
        """The variables of one kind: in, out or uniform."""
        return [v for v in self.variables if v.storage == storage]

    def slots(self, variable: Variable) -> Iterator[Slot]:
        """The texels that a variable takes, in the order in which transform feedback writes it."""
        for slot in self._slots(variable.expression, variable.type, variable.array, variable.interpolation):
            yield replace(slot, centroid=variable.auxiliary == "centroid")

    def _slots(self, expression: str, kind: str, array: int, interpolation: str) -> Iterator[Slot]:
        if array:
            for i in range(array):
                yield from self._slots(f"{expression}[{i}]", kind, 0, interpolation)
        elif kind in self.structs:
            for name, member, length in self.structs[kind]:
                yield from self._slots(f"{expression}.{name}", member, length, interpolation)
        else:
            base, columns, rows = shape_of(kind)
            for c in range(columns):
                yield Slot(expression if columns == 1 else f"{expression}[{c}]", base, rows, interpolation)


def shape_of(kind: str) -> tuple[str, int, int]:
    """(scalar kind, columns, rows) of a GLSL type: vec3 is (float, 1, 3), mat2x3 (float, 2, 3); ("", 0, 0) for others."""
    if kind in _SCALARS:
        return _SCALARS[kind], 1, 1
    found = re.fullmatch(r"(i|u|b)?vec([234])", kind)
    if found:
        return _KINDS[(found[1] or "") + "vec"], 1, int(found[2])
    found = re.fullmatch(r"mat([234])(?:x([234]))?", kind)
    if found:
        return "float", int(found[1]), int(found[2] or found[1])
    return "", 0, 0


def parse(text: str) -> Interface:
    """The interface of a shader's text."""
    clean = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    clean, found, sizes = _preprocess(clean)
    found.text = text
    tokens = [(m[0], m.start(), m.end()) for m in _TOKEN.finditer(clean)]
    found.words = frozenset(t[0] for t in tokens)
    _declarations(tokens, found, sizes, clean)
    return found


# --- preprocessor


def _preprocess(clean: str) -> tuple[str, Interface, dict[str, str]]:
    """The text with directives and inactive branches blanked; the version; the object-like macros."""
    found = Interface("")
    macros: dict[str, str] = {"GL_core_profile": "1", "__VERSION__": "330"}
    active: list[tuple[bool, bool]] = []  # (this branch is on, some branch was on)
    out = []
    for number, line in enumerate(clean.split("\n")):
        directive = re.match(r"\s*#\s*(\w*)\s*(.*)", line)
        on = all(a for a, _ in active)
        if directive is None:
            out.append(line if on else " " * len(line))
            continue
        out.append(" " * len(line))
        word, rest = directive[1], directive[2].strip()
        if word in ("if", "ifdef", "ifndef"):
            value = _condition(rest, macros) if word == "if" else (rest in macros) == (word == "ifdef")
            active.append((value, value))
        elif word == "elif" and active:
            before = active.pop()[1]
            value = not before and _condition(rest, macros)
            active.append((value, before or value))
        elif word == "else" and active:
            before = active.pop()[1]
            active.append((not before, True))
        elif word == "endif" and active:
            active.pop()
        elif on and word == "version":
            parts = rest.split()
            found.version, found.es = (parts[0] if parts else "110"), "es" in parts
            found.version_line = number
            macros["__VERSION__"] = found.version
            if found.es:
                macros["GL_ES"] = "1"
                macros.pop("GL_core_profile", None)
        elif on and word == "define":
            named = re.match(r"(\w+)(\(?)\s*(.*)", rest)
            if named and not named[2]:
                macros[named[1]] = named[3].strip()
        elif on and word == "undef":
            macros.pop(rest, None)
    return "\n".join(out), found, macros


def _condition(text: str, macros: dict[str, str]) -> bool:
    text = re.sub(r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))", lambda m: str(int((m[1] or m[2]) in macros)), text)
    return bool(
        integer(text.replace("&&", " and ").replace("||", " or ").replace("!", " not ").replace(" not =", "!="), macros)
    )


def integer(text: str, macros: dict[str, str], depth: int = 0) -> int:
    """The value of an integer expression over macros; an unknown name is 0, as in the preprocessor."""

    def known(match: re.Match[str]) -> str:
        name = match[0]
        if name in macros and depth < 16:
            return str(integer(macros[name], macros, depth + 1))
        return name if name in ("and", "or", "not") else "0"

    text = re.sub(r"\b[A-Za-z_]\w*\b", known, text.strip())
    text = re.sub(r"\b(\d+)[uU]\b", r"\1", text).replace("/", "//")
    allowed = (
        ast.Expression,
        ast.BinOp,
        ast.UnaryOp,
        ast.BoolOp,
        ast.Compare,
        ast.Constant,
        ast.operator,
        ast.unaryop,
        ast.boolop,
        ast.cmpop,
    )
    try:
        tree = ast.parse(text or "0", mode="eval")
        if not all(isinstance(node, allowed) for node in ast.walk(tree)):
            return 0
        return int(eval(compile(tree, "glsl", "eval"), {"__builtins__": {}}))
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError):
        return 0


# --- declarations

Token = tuple[str, int, int]


def _declarations(tokens: list[Token], found: Interface, sizes: dict[str, str], clean: str) -> None:
    i = 0
    while i < len(tokens):
        start = i
        while i < len(tokens) and tokens[i][0] not in (";", "{"):
            i += 1
        if i == len(tokens):
            return
        head = tokens[start:i]
        if tokens[i][0] == ";":
            _statement(head, found, sizes, clean)
            i += 1
            continue
        close = _matching(tokens, i)
        words = [t[0] for t in head]
        if words and words[0] == "struct" or "struct" in words and "(" not in words:
            name = words[words.index("struct") + 1] if words[-1] != "struct" else f"struct at {head[-1][1]}"
            found.structs[name] = [(v.name, v.type, v.array) for v in _members(tokens[i + 1 : close], sizes, clean)]
            i = close + 1
            rest = i
            while i < len(tokens) and tokens[i][0] != ";":
                i += 1
            if i > rest:  # struct X {...} name; with its qualifiers before
                qualifiers = [t for t in head if t[0] in QUALIFIERS]
                _statement([*qualifiers, (name, 0, 0), *tokens[rest:i]], found, sizes, clean)
            i += 1
        elif words and _STORAGE & set(words) and words[-1] not in (")",):
            i = _block(tokens, head, i, close, found, sizes, clean)
        else:  # a function
            i = close + 1


def _matching(tokens: list[Token], at: int) -> int:
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i][0] == "{") - (tokens[i][0] == "}")
        if depth == 0:
            return i
    return len(tokens) - 1


def _qualified(head: list[Token]) -> tuple[dict[str, str], list[tuple[int, int]], list[Token], int]:
    """(qualifiers by kind, their places, the tokens after them, location) of a declaration."""
    found: dict[str, str] = {}
    marks: list[tuple[int, int]] = []
    location, i = -1, 0
    while i < len(head):
        word, start, end = head[i]
        if word == "layout":
            depth, j = 0, i + 1
            while j < len(head):
                depth += (head[j][0] == "(") - (head[j][0] == ")")
                if depth == 0:
                    break
                if head[j][0] == "location" and j + 2 < len(head):
                    location = int(head[j + 2][0]) if head[j + 2][0].isdigit() else -1
                j += 1
            marks.append((start, head[min(j, len(head) - 1)][2]))
            i = j + 1
            continue
        if word not in QUALIFIERS:
            break
        if word in _STORAGE:
            found["storage"] = word
        elif word in _INTERPOLATION:
            found["interpolation"] = word
        elif word in _AUXILIARY:
            found["auxiliary"] = word
        elif word == "const":
            found["const"] = word
        if word not in _PRECISION and word != "const":
            marks.append((start, end))
        i += 1
    return found, marks, head[i:], location


def _statement(head: list[Token], found: Interface, sizes: dict[str, str], clean: str) -> None:
    qualifiers, marks, rest, location = _qualified(head)
    if "const" in qualifiers and len(rest) > 3 and rest[0][0] == "int" and rest[2][0] == "=":
        sizes[rest[1][0]] = "".join(t[0] for t in rest[3:])
    if "storage" not in qualifiers or len(rest) < 2:
        return
    line = clean.count("\n", 0, rest[0][1]) + 1
    base = Variable(
        "",
        "",
        qualifiers["storage"],
        0,
        qualifiers.get("interpolation", "smooth"),
        qualifiers.get("auxiliary", ""),
        location,
        "",
        "",
        tuple(marks),
        line,
    )
    found.variables += _declarators(rest, base, sizes)


def _declarators(rest: list[Token], base: Variable, sizes: dict[str, str]) -> Iterator[Variable]:
    """Variables of `type[n] a, b[n], c = value`."""
    kind, i = rest[0][0], 1
    own, i = _array(rest, i, sizes)
    while i < len(rest):
        name = rest[i][0]
        length, i = _array(rest, i + 1, sizes)
        yield replace(base, name=name, type=kind, array=length or own)
        depth = 0
        while i < len(rest) and (rest[i][0] != "," or depth):
            depth += (rest[i][0] in "([{") - (rest[i][0] in ")]}")
            i += 1
        i += 1


def _array(rest: list[Token], i: int, sizes: dict[str, str]) -> tuple[int, int]:
    if i >= len(rest) or rest[i][0] != "[":
        return 0, i
    j = i
    while j < len(rest) and rest[j][0] != "]":
        j += 1
    return integer(" ".join(t[0] for t in rest[i + 1 : j]), sizes), j + 1


def _members(tokens: list[Token], sizes: dict[str, str], clean: str) -> list[Variable]:
    found: list[Variable] = []
    start = 0
    for i, token in enumerate(tokens):
        if token[0] == ";":
            qualifiers, marks, rest, _ = _qualified(tokens[start:i])
            if len(rest) >= 2:
                base = Variable(
                    "",
                    "",
                    "",
                    0,
                    qualifiers.get("interpolation", ""),
                    qualifiers.get("auxiliary", ""),
                    -1,
                    "",
                    "",
                    tuple(marks),
                    clean.count("\n", 0, rest[0][1]) + 1,
                )
                found += _declarators(rest, base, sizes)
            start = i + 1
    return found


def _block(
    tokens: list[Token], head: list[Token], i: int, close: int, found: Interface, sizes: dict[str, str], clean: str
) -> int:
    qualifiers, _, rest, _ = _qualified(head)
    name = rest[0][0] if rest else ""
    end = close + 1
    while end < len(tokens) and tokens[end][0] != ";":
        end += 1
    instance = tokens[close + 1][0] if end > close + 1 else ""
    storage = qualifiers.get("storage", "")
    for member in _members(tokens[i + 1 : close], sizes, clean):
        interpolation = member.interpolation or qualifiers.get("interpolation", "smooth")
        auxiliary = member.auxiliary or qualifiers.get("auxiliary", "")
        member = replace(member, interpolation=interpolation, auxiliary=auxiliary)
        found.variables.append(replace(member, storage=storage, block=name, instance=instance))
    # The head up to and with the brace, and the end from the closing brace to the semicolon.
    last = tokens[end][2] if end < len(tokens) else tokens[-1][2]
    found.blocks.append((name, storage, (head[0][1], tokens[i][2]), (tokens[close][1], last)))
    return end + 1
