"""Properties of the shader loader that hold for any input: float defines, expressions, the line map and the key."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from shader_files import body, write

from gpgpu_gl.gl import source
from gpgpu_gl.gl.source import canonical, load

FLOAT_LITERAL = re.compile(r"\d+\.\d+(e[+-]?\d+)?|\d+e[+-]?\d+")


@given(st.one_of(st.floats(width=32, allow_nan=False, allow_infinity=False), st.floats(-3.4e38, 3.4e38)))
def test_a_float_define_reads_back_as_the_same_float32(value):
    ((_, text),) = canonical({"A": value})
    if text.startswith("("):
        assert text.startswith("(-")
        assert text.endswith(")")
    digits = text.strip("(-)")
    assert FLOAT_LITERAL.fullmatch(digits)
    sign = -1.0 if text.startswith("(-") else 1.0
    read = np.float32(sign * float(digits))
    # Bits, so that -0.0 counts.
    assert read.tobytes() == np.float32(value).tobytes()


def truncated(a: int, b: int) -> int:
    return int(math.copysign(abs(a) // abs(b), a * b)) if a else 0


def combine(pair):
    """Two (text, value) pairs joined by an operator, in parentheses."""
    (left, a), operator, (right, b) = pair
    if operator in "/%" and b == 0:
        return left, a
    value = {"+": a + b, "-": a - b, "*": a * b}.get(operator)
    if value is None:
        value = truncated(a, b) if operator == "/" else int(math.fmod(a, b))
    return f"({left} {operator} {right})", value


integers = st.integers(0, 30).map(lambda n: (str(n), n)) | st.sampled_from([("P", 7), ("Q", -5)])
expressions = st.recursive(
    integers,
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/%"), inner).map(combine) | inner.map(lambda e: (f"-{e[0]}", -e[1]))
    ),
    max_leaves=6,  # keeps every value within the int32 that GLSL can hold: 30**6 < 2**31
)


@given(expressions)
def test_expressions_have_the_values_that_c_gives_them(tmp_path_factory, expression):
    text, value = expression
    root = write(tmp_path_factory.getbasetemp() / "expressions", {"a.glsl": f"int a = $({text});"})
    shown = str(value) if value >= 0 else f"({value})"
    assert body(load("a.glsl", {"P": 7, "Q": -5}, root=root)) == [f"int a = {shown};"]


# --- the line map


@st.composite
def shader_trees(draw):
    """Files whose every line declares its own file and line, with includes and nested unrolls between them."""
    names = [f"f{n}.glsl" for n in range(draw(st.integers(1, 3)))]
    files: dict[str, list[str]] = {}
    for number, name in enumerate(names):
        lines: list[str] = []
        open_unrolls = 0
        for _ in range(draw(st.integers(1, 12))):
            kind = draw(st.sampled_from(["line", "line", "dollar", "blank", "comment", "include", "unroll", "end"]))
            here = f"m_{number}_{len(lines) + 1}"
            if kind == "end" and open_unrolls:
                open_unrolls -= 1
                lines.append("#endunroll")
            elif kind == "unroll" and open_unrolls < 3:
                variable = "ijk"[open_unrolls]
                open_unrolls += 1
                lines.append(f"#unroll v{number}{variable} 0 {draw(st.integers(0, 3))}")
            elif kind == "include":
                lines.append(f'#include "{draw(st.sampled_from(names))}"')
            elif kind == "dollar":
                lines.append(f"{here} $(1+1);")
            elif kind in ("blank", "comment"):
                lines.append({"blank": "", "comment": "/* x */ // y"}[kind])
            else:
                lines.append(f"{here};")
        files[name] = lines + ["#endunroll"] * open_unrolls
    return {name: "\n".join(lines) for name, lines in files.items()}


@given(shader_trees())
def test_the_line_map_is_exact(tmp_path_factory, files):
    root = write(tmp_path_factory.getbasetemp() / "trees", files)
    loaded = load("f0.glsl", {"A": 1}, "es300", root)
    lines = loaded.text.splitlines()
    assert len(lines) == len(loaded.lines)
    for number, (line, (file, at)) in enumerate(zip(lines, loaded.lines, strict=True), 1):
        marker = re.match(r"m_(\d+)_(\d+)", line)
        if marker:
            assert (file, at) == (f"f{marker[1]}.glsl", int(marker[2]))
        else:
            assert (file, at) == ("<header>", number)


# --- the key


values = st.one_of(
    st.integers(-99, 99), st.booleans(), st.floats(-9, 9, width=32), st.sampled_from(["x", "exp(x)", "1"])
)


@given(
    st.dictionaries(st.sampled_from(["A", "B", "C", "D(x)"]), values),
    st.sampled_from(sorted(source.DIALECTS)),
    st.randoms(),
)
def test_equal_keys_mean_equal_texts_and_other_keys_other_texts(tmp_path_factory, defines, dialect, random):
    root = write(tmp_path_factory.getbasetemp() / "keys", {"a.glsl": "#default E 1\nint a = A;"})
    first = load("a.glsl", defines, dialect, root)
    shuffled = list(defines.items())
    random.shuffle(shuffled)
    assert load("a.glsl", dict(shuffled), dialect, root) == first
    for name, value in defines.items():
        for other in (1, 1.0, True, "1", value):
            changed = {**defines, name: other}
            same_key = canonical(changed) == canonical(defines)
            assert (load("a.glsl", changed, dialect, root).text == first.text) == same_key
    assert all(load("a.glsl", defines, other, root).text != first.text for other in source.DIALECTS - {dialect})


def test_int_and_float_are_other_keys_though_python_holds_them_equal():
    assert canonical({"A": 1}) != canonical({"A": 1.0})
    assert canonical({"A": 0.0}) != canonical({"A": -0.0})
    assert canonical({"A": 1}) == canonical({"A": True}) == canonical({"A": np.int32(1)})


def test_the_text_does_not_depend_on_the_process(tmp_path):
    files = {
        "a.glsl": '#if A\n#include "c.glsl"\n#include "b.glsl"\n#endif\n#default D 1',
        "b.glsl": "int b;",
        "c.glsl": "int c;",
    }
    root = write(tmp_path, files)
    program = "import sys, pathlib; from gpgpu_gl.gl.source import load; "
    program += "print(load('a.glsl', dict(A=1, B=2.5, C='x', E=True), root=pathlib.Path(sys.argv[1])).text)"
    texts = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(
            [sys.executable, "-c", program, str(root)], env=environment, capture_output=True, text=True, check=True
        )
        texts.add(done.stdout)
    assert len(texts) == 1
    assert "#define B 2.5" in texts.pop()
