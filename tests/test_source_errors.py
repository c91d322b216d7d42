"""The shader loader's errors name file and line: its own, and those of compilers through `explain`."""

import re

import moderngl
import numpy as np
import pytest
from shader_files import body, write

from gpgpu_gl.errors import ShaderError
from gpgpu_gl.gl import context
from gpgpu_gl.gl.source import Source, explain, load
from gpgpu_gl.gl.state import unbind_framebuffer

# --- the loader's own


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('int a;\n#include "lib/none.glsl"', "a.glsl:2: cannot read the shader 'lib/none.glsl'"),
        ('#include "../a.glsl"', "a.glsl:1: cannot include '../a.glsl'"),
        ('#include "/etc/hosts"', "a.glsl:1: cannot include '/etc/hosts'"),
        ("#include <x.glsl>", "a.glsl:1: cannot include <x.glsl>"),
        ("#include", "a.glsl:1: cannot include"),
        ("\n#include $KERNEL", "a.glsl:2: cannot include $KERNEL: KERNEL is not defined"),
        ("\n#require SIZE   the side of the tile\n", "a.glsl:2: SIZE is not defined: the side of the tile"),
        ("#require SIZE", "a.glsl:1: SIZE is not defined"),
        ("#require", "a.glsl:1: '' is no name"),
        ("#default 7", "a.glsl:1: cannot read '7'"),
        ("#default GL_X 7", "a.glsl:1: cannot define 'GL_X'"),
        ("#unroll i 0 2\nint a;", "a.glsl:1: #unroll without #endunroll"),
        ("int a;\n#endunroll", "a.glsl:2: #endunroll without #unroll"),
        ("#unroll i 0\n#endunroll", "a.glsl:1: cannot read the bounds '0'"),
        ("#unroll i 0 x.y\n#endunroll", "a.glsl:1: cannot read the bounds '0 x.y'"),
        ("#unroll i 5 - 2 - 1\n#endunroll", "a.glsl:1: the bounds '5 - 2 - 1' can be read in more than one way"),
        ("#unroll 0 2 3\n#endunroll", "a.glsl:1: '0' is no name"),
        ("#unroll i 0 COUNT\n#endunroll", "a.glsl:1: COUNT in 'COUNT' is neither defined nor an unroll variable"),
        ("#unroll i 0 1\n#unroll i 0 1\n#endunroll\n#endunroll", "a.glsl:2: the unroll variable i hides"),
        ("#unroll K 0 1\n#endunroll", "a.glsl:1: the unroll variable K hides"),
        ("#unroll i 0 2000000000\nint a;\n#endunroll", "a.glsl:1: unrolls to more than"),
        ("#unroll i 0 2000000000\n#endunroll", "a.glsl:1: unrolls to more than"),
        ("int a = $(1 + );", "a.glsl:1: '1 + ' is no integer expression"),
        ("int a = $(1;\n);", "a.glsl:1: $( without its closing parenthesis"),
        ("int a = $(2 ** 3);", "a.glsl:1: '2 ** 3' is no integer expression"),
        ("int a = $(f(1));", "a.glsl:1: 'f(1)' is no integer expression"),
        ("int a = $(1.5);", "a.glsl:1: '1.5' is no integer expression"),
        ("int a = $(True);", "a.glsl:1: 'True' is no integer expression"),
        ("int a = $(K.real);", "a.glsl:1: 'K.real' is no integer expression"),
        ("int a = $();", "a.glsl:1: '' is no integer expression"),
        ("int a = $(" + "-" * 5000 + "1);", "a.glsl:1: "),
        ("\nint a = $i;", "a.glsl:2: i in 'i' is neither defined"),
        ("int a = $(1 / (K - 3));", "a.glsl:1: '1 / (K - 3)' divides by zero"),
        ("int a = $(1 % 0);", "a.glsl:1: '1 % 0' divides by zero"),
        ("int a = $(2147483647 + 1);", "a.glsl:1: 2147483647 + 1 is 2147483648, outside int32"),
        ("int a = $HALF;", "a.glsl:1: HALF in 'HALF' is '0.5', not an integer"),
        ("int a = $(SUM * 2);", "a.glsl:1: SUM in 'SUM * 2' is '1+2': put the define's value in parentheses"),
        ("#default A (B)\n#default B (A)\nint a = $A;", "a.glsl:3: A in '(A)' is defined by itself"),
        (
            "#default A (i)\n#unroll i 0 1\nint a = $A;\n#endunroll",
            "a.glsl:3: A in 'A' is '(i)', where i is not defined",
        ),
        ("int a;\n#version 330", "a.glsl:2: #version belongs to the loader"),
        ("#if 1\nint a;", "a.glsl:1: #if without #endif"),
        ("int a;\n#endif", "a.glsl:2: #endif without #if"),
    ],
)
def test_mistakes_in_a_file_name_their_line(tmp_path, text, message):
    root = write(tmp_path, {"a.glsl": text})
    with pytest.raises(ShaderError, match=re.escape(message)):
        load("a.glsl", {"K": 3, "HALF": 0.5, "SUM": "1+2"}, root=root)


def test_a_mistake_in_an_included_file_names_that_file(tmp_path):
    root = write(tmp_path, {"a.glsl": '#include "lib/b.glsl"', "lib/b.glsl": "\n\n#require N  terms"})
    with pytest.raises(ShaderError, match=re.escape("lib/b.glsl:3: N is not defined: terms")):
        load("a.glsl", root=root)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ShaderError, match=re.escape("cannot read the shader 'none.glsl' below " + str(tmp_path))):
        load("none.glsl", root=tmp_path)
    (tmp_path / "latin1.glsl").write_bytes(b"// \xe9\n")
    with pytest.raises(ShaderError, match="cannot read the shader 'latin1.glsl'"):
        load("latin1.glsl", root=tmp_path)
    with pytest.raises(ShaderError, match="cannot include '../up.glsl'"):
        load("../up.glsl", root=tmp_path)


def test_a_dialect_that_does_not_exist(tmp_path):
    with pytest.raises(ShaderError, match=r"no GLSL dialect '310': use one of 330, 430, es300"):
        load("a.glsl", {}, "310", write(tmp_path, {"a.glsl": ""}))


# --- compilers' logs


SOURCE = Source(
    "\n".join(f"text {n}" for n in range(1, 21)) + "\n", tuple((f"lib/f{n}.glsl", 100 + n) for n in range(1, 21))
)


@pytest.mark.parametrize(
    ("line", "explained"),
    [
        # Mesa
        ("0:12(5): error: `q' undeclared", "lib/f12.glsl:112(5): error: `q' undeclared"),
        ("0:3(1): preprocessor error: Unterminated #if", "lib/f3.glsl:103(1): preprocessor error: Unterminated #if"),
        ("0:12(5): warning: `q' used uninitialized", "lib/f12.glsl:112(5): warning: `q' used uninitialized"),
        # NVIDIA
        ('0(12) : error C1008: undefined variable "q"', 'lib/f12.glsl:112 : error C1008: undefined variable "q"'),
        ("0(7) : warning C7050: x", "lib/f7.glsl:107 : warning C7050: x"),
        # Intel, AMD, Apple, ANGLE
        ("ERROR: 0:12: 'q' : undeclared identifier", "ERROR: lib/f12.glsl:112: 'q' : undeclared identifier"),
        ("ERROR: 0:12: error(#143) Undeclared", "ERROR: lib/f12.glsl:112: error(#143) Undeclared"),
        ("WARNING: 0:20: x:3: y", "WARNING: lib/f20.glsl:120: x:3: y"),
        # Mali
        ("0:12: S0001: Type mismatch", "lib/f12.glsl:112: S0001: Type mismatch"),
        # glslangValidator
        ("ERROR: 7.frag:12: 'q' : undeclared", "ERROR: lib/f12.glsl:112: 'q' : undeclared"),
        (r"ERROR: C:\a b\7.frag:12: 'q'", "ERROR: lib/f12.glsl:112: 'q'"),
        ("ERROR: /tmp/x:1/7.frag:12: 'q'", "ERROR: lib/f12.glsl:112: 'q'"),
        ("  0:1(1): error: indented", "  lib/f1.glsl:101(1): error: indented"),
    ],
)
def test_explain_knows_the_log(line, explained):
    number = int(re.search(r"lib/f(\d+)", explained)[1])
    assert explain(line, SOURCE) == f"{explained}\n    text {number}"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "GLSL Compiler failed",
        "===============",
        "fragment_shader",
        "ERROR: 2 compilation errors.  No code generated.",
        "error: linking failed: 3 outputs",
        "0:21(5): error: beyond the text",
        "0:0(0): error: nowhere",
        "12 errors",
        "ERROR: Linking stage: no main",
    ],
)
def test_explain_passes_other_lines_through(line):
    assert explain(line, SOURCE) == line


def test_explain_goes_line_by_line():
    log = "GLSL Compiler failed\n\n0:1(1): error: a\n0:2(2): error: b\n"
    lines = [
        "GLSL Compiler failed",
        "",
        "lib/f1.glsl:101(1): error: a",
        "    text 1",
        "lib/f2.glsl:102(2): error: b",
        "    text 2",
    ]
    assert explain(log, SOURCE).splitlines() == lines


# --- the driver of this machine


@pytest.fixture(scope="module")
def ctx():
    return context.device().ctx


VERTEX = "void main() { gl_Position = vec4(vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0, 0.0, 1.0); }"


def draw(ctx, root, text, width=1, **defines):
    """The RGBA32F row of `width` pixels that the fragment shader `text` writes."""
    write(root, {"vertex.glsl": VERTEX, "fragment.glsl": text})
    fragment = load("fragment.glsl", defines, root=root)
    program = ctx.program(vertex_shader=load("vertex.glsl", root=root).text, fragment_shader=fragment.text)
    texture = ctx.texture((width, 1), 4, dtype="f4")
    target = ctx.framebuffer([texture])
    vertices = ctx.vertex_array(program, [])
    try:
        target.use()
        vertices.render(moderngl.TRIANGLES, vertices=3)
        return np.frombuffer(texture.read(), np.float32).reshape(width, 4)
    finally:
        unbind_framebuffer(ctx)
        for thing in (vertices, target, texture, program):
            thing.release()


ERROR_TEXT = """#include "lib/b.glsl"
out vec4 o;
void main() {
    o = vec4(0.0);
#unroll i 0 3
    o += b($i) * undeclared_$i; // the error
#endunroll
}"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"fragment.glsl": ERROR_TEXT, "lib/b.glsl": "\nfloat b(int i) { return 1.0; }"},
            ["fragment.glsl:6", "undeclared_0"],
        ),
        (
            {
                "fragment.glsl": ERROR_TEXT.replace(" * undeclared_$i", ""),
                "lib/b.glsl": "/* two\nlines */\nfloat b(int i) { return unknown_name; }",
            },
            ["lib/b.glsl:3", "unknown_name"],
        ),
    ],
)
def test_a_compile_error_is_found_in_its_file(ctx, tmp_path, files, expected):
    root = write(tmp_path, {**files, "vertex.glsl": VERTEX})
    fragment = load("fragment.glsl", {"A": 1, "B": 2}, root=root)
    with pytest.raises(moderngl.Error) as caught:
        ctx.program(vertex_shader=load("vertex.glsl", root=root).text, fragment_shader=fragment.text)
    line = next(line for line in explain(str(caught.value), fragment).splitlines() if expected[1] in line)
    assert expected[0] in line


def test_float_defines_reach_the_driver_bit_by_bit(ctx, tmp_path):
    values = [0.1, 1e-5, 1 / 3, 1.0, -2.5, 3.4028234663852886e38, 1.1754943508222875e-38, 16777217.0, 1e10]
    text = "out vec4 o;\nvoid main() {\n  float x = 0.0;\n#unroll i 0 COUNT\n"
    text += "  if (int(gl_FragCoord.x) == $i) x = V$i;\n#endunroll\n  o = vec4(x);\n}"
    defines = {f"V{number}": value for number, value in enumerate(values)}
    drawn = draw(ctx, tmp_path, text, len(values), COUNT=len(values), **defines)
    assert drawn[:, 0].tobytes() == np.array(values, np.float32).tobytes()


def test_expressions_agree_with_the_compiler(ctx, tmp_path):
    # GLSL leaves % undefined for negative operands, so only / has some.
    expressions = [
        "7/2",
        "-7/2",
        "7/-2",
        "(3+4)*5-6",
        "2+3*4-8/3%2",
        "29%7*3",
        "-(3-10)/2",
        "100/10/5",
        "10-4-3",
        "N*N/3-N",
    ]
    checks = " && ".join(f"({e}) == $({e})" for e in expressions)
    wrong = "(7/2) == $(7/2+1)"
    text = f"#default N 11\nout vec4 o;\nvoid main() {{ o = vec4({checks} ? 1.0 : 0.0, {wrong} ? 1.0 : 0.0, 0, 0); }}"
    assert draw(ctx, tmp_path, text).tolist() == [[1.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("branch", [0, 1])
def test_branches_have_their_includes_and_defaults(ctx, tmp_path, branch):
    write(tmp_path, {"lib/b.glsl": "#default SCALE 4.0\nfloat scaled(float x) { return x * SCALE; }"})
    both = '#include "lib/b.glsl"\n#default SHIFT 0.5\nfloat f() { return scaled(%s) + SHIFT; }\n'
    text = f"#if BRANCH\n{both % '1.0'}#else\n{both % '2.0'}#endif\n#default SHIFT 0.5\n"
    text += 'out vec4 o;\n#include "lib/b.glsl"\nvoid main() { o = vec4(f(), scaled(SHIFT), 0.0, 0.0); }'
    assert draw(ctx, tmp_path, text, BRANCH=branch).tolist() == [[8.5 - 4.0 * branch, 2.0, 0.0, 0.0]]


def test_functions_as_defines_reach_the_driver(ctx, tmp_path):
    text = "#require APPLY  f\nout vec4 o;\nvoid main() { o = vec4(APPLY(2.0, 3.0)); }"
    assert draw(ctx, tmp_path, text, **{"APPLY(x, y)": "x * x - y"}).tolist() == [[1.0] * 4]


def test_a_fragment_outside_ascii_is_only_a_comment(tmp_path):
    assert body(load("a.glsl", root=write(tmp_path, {"a.glsl": "// π × 2\nint a; /* ½ */"}))) == ["int a;"]
    assert load("a.glsl", root=tmp_path).text.isascii()
