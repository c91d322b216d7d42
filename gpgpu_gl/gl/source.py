"""The shader loader: real GLSL files in, one text per (name, defines, dialect) out, with a map of its lines.

Directives, each alone on its line (everything else is GLSL's own):

    #include "lib/x.glsl"     the file, from the shaders/ root, once however often it is asked for
    #include $NAME            the file that the define NAME names
    #require NAME  why        an error that shows `why` when nobody defines NAME
    #default NAME VALUE       defines NAME, from here on, when nobody has
    #unroll i A B             the lines up to #endunroll, once for every integer i in [A, B)
    $i   $NAME   $(i*4+1)     the value of an integer expression over defines and unroll variables

Expressions have + - * / % and parentheses with C's rules (division truncates towards zero). The loader knows its
caller's defines and those of #default, but leaves #define, #if and #ifdef to GLSL's preprocessor, so its own directives
act inside an inactive #if as well. What one branch of an #if includes or defaults is guarded, and there for others too.
Comments and blank lines are dropped, because some drivers reject characters outside ASCII even there.
"""

from __future__ import annotations

import math
import numbers
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from gpgpu_gl.errors import ShaderError
from gpgpu_gl.gl.source_parse import (
    Default,
    Environment,
    Expression,
    Include,
    Node,
    Place,
    Plain,
    Template,
    Unroll,
    expression,
    fail,
    is_one_operand,
    parse,
)

Define: TypeAlias = str | int | float

_ES_SAMPLERS = ("sampler2D", "isampler2D", "usampler2D", "sampler2DArray", "isampler2DArray")
_HEADERS = {
    "330": ("#version 330 core",),
    "430": ("#version 430 core",),
    "es300": (
        "#version 300 es",
        *(f"precision highp {kind};" for kind in ("float", "int", *_ES_SAMPLERS)),
    ),
}
DIALECTS = frozenset(_HEADERS)

_NO_DEFINES: Mapping[str, Define] = MappingProxyType({})
_MOST_LINES = 200_000
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_FLOAT_OVERFLOW = (2.0 - 2.0**-24) * 2.0**127  # doubles from here on round to a float32 infinity

_NEGATIVE = re.compile(r"-\s*[\d.][\w.]*")
_DEFINE_NAME = re.compile(r"([A-Za-z_]\w*)(\(\s*[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*\))?")


@dataclass(frozen=True)
class Source:
    """A shader's text and, for each of its lines, the (file relative to shaders/, line number) it came from.

    Lines that the loader wrote itself have the file "<header>" and their own line number.
    """

    text: str
    lines: tuple[Place, ...]


@lru_cache(maxsize=1)
def shader_root() -> Path:
    """The folder that holds the shaders: the installed package's, else the checkout's. ShaderError if there is none."""
    package = Path(str(resources.files("gpgpu_gl")))
    tried = (package / "shaders", package.parent / "shaders")
    for folder in tried:
        if folder.is_dir():
            return folder
    raise ShaderError(f"no shaders folder at {tried[0]} or {tried[1]}: reinstall gpgpu_gl")


def canonical(defines: Mapping[str, Define]) -> tuple[tuple[str, str], ...]:
    """The defines as sorted (name, GLSL text) pairs: the form to use in a key.

    As keys, Python's own values are not enough: 1, 1.0 and True are equal there, but `1` and `1.0` differ in GLSL.
    Raises ShaderError for a name or a value that GLSL cannot hold.
    """
    return tuple((name, _format(name, defines[name])) for name in sorted(defines))


def load(
    name: str,
    defines: Mapping[str, Define] = _NO_DEFINES,
    dialect: str = "330",
    root: Path | None = None,
) -> Source:
    """The shader `name` (a path below `root`, by default `shader_root()`) as text for one dialect of `DIALECTS`.

    Equal (name, defines, dialect) give equal text. Strings among the defines are inserted as they are, floats are
    rounded to float32 and written so that they read back exactly, bools become 0 or 1. A name may have parameters:
    {"APPLY(x)": "exp(x)"}. A define that names a file for #include stays out of the text. Raises ShaderError, with
    file:line, for whatever cannot be loaded.
    """
    if dialect not in _HEADERS:
        raise ShaderError(f"no GLSL dialect {dialect!r}: use one of {', '.join(sorted(_HEADERS))}")
    expansion = _Expansion(root or shader_root(), defines)
    expansion.include(name, None, False)
    given = (f"#define {key} {value}".rstrip() for key, value in expansion.defines if key not in expansion.file_names)
    head = [*_HEADERS[dialect], *given]
    places = [("<header>", line) for line in range(1, len(head) + 1)]
    return Source("\n".join([*head, *expansion.text, ""]), (*places, *expansion.places))


_LOG_LINE = re.compile(
    r"(?P<head>\s*)(?:"
    r"(?P<kind>(?:ERROR|WARNING|NOTE|INFO)\s*:\s*)(?:\S.*?):(?P<glslang>\d+)(?=:)"  # glslang, Intel, AMD, Apple, ANGLE
    r"|\d+:(?P<mesa>\d+)(?=[:(])"  # Mesa 0:12(5): error, Mali 0:12: S0001
    r"|\d+\((?P<nvidia>\d+)\)(?=\s*:)"  # NVIDIA 0(12) : error C1008
    r")"
)


def explain(log: str, source: Source) -> str:
    """A driver's compile log with every line number turned into file:line, and the text of that line below it.

    Understands Mesa, NVIDIA, Intel, AMD, Apple, ANGLE, Mali and glslang; other lines are passed through.
    """
    text = source.text.splitlines()
    out: list[str] = []
    for line in log.splitlines():
        match = _LOG_LINE.match(line)
        number = int(match["glslang"] or match["mesa"] or match["nvidia"]) if match else 0
        if match is None or not 1 <= number <= len(source.lines):
            out.append(line)
            continue
        file, at = source.lines[number - 1]
        out.append(f"{match['head']}{match['kind'] or ''}{file}:{at}{line[match.end() :]}")
        out.append(f"    {text[number - 1].strip()}")
    return "\n".join(out)


# --- defines


def _format(name: str, value: Define) -> str:
    """The GLSL text of a define's value."""
    if not _DEFINE_NAME.fullmatch(name) or name.startswith("GL_") or "__" in name:
        raise ShaderError(f"cannot define {name!r}: use letters, digits and single underscores, and no prefix GL_")
    if isinstance(value, str):
        if "\n" in value or "\r" in value:
            raise ShaderError(f"the value of the define {name} has a line break: write it in one line, got {value!r}")
        return value.strip()
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, numbers.Integral):
        return _format_int(int(value), f"the define {name}")
    if isinstance(value, numbers.Real):
        number = float(value)
        if not math.isfinite(number) or abs(number) >= _FLOAT_OVERFLOW:
            raise ShaderError(f"the define {name} is {value}, which float32 cannot hold: pass it as a uniform")
        # Rounded to float32 before printing: a decimal of the double could lie on the other side of a rounding tie.
        digits = str(np.float32(number))
        return f"({digits})" if digits.startswith("-") else digits
    raise ShaderError(f"the define {name} is of type {type(value).__name__}: use str, bool, int or float")


def _format_int(value: int, what: str) -> str:
    """An int as GLSL text; a negative one in parentheses, so that `a-$i` does not become `a--1`."""
    if not _INT_MIN <= value <= _INT_MAX:
        raise ShaderError(
            f"{what} is {value}, outside int32 ({_INT_MIN} to {_INT_MAX}): pass it as a string with GLSL's suffix u"
        )
    if value >= 0:
        return str(value)
    return f"({value})" if value != _INT_MIN else "(-2147483647-1)"  # the literal 2147483648 is no int in GLSL


# --- expansion


class _Expansion:
    """One load: the text so far and what is defined."""

    def __init__(self, root: Path, defines: Mapping[str, Define]) -> None:
        self.root = root
        self.text: list[str] = []
        self.places: list[Place] = []
        self.defines = canonical(defines)
        self.macros: dict[str, str] = {}  # by the name alone, without parameters
        self.values: Environment = {}  # integer values of macros and unroll variables
        self.resolving: set[str] = set()
        self.open: list[str] = []  # the files being expanded, outermost first
        self.included: set[str] = set()  # files that are in the text for certain
        self.guards: dict[str, str] = {}  # files that are in some branch of an #if
        self.file_names: set[str] = set()  # macros that name a file, and are no GLSL
        self.unsure: set[str] = set()  # macros that a #default in some branch of an #if defines
        for name, value in self.defines:
            base = name.partition("(")[0]
            if base in self.macros:
                raise ShaderError(f"{base} is defined twice, with and without parameters or with other ones")
            self.macros[base] = value

    def include(self, name: str, place: Place | None, conditional: bool) -> None:
        clean = posixpath.normpath(name)
        if clean in self.included or clean in self.open:
            return
        where = f"{place[0]}:{place[1]}: " if place else ""
        if clean.startswith(("../", "/")) or "\\" in clean:
            raise ShaderError(f"{where}cannot include {name!r}: paths start at the shaders/ root and stay below it")
        try:
            nodes = parse(clean, self.root / clean)
        except (OSError, UnicodeDecodeError) as error:
            raise ShaderError(f"{where}cannot read the shader {name!r} below {self.root}: {error}") from error
        if not conditional:
            self.included.add(clean)
        self.open.append(clean)
        if place and (conditional or clean in self.guards):
            guard = self.guards.setdefault(clean, f"INCLUDED_{len(self.guards)}")
            self.emit(place, f"#ifndef {guard}", f"#define {guard}")
            self.expand(nodes, True)
            self.emit(place, "#endif")
        else:
            self.expand(nodes, False)
        self.open.pop()

    def emit(self, place: Place, *lines: str) -> None:
        self.text += lines
        self.places += [place] * len(lines)

    def expand(self, nodes: list[Node], conditional: bool) -> None:
        for node in nodes:
            if isinstance(node, Plain):
                self.text += node.text
                self.places += node.places
            elif isinstance(node, Template):
                self.text.append("".join([p if isinstance(p, str) else self.insert(p, node.place) for p in node.parts]))
                self.places.append(node.place)
            elif isinstance(node, Unroll):
                self.unroll(node, conditional)
            elif isinstance(node, Include):
                self.include(self.file_named(node), node.place, conditional or node.conditional)
            elif isinstance(node, Default):
                self.default(node, conditional or node.conditional)
            elif node.name not in self.macros:
                raise fail(node.place, f"{node.name} is not defined{': ' if node.why else ''}{node.why}")

    def file_named(self, node: Include) -> str:
        """The file of an include: its own name, or the value of the define that it names."""
        if not node.name.startswith("$"):
            return node.name
        found = self.macros.get(node.name[1:])
        if found is None:
            raise fail(node.place, f"cannot include {node.name}: {node.name[1:]} is not defined")
        self.file_names.add(node.name[1:])
        return found

    def unroll(self, node: Unroll, conditional: bool) -> None:
        start, stop = self.evaluate(node.start, node.place), self.evaluate(node.stop, node.place)
        if node.variable in self.values or node.variable in self.macros:
            raise fail(
                node.place, f"the unroll variable {node.variable} hides a define or an outer variable: rename it"
            )
        for index in range(start, stop):
            self.values[node.variable] = index
            self.expand(node.body, conditional)
            if len(self.text) > _MOST_LINES or index - start > _MOST_LINES:
                raise fail(
                    node.place,
                    f"unrolls to more than {_MOST_LINES} lines: use a loop, or smaller bounds ({start} to {stop})",
                )
        self.values.pop(node.variable, None)

    def default(self, node: Default, conditional: bool) -> None:
        base = node.name.partition("(")[0]
        if base not in self.macros:
            value = f"({node.value})" if _NEGATIVE.fullmatch(node.value) else node.value
            try:
                self.macros[base] = _format(node.name, value)
            except ShaderError as error:
                raise fail(node.place, str(error)) from None
            if conditional:
                self.unsure.add(base)
            else:
                self.emit(node.place, f"#define {node.name} {self.macros[base]}".rstrip())
        if base in self.unsure:
            self.emit(node.place, f"#ifndef {base}", f"#define {node.name} {self.macros[base]}".rstrip(), "#endif")
            if not conditional:
                self.unsure.remove(base)

    def insert(self, wanted: Expression, place: Place) -> str:
        value = self.evaluate(wanted, place)
        return str(value) if 0 <= value <= _INT_MAX else _format_int(value, f"{place[0]}:{place[1]}: {wanted.text}")

    def evaluate(self, wanted: Expression, place: Place) -> int:
        for name in wanted.names:
            if name not in self.values:
                self.values[name] = self.resolve(name, wanted, place)
        try:
            return wanted.value(self.values)
        except ZeroDivisionError:
            raise fail(place, f"{wanted.text!r} divides by zero") from None

    def resolve(self, name: str, wanted: Expression, place: Place) -> int:
        """The integer value of a define."""
        text = self.macros.get(name)
        if text is None:
            raise fail(place, f"{name} in {wanted.text!r} is neither defined nor an unroll variable")
        try:
            inner = expression(text)
        except ValueError:
            raise fail(place, f"{name} in {wanted.text!r} is {text!r}, not an integer") from None
        if not is_one_operand(text):
            raise fail(place, f"{name} in {wanted.text!r} is {text!r}: put the define's value in parentheses")
        unknown = [inner_name for inner_name in inner.names if inner_name not in self.macros]
        if unknown:
            raise fail(place, f"{name} in {wanted.text!r} is {text!r}, where {unknown[0]} is not defined")
        if name in self.resolving:
            raise fail(place, f"{name} in {wanted.text!r} is defined by itself")
        self.resolving.add(name)
        value = self.evaluate(inner, place)
        self.resolving.remove(name)
        return value
