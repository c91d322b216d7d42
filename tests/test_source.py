"""The shader loader's text: includes, defines, unrolling, expressions, comments, the line map and the key."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from shader_files import body, write

from gpgpu_gl.errors import ShaderError
from gpgpu_gl.gl import source
from gpgpu_gl.gl.source import canonical, load


def expand(root: Path, text: str, **defines: source.Define) -> list[str]:
    return body(load("a.glsl", defines, root=write(root, {"a.glsl": text})))


# --- header and defines


@pytest.mark.parametrize(("dialect", "version"), [("330", "330 core"), ("430", "430 core"), ("es300", "300 es")])
def test_header_starts_with_the_version(tmp_path, dialect, version):
    loaded = load("a.glsl", {}, dialect, write(tmp_path, {"a.glsl": "int a;\n"}))
    assert loaded.text.startswith(f"#version {version}\n")
    assert body(loaded) == ["int a;"]
    assert loaded.text.endswith("int a;\n")


def test_header_of_es_gives_every_precision(tmp_path):
    lines = load("a.glsl", {"A": 1}, "es300", write(tmp_path, {"a.glsl": "int a;"})).text.splitlines()
    kinds = ["float", "int", "sampler2D", "isampler2D", "usampler2D", "sampler2DArray", "isampler2DArray"]
    assert lines == ["#version 300 es", *(f"precision highp {kind};" for kind in kinds), "#define A 1", "int a;"]


def test_every_dialect_has_a_header():
    assert {"330", "430", "es300"} == source.DIALECTS


def test_defines_are_sorted_and_written_for_glsl(tmp_path):
    defines = {
        "Z": True,
        "EXPR": " exp(x) ",
        "N": -3,
        "A": 7,
        "F(a, b)": "a + b",
        "EMPTY": "",
        "EPS": 1e-5,
        "ONE": 1.0,
        "NEG": -0.5,
    }
    text = load("a.glsl", defines, root=write(tmp_path, {"a.glsl": ""})).text
    assert text.splitlines()[1:] == [
        "#define A 7",
        "#define EMPTY",
        "#define EPS 1e-05",
        "#define EXPR exp(x)",
        "#define F(a, b) a + b",
        "#define N (-3)",
        "#define NEG (-0.5)",
        "#define ONE 1.0",
        "#define Z 1",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(5), "5"),
        (np.float32(0.1), "0.1"),
        (np.float64(0.1), "0.1"),
        (np.bool_(False), "0"),
        (2**31 - 1, "2147483647"),
        (-(2**31), "(-2147483647-1)"),
        (1e16, "1e+16"),
        (-0.0, "(-0.0)"),
        (1e-50, "0.0"),
    ],
)
def test_values_of_defines(value, text):
    assert canonical({"A": value}) == (("A", text),)


def test_the_largest_float32_passes_and_the_first_double_that_overflows_does_not():
    assert float(canonical({"A": 3.4028234663852886e38})[0][1]) == pytest.approx(
        3.4028234663852886e38, rel=1e-7
    )  # float32's spacing
    halfway = 3.4028235677973366e38
    assert float(np.float32(math.nextafter(halfway, 0.0))) < math.inf
    assert canonical({"A": math.nextafter(halfway, 0.0)})
    with pytest.raises(ShaderError, match="float32 cannot hold"):
        canonical({"A": halfway})


@pytest.mark.parametrize(
    ("defines", "message"),
    [
        ({"A": math.inf}, "A is inf"),
        ({"A": math.nan}, "A is nan"),
        ({"A": 1e39}, "float32 cannot hold"),
        ({"A": 2**31}, "outside int32"),
        ({"A": -(2**31) - 1}, "outside int32"),
        ({"A": "1\n2"}, "line break"),
        ({"A": None}, "NoneType"),
        ({"A": 1j}, "complex"),
        ({"1A": 1}, "cannot define '1A'"),
        ({"A B": 1}, "cannot define 'A B'"),
        ({"GL_A": 1}, "GL_"),
        ({"A__B": 1}, "underscores"),
        ({"A(": 1}, "cannot define"),
    ],
)
def test_defines_that_glsl_cannot_hold(defines, message):
    with pytest.raises(ShaderError, match=re.escape(message)):
        canonical(defines)


def test_one_name_defined_in_two_ways(tmp_path):
    with pytest.raises(ShaderError, match="F is defined twice"):
        load("a.glsl", {"F": 1, "F(x)": "x"}, root=write(tmp_path, {"a.glsl": ""}))


# --- include


def test_include_puts_the_file_there_once(tmp_path):
    root = write(
        tmp_path,
        {
            "k/a.glsl": '#include "lib/b.glsl"\nint a;\n#include "lib/c.glsl"\n#include "lib/./b.glsl"\nint z;',
            "lib/b.glsl": '#include "lib/c.glsl"\nint b;',
            "lib/c.glsl": "int c;\r\n",
        },
    )
    loaded = load("k/a.glsl", root=root)
    assert body(loaded) == ["int c;", "int b;", "int a;", "int z;"]
    assert loaded.lines[1:] == (("lib/c.glsl", 1), ("lib/b.glsl", 2), ("k/a.glsl", 2), ("k/a.glsl", 5))


def test_include_cycles_are_harmless(tmp_path):
    files = {"a.glsl": '#include "b.glsl"\nint a;', "b.glsl": '#include "a.glsl"\n#include "b.glsl"\nint b;'}
    root = write(tmp_path, files)
    assert body(load("a.glsl", root=root)) == ["int b;", "int a;"]
    assert body(load("b.glsl", root=root)) == ["int a;", "int b;"]


def test_include_cycles_inside_conditions_are_harmless(tmp_path):
    files = {"a.glsl": '#if 1\n#include "b.glsl"\n#endif\nint a;', "b.glsl": '#if 1\n#include "a.glsl"\n#endif\nint b;'}
    assert [line for line in body(load("a.glsl", root=write(tmp_path, files))) if line[0] != "#"] == [
        "int b;",
        "int a;",
    ]


def test_include_by_a_define_that_stays_out_of_the_text(tmp_path):
    root = write(tmp_path, {"a.glsl": "#include $KERNEL\nint a;", "k/one.glsl": "int one;", "k/two.glsl": "int two;"})
    for kernel in ("one", "two"):
        loaded = load("a.glsl", {"KERNEL": f"k/{kernel}.glsl"}, root=root)
        assert loaded.text == f"#version 330 core\nint {kernel};\nint a;\n"


def test_a_file_included_in_every_branch_is_guarded_in_each(tmp_path):
    files = {
        "a.glsl": '#if A\n#include "b.glsl"\n#else\n#include "b.glsl"\n#endif\n#include "b.glsl"',
        "b.glsl": "int b;",
    }
    guarded = ["#ifndef INCLUDED_0", "#define INCLUDED_0", "int b;", "#endif"]
    assert body(load("a.glsl", root=write(tmp_path, files))) == [
        "#if A",
        *guarded,
        "#else",
        *guarded,
        "#endif",
        *guarded,
    ]


def test_a_file_that_is_there_for_certain_is_not_included_again_in_a_branch(tmp_path):
    files = {"a.glsl": '#include "b.glsl"\n#if A\n#include "b.glsl"\n#endif', "b.glsl": "int b;"}
    assert body(load("a.glsl", root=write(tmp_path, files))) == ["int b;", "#if A", "#endif"]


# --- require and default


def test_require_is_met_by_a_define_a_default_or_a_name_with_parameters(tmp_path):
    text = "#require A  why\n#default B 2\n#require B\n#require F  the function\nint a;"
    root = write(tmp_path, {"a.glsl": text})
    assert body(load("a.glsl", {"A": 1, "F(x)": "x"}, root=root)) == ["#define B 2", "int a;"]


def test_default_yields_to_a_define(tmp_path):
    text = "#default N 4\n#default N 5\n#default M -1\n#default F(a,b) max(a, b)\n#default E\nint a[$(N*2)];"
    assert expand(tmp_path, text) == [
        "#define N 4",
        "#define M (-1)",
        "#define F(a,b) max(a, b)",
        "#define E",
        "int a[8];",
    ]
    assert expand(tmp_path, text, N=1, M=2, F="min", E="") == ["int a[2];"]


def test_default_in_a_branch_counts_for_the_other_branches_too(tmp_path):
    text = "#if A\n#default N 4\n#else\n#default N 9\n#endif\n#default N 9\n#default N 9\nint a[$N];"
    guarded = ["#ifndef N", "#define N 4", "#endif"]
    assert expand(tmp_path, text) == ["#if A", *guarded, "#else", *guarded, "#endif", *guarded, "int a[4];"]
    assert expand(tmp_path, text, N=1) == ["#if A", "#else", "#endif", "int a[1];"]


# --- unroll and expressions


def test_unroll_nests_and_substitutes(tmp_path):
    text = """
        #unroll i 0 N
        int a$i = $(i * 10);
        #unroll j i N + 1
        int a$(i)_$j = $(N - j);
        #endunroll
        #endunroll
        int end;
    """
    assert expand(tmp_path, text, N=2) == [
        "int a0 = 0;",
        "int a0_0 = 2;",
        "int a0_1 = 1;",
        "int a0_2 = 0;",
        "int a1 = 10;",
        "int a1_1 = 1;",
        "int a1_2 = 0;",
        "int end;",
    ]


@pytest.mark.parametrize("bounds", ["0 0", "3 -3", "2 1"])
def test_unroll_of_an_empty_range_gives_nothing(tmp_path, bounds):
    assert expand(tmp_path, f"#unroll i {bounds}\nint a$i;\n#endunroll\nint b;") == ["int b;"]


def test_unroll_from_a_negative_start_writes_parentheses(tmp_path):
    assert expand(tmp_path, "#unroll i -1 1\nint a = b-$i;\n#endunroll") == ["int a = b-(-1);", "int a = b-0;"]


def test_unroll_with_an_include_takes_the_file_once(tmp_path):
    write(tmp_path, {"b.glsl": "int b;"})
    assert expand(tmp_path, '#unroll i 0 2\n#include "b.glsl"\nint a$i;\n#endunroll') == [
        "int b;",
        "int a0;",
        "int a1;",
    ]


def test_unroll_variables_end_with_their_body_and_may_be_used_again(tmp_path):
    assert expand(tmp_path, "#unroll i 0 1\nint a$i;\n#endunroll\n#unroll i 1 2\nint a$i;\n#endunroll") == [
        "int a0;",
        "int a1;",
    ]


def test_expressions_use_defines_of_defines_and_bools(tmp_path):
    text = "#default TEXELS (ROWS*COLS)\n#default AREA TEXELS\nint a[$AREA]; int b = $(AREA % 4 + ON);"
    assert expand(tmp_path, text, ROWS=3, COLS="5", ON=True)[-1] == "int a[15]; int b = 4;"


def test_expressions_keep_the_precedence_of_c(tmp_path):
    assert expand(tmp_path, "int a = $(2+3*4-8/3%2) + $(10-4-3) + $(100/10/5) + $(-7/2) + $(-7%3);") == [
        "int a = 14 + 3 + 2 + (-3) + (-1);"
    ]


# --- comments and blank lines


def test_comments_and_blank_lines_are_dropped(tmp_path):
    text = """// one $nothing
int a; // two × $nothing
/* #include "nothing.glsl"
#endunroll $( */ int b; /* x */ int c; /**/

int d = 4 / 2; /* // */ int e;
// /*
int f;"""
    assert [re.sub(r"\s+", " ", line) for line in expand(tmp_path, text)] == [
        "int a;",
        "int b; int c;",
        "int d = 4 / 2; int e;",
        "int f;",
    ]


def test_macros_over_several_lines_stay_whole(tmp_path):
    text = "#define F(x) \\\n    $N * (x) \\\n\n#define G(x) x \\\n // nothing\nint a;"
    assert expand(tmp_path, text, N=3) == ["#define F(x) \\", "3 * (x) \\", "", "#define G(x) x \\", "", "int a;"]


# --- files


def test_a_file_is_read_once_until_it_changes(tmp_path, monkeypatch):
    root = write(tmp_path, {"a.glsl": "int a;"})
    reads = []
    read_text = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, *a, **k: reads.append(self.name) or read_text(self, *a, **k))
    assert body(load("a.glsl", root=root)) == body(load("a.glsl", {"B": 1}, root=root)) == ["int a;"]
    assert reads == ["a.glsl"]
    write(tmp_path, {"a.glsl": "int changed;"})
    assert body(load("a.glsl", root=root)) == ["int changed;"]
    assert reads == ["a.glsl", "a.glsl"]


def test_shader_root_prefers_the_package_and_falls_back_to_the_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(source.resources, "files", lambda package: tmp_path / package)
    source.shader_root.cache_clear()
    try:
        with pytest.raises(ShaderError, match="reinstall gpgpu_gl"):
            source.shader_root()
        (tmp_path / "shaders").mkdir()
        assert source.shader_root() == tmp_path / "shaders"
        source.shader_root.cache_clear()
        (tmp_path / "gpgpu_gl" / "shaders").mkdir(parents=True)
        assert source.shader_root() == tmp_path / "gpgpu_gl" / "shaders"
    finally:
        source.shader_root.cache_clear()


def test_shader_root_holds_the_shaders():
    assert list(source.shader_root().rglob("*.glsl"))
