"""Makes a user's fragment shader run over packed quads; the text of its functions stays as it is.

Its inputs become globals, its main gets another name, and a main of ours fills the globals and calls it. No line is
added or removed in between, so that a compiler's message still leads to the user's line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gpgpu_gl.errors import FileError, GpgpuError, ShaderError
from gpgpu_gl.gl import source
from gpgpu_gl.gl.source import Source
from gpgpu_gl.pipeline.glsl import _COMMENT, Interface, Slot, Variable, parse

_RENAMED = {
    "main": "em_main",
    "gl_FragCoord": "em_FragCoord",
    "gl_FragDepth": "em_FragDepth",
    "gl_FrontFacing": "em_FrontFacing",
    "gl_PrimitiveID": "em_PrimitiveID",
    "gl_PointCoord": "em_PointCoord",
}
_WORDS = re.compile(r"\b(" + "|".join(_RENAMED) + r")\b")
_UNSUPPORTED = (
    "gl_SampleID",
    "gl_SamplePosition",
    "gl_SampleMask",
    "gl_SampleMaskIn",
    "gl_Layer",
    "gl_ViewportIndex",
    "dual_source",
)
_IF = re.compile(r"\bif\s*\(")
_INT_CASTS = {("int", 1): "int", ("uint", 1): "uint"}


@dataclass(frozen=True)
class Shader:
    """A user's shader: its text, the file it came from ("vertex" or "fragment" for text), and what it declares."""

    text: str
    file: str
    interface: Interface

    def source(self) -> Source:
        """The text as it is, with its line map."""
        count = len(self.text.splitlines())
        return Source(self.text, tuple((self.file, i + 1) for i in range(count + 1)))


def read(shader: str | Path, stage: str) -> Shader:
    """A shader from a file (a path, or text of one line that names a file) or from its text.

    Raises FileError when the file cannot be read, ShaderError for an empty shader or an old version.
    """
    if isinstance(shader, Path) or ("\n" not in shader and "{" not in shader):
        try:
            text, file = Path(shader).read_text(encoding="utf-8"), str(shader)
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"cannot read the {stage} shader {str(shader)!r}: {error}") from error
    else:
        text, file = shader, stage
    interface = parse(text)
    if interface.version_line < 0 or (int(interface.version) < 300 if interface.es else int(interface.version) < 330):
        raise ShaderError(
            f"{file}: the {stage} shader does not declare version 330 (or 300 es) or a newer one; add that line"
        )
    return Shader(text, file, interface)


@dataclass(frozen=True)
class Link:
    """How the two shaders fit: what transform feedback captures, and which slots the fragment shader's inputs take.

    captured: vertex outputs in order. floats, ints: slots of the fragment shader. places: for each slot in the order
    of capture, ("f" or "i", slot number, components).
    """

    captured: tuple[Variable, ...]
    floats: tuple[Slot, ...]
    ints: tuple[Slot, ...]
    places: tuple[tuple[str, int, int], ...]
    names: tuple[tuple[str, str], ...]  # (fragment input's key, "f:first:count" or "i:...") for the trace


def link(vertex: Shader, fragment: Shader) -> Link:
    """Finds the vertex output of every fragment input. Raises ShaderError for one that is missing or of another type."""
    outputs = vertex.interface.of("out")
    captured: list[Variable] = []
    floats: list[Slot] = []
    ints: list[Slot] = []
    places, names = [], []
    for wanted in fragment.interface.of("in"):
        if wanted.name.startswith("gl_"):
            continue
        found = [v for v in outputs if v.key == wanted.key]
        if not found and wanted.location >= 0:
            found = [v for v in outputs if v.location == wanted.location]
        where = f"{fragment.file}:{wanted.line}: the fragment shader reads {wanted.type} {wanted.key}"
        if not found:
            known = ", ".join(v.key for v in outputs) or "nothing"
            raise ShaderError(f"{where}, which the vertex shader {vertex.file} does not write; it writes {known}")
        if (found[0].type, found[0].array) != (wanted.type, wanted.array):
            raise ShaderError(f"{where}, which {vertex.file}:{found[0].line} declares as {found[0].type}")
        captured.append(found[0])
        first = {"f": len(floats), "i": len(ints)}
        for slot in fragment.interface.slots(wanted):
            if slot.kind == "float":
                places.append(("f", len(floats), slot.count))
                floats.append(slot)
            elif slot.kind in ("int", "uint"):
                places.append(("i", len(ints), slot.count))
                ints.append(slot)
        kind = "f" if len(floats) > first["f"] else "i"
        count = len(floats if kind == "f" else ints) - first[kind]
        if not count:
            raise ShaderError(f"{where}: a type that cannot be interpolated or passed flat")
        names.append((wanted.key, f"{kind}:{first[kind]}:{count}"))
    return Link(tuple(captured), tuple(floats), tuple(ints), tuple(places), tuple(names))


def outputs(fragment: Shader) -> list[tuple[str, int, str]]:
    """(name, location, scalar kind) of the fragment shader's outputs, by location. Arrays take one location each."""
    found: list[tuple[str, int, str]] = []
    taken = {v.location for v in fragment.interface.of("out") if v.location >= 0}
    free = iter(i for i in range(64) if i not in taken)
    for v in fragment.interface.of("out"):
        if v.name.startswith("gl_"):
            continue
        location = v.location if v.location >= 0 else next(free)
        kind = "int" if v.type.startswith(("ivec", "int")) else "uint" if v.type.startswith("u") else "float"
        for i in range(max(v.array, 1)):
            found.append((v.name if not v.array else f"{v.name}[{i}]", location + i, kind))
    if len(found) > 7:
        raise GpgpuError(f"{fragment.file}: {len(found)} outputs; the emulator shades into 7 colour targets at most")
    return sorted(found, key=lambda output: output[1])


def check_supported(fragment: Shader) -> None:
    """Raises GpgpuError for built-ins that the emulator lacks."""
    for word in _UNSUPPORTED:
        if word in fragment.interface.words:
            raise GpgpuError(f"{fragment.file}: {word} is not emulated")
    for variable in fragment.interface.of("in"):
        if variable.auxiliary == "sample":
            raise GpgpuError(
                f"{fragment.file}:{variable.line}: {variable.key} is a sample input, and sample shading is not emulated; "
                "use centroid, or nothing"
            )


def body(fragment: Shader) -> str:
    """The user's text with its inputs as globals and main renamed; every line stays where it was."""
    face = fragment.interface
    text = _COMMENT.sub(lambda m: _blank(m[0]), fragment.text)
    edits: list[tuple[int, int, str]] = []
    for variable in face.of("in"):
        edits += [(start, end, "") for start, end in variable.marks]
        if variable.name.startswith("gl_"):  # a built-in declared again: the whole statement goes
            start = variable.marks[-1][1]
            edits.append((start, text.index(";", start) + 1, ""))
    for name, storage, head, tail in face.blocks:
        if storage == "in":
            instance = any(v.block == name and v.instance for v in face.of("in"))
            # A struct with a variable of it; without an instance name, the members are globals themselves.
            edits.append((*head, f"struct {name} {{" if instance else ""))
            edits += [] if instance else [(*tail, "")]
    for start, end, new in sorted(set(edits), reverse=True):
        text = (
            text[:start] + (new + "\n" * text.count("\n", start, end) if new else _blank(text[start:end])) + text[end:]
        )
    lines = _WORDS.sub(lambda m: _RENAMED[m[0]], text).split("\n")
    for i, line in enumerate(lines):
        if i == face.version_line or re.match(r"\s*#\s*extension\b", line):
            lines[i] = ""
    return "\n".join(lines)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


MOST_BRANCHES = 23  # as many bits as a float holds


def counted(text: str) -> tuple[str, int]:
    """The text with the condition of every if outside of macros passed through em_branch, and how many there are."""
    at, number = 0, 0
    while number < MOST_BRANCHES and (match := _IF.search(text, at)):
        at = match.end()
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        depth, end = 1, at
        while depth and end < len(text):
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        if line.lstrip().startswith("#") or depth:
            continue
        text = f"{text[:at]}em_branch({number}, {text[at : end - 1]}){text[end - 1 :]}"
        number += 1
    return text, number


def wrapped(fragment: Shader, links: Link, points: bool, branches: bool = False) -> Source:
    """The fragment shader as one that shades packed quads, with the line map of its user's file.

    branches: it also notes which of its ifs were taken and which were not.
    """
    face = fragment.interface
    dialect = "es300" if face.es else "330"
    original = fragment.text.split("\n")
    header = [original[face.version_line], *(line for line in original if re.match(r"\s*#\s*extension\b", line))]
    defines: dict[str, str | int | float] = {"EM_FLOATS": len(links.floats), "EM_INTS": len(links.ints)}
    for n, slot in enumerate(links.floats):
        defines[f"EM_F{n}"], defines[f"EM_FP{n}"] = slot.expression, "xyzw"[: slot.count]
    for n, slot in enumerate(links.ints):
        cast = _INT_CASTS.get((slot.kind, slot.count), ("i" if slot.kind == "int" else "u") + f"vec{slot.count}")
        defines[f"EM_I{n}"], defines[f"EM_IP{n}"], defines[f"EM_IC{n}"] = slot.expression, "xyzw"[: slot.count], cast
    defines["EM_ALIVE"] = max((location for _, location, _ in outputs(fragment)), default=-1) + 1
    defines["EM_PRIMITIVES"] = int(bool({"gl_FrontFacing", "gl_PrimitiveID"} & face.words))
    defines["EM_BRANCHES"] = int(branches)
    defines["EM_POINTS"] = int("gl_PointCoord" in face.words and points)
    prelude = _without_version(source.load("pipeline/fragment_prelude.glsl", {"EM_BRANCHES": int(branches)}, dialect))
    main = _without_version(source.load("pipeline/fragment_main.glsl", defines, dialect))
    middle = (counted(body(fragment))[0] if branches else body(fragment)).split("\n")
    text = [*header, *prelude.text.split("\n"), *middle, *main.text.split("\n")]
    places = [
        *((fragment.file, face.version_line + 1) for _ in header),
        *prelude.lines,
        *((fragment.file, i + 1) for i in range(len(middle))),
        *main.lines,
    ]
    return Source("\n".join(text) + "\n", tuple(places))


def _without_version(loaded: Source) -> Source:
    lines = loaded.text.rstrip("\n").split("\n")
    return Source("\n".join(lines[1:]), loaded.lines[1 : len(lines)])
