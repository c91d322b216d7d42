"""Shader files as nodes, which `source.load` expands: comments, directives and expressions are read once a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from gpgpu_gl.errors import ShaderError

Place: TypeAlias = tuple[str, int]
Environment: TypeAlias = dict[str, int]

_DIRECTIVE = re.compile(
    r"\s*#\s*(include|require|default|unroll|endunroll|version|if|ifdef|ifndef|endif)\b\s*(.*?)\s*$"
)
_CONDITIONALS = frozenset({"if", "ifdef", "ifndef", "endif"})
_SUBSTITUTION = re.compile(r"\$(?:([A-Za-z_]\w*)|\()")
_DEFAULT = re.compile(r"([A-Za-z_]\w*(?:\([^()]*\))?)(?:\s+(.*))?")


# --- integer expressions


@dataclass(frozen=True)
class Expression:
    text: str
    names: tuple[str, ...]
    value: Callable[[Environment], int]


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: _divide,
    ast.Mod: lambda a, b: a - b * _divide(a, b),
}


@lru_cache(maxsize=4096)
def expression(text: str) -> Expression:
    """An integer expression, compiled to a function of its names. ValueError if it is none."""
    names: dict[str, None] = {}

    def build(node: ast.expr) -> Callable[[Environment], int]:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            number = node.value
            return lambda env: number
        if isinstance(node, ast.Name):
            name = node.id
            names[name] = None
            return lambda env: env[name]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            operand, sign = build(node.operand), -1 if isinstance(node.op, ast.USub) else 1
            return lambda env: sign * operand(env)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            operate, left, right = _BINARY[type(node.op)], build(node.left), build(node.right)
            return lambda env: operate(left(env), right(env))
        raise ValueError(text)

    try:
        value = build(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(text) from None
    return Expression(text, tuple(names), value)


def is_one_operand(text: str) -> bool:
    """Whether a macro's text can stand inside any expression: an integer, a name, or all in one pair of parentheses."""
    return text.isalnum() or text.isidentifier() or (text.startswith("(") and _closing(text, 0) == len(text) - 1)


def _closing(text: str, opening: int) -> int:
    """The index of the parenthesis that closes the one at `opening`, or -1."""
    depth = 0
    for index in range(opening, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return index
    return -1


# --- files, parsed once


@dataclass
class Plain:
    """Neighbouring lines without substitutions."""

    text: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


@dataclass
class Template:
    """A line with substitutions: parts that are text and expressions, in turn."""

    parts: list[str | Expression]
    place: Place


@dataclass
class Include:
    name: str  # or $ and the name of a define that holds it
    place: Place
    conditional: bool  # within an #if of its own file


@dataclass
class Require:
    name: str
    why: str
    place: Place


@dataclass
class Default:
    name: str
    value: str
    place: Place
    conditional: bool


@dataclass
class Unroll:
    variable: str
    start: Expression
    stop: Expression
    place: Place
    body: list[Node] = field(default_factory=list)


Node: TypeAlias = "Plain | Template | Include | Require | Default | Unroll"
_parsed: dict[Path, tuple[tuple[int, int], list[Node]]] = {}


def fail(place: Place, message: str) -> ShaderError:
    return ShaderError(f"{place[0]}:{place[1]}: {message}")


def _parse_expression(text: str, place: Place) -> Expression:
    try:
        return expression(text)
    except ValueError:
        raise fail(
            place, f"{text!r} is no integer expression: use integers, names, + - * / % and parentheses"
        ) from None


def _parse_template(line: str, place: Place) -> Template | None:
    """The line as a template, or None if nothing in it is to be substituted."""
    parts: list[str | Expression] = []
    at = 0
    while match := _SUBSTITUTION.search(line, at):
        end = match.end()
        if match[1] is None:
            end = _closing(line, match.end() - 1) + 1
            if end == 0:
                raise fail(place, "$( without its closing parenthesis on the same line")
        parts += [line[at : match.start()], _parse_expression(match[1] or line[match.end() : end - 1], place)]
        at = end
    return Template([*parts, line[at:]], place) if parts else None


def _strip_comments(line: str, inside: bool) -> tuple[str, bool]:
    """The line without its comments, and whether a block comment goes on after it."""
    kept: list[str] = []
    while True:
        if inside:
            end = line.find("*/")
            if end < 0:
                return "".join(kept), True
            line, inside = " " + line[end + 2 :], False
        slash, block = line.find("//"), line.find("/*")
        if block >= 0 and not 0 <= slash < block:
            kept.append(line[:block])
            line, inside = line[block + 2 :], True
        else:
            kept.append(line[:slash] if slash >= 0 else line)
            return "".join(kept).rstrip(), False


def parse(name: str, path: Path) -> list[Node]:
    """The nodes of one file, from the cache if the file has not changed. OSError if it cannot be read."""
    stat = path.stat()
    stamp = (stat.st_mtime_ns, stat.st_size)
    cached = _parsed.get(path)
    if cached is None or cached[0] != stamp:
        cached = _parsed[path] = (stamp, _parse_text(name, path.read_text(encoding="utf-8")))
    return cached[1]


def _parse_text(file: str, text: str) -> list[Node]:
    blocks: list[list[Node]] = [[]]
    unrolls: list[Unroll] = []
    conditions: list[Place] = []
    inside = continued = False
    for number, raw in enumerate(text.split("\n"), 1):
        place = (file, number)
        line, inside = _strip_comments(raw.rstrip(), inside) if inside or "/" in raw else (raw.rstrip(), False)
        # After a backslash even an empty line counts: it ends the macro.
        was_continued, continued = continued, line.endswith("\\")
        if not line.strip() and not was_continued:
            continue
        match = _DIRECTIVE.match(line) if "#" in line and not was_continued else None
        if match and match[1] == "endif":
            if not conditions:
                raise fail(place, "#endif without #if")
            conditions.pop()
        elif match and match[1] in _CONDITIONALS:
            conditions.append(place)
        if match is None or match[1] in _CONDITIONALS:
            template = _parse_template(line, place) if "$" in line else None
            if template is not None:
                blocks[-1].append(template)
                continue
            plain = blocks[-1][-1] if blocks[-1] else None
            if not isinstance(plain, Plain):
                plain = Plain()
                blocks[-1].append(plain)
            plain.text.append(line)
            plain.places.append(place)
        elif match[1] == "unroll":
            words = match[2].split(None, 1)
            unroll = Unroll(words[0] if words else "", *_bounds(words[1] if len(words) > 1 else "", place), place)
            if not unroll.variable.isidentifier():
                raise fail(place, f"{unroll.variable!r} is no name: write #unroll NAME START STOP")
            blocks[-1].append(unroll)
            blocks.append(unroll.body)
            unrolls.append(unroll)
        elif match[1] == "endunroll":
            if not unrolls:
                raise fail(place, "#endunroll without #unroll")
            unrolls.pop()
            blocks.pop()
        else:
            blocks[-1].append(_parse_directive(match[1], match[2], place, bool(conditions)))
    if unrolls:
        raise fail(unrolls[-1].place, "#unroll without #endunroll")
    if conditions:
        raise fail(conditions[-1], "#if without #endif in the same file")
    return blocks[0]


def _parse_directive(kind: str, rest: str, place: Place, conditional: bool) -> Node:
    if kind == "include":
        if rest.startswith("$") and rest[1:].isidentifier():
            return Include(rest, place, conditional)
        if len(rest) < 3 or rest[0] != '"' or rest[-1] != '"':
            raise fail(place, f'cannot include {rest}: write #include "lib/name.glsl", from the shaders/ root')
        return Include(rest[1:-1], place, conditional)
    if kind == "require":
        name, _, why = rest.partition(" ")
        if not name.isidentifier():
            raise fail(place, f"{name!r} is no name: write #require NAME  what it is for")
        return Require(name, why.strip(), place)
    if kind == "default":
        match = _DEFAULT.fullmatch(rest)
        if match is None:
            raise fail(place, f"cannot read {rest!r}: write #default NAME VALUE")
        return Default(match[1], match[2] or "", place, conditional)
    raise fail(place, "#version belongs to the loader: leave it out of the file")


def _bounds(text: str, place: Place) -> tuple[Expression, Expression]:
    """START and STOP of an #unroll: two expressions, parted at the only blank that has an expression on both sides."""
    splits = []
    for match in re.finditer(r"\s+", text):
        try:
            splits.append((expression(text[: match.start()]), expression(text[match.end() :])))
        except ValueError:
            continue
    if not splits:
        raise fail(
            place, f"cannot read the bounds {text!r}: write #unroll NAME START STOP with two integer expressions"
        )
    if len(splits) > 1:
        raise fail(
            place, f"the bounds {text!r} can be read in more than one way: write them without blanks, START STOP"
        )
    return splits[0]
