"""What shaders may declare: structs, arrays, blocks, matrices, integers, samplers of all kinds, ES, versions."""

import numpy as np
import pytest
from pipeline_rig import settle

from gpgpu_gl.errors import DTypeError, GpgpuError
from gpgpu_gl.pipeline import Pipeline, Texture

pytestmark = pytest.mark.gl33

RNG = np.random.default_rng(0)
ATTRIBUTES = {
    "place": np.array([[-0.9, -0.8, 0.2, 1.1], [0.9, -0.7, 0.1, 0.9], [0.1, 0.9, -0.3, 1.3], [0.8, 0.8, 0.5, 1.0]], np.float32),
    "turn": RNG.uniform(-1, 1, (4, 3, 2)).astype(np.float32),
    "count": np.array([[3, 70000], [5, -4], [9, 1], [11, 2]], np.int32),
    "mask": np.array([4000000000, 7, 8, 9], np.uint32),
}
VERTEX = """#version 330 core
#define COPIES 2
in vec4 place;
in mat2x3 turn;   // two columns of three
in ivec2 count;
in uint mask;
struct Bend { vec2 by; float much[COPIES]; };
uniform Bend bends[2];
uniform mat3x2 skew;
uniform bool flip;
uniform vec3 steps[COPIES + 1];
uniform uint seed;
layout(std140) uniform Shared { mat3 basis; vec3 offsets[2]; float gain; ivec2 odd; layout(row_major) mat2x3 tall; } shared_;
out mat3 frame;
out float list[3];
flat out uvec2 bits;
flat out int number;
out Pack { vec2 a; noperspective vec3 b; flat ivec3 c; } pack;
void main() {
  gl_Position = place;
  frame = shared_.basis * mat3(turn[0], turn[1], steps[COPIES]);
  list[0] = bends[1].by.y * bends[0].much[1] + place.x;
  list[1] = (skew * turn[0]).y + (flip ? 1.0 : 0.0);
  list[2] = dot(shared_.offsets[1], steps[1]) * shared_.gain + (transpose(shared_.tall) * turn[1]).x + float(shared_.odd.y);
  bits = uvec2(mask, seed);
  number = count.y;
  pack.a = place.yx + bends[1].much[0];
  pack.b = turn[1];
  pack.c = ivec3(count, gl_VertexID);
}
"""
FRAGMENT = """#version 330 core
in mat3 frame;
in float list[3];
flat in uvec2 bits;
flat in int number;
in Pack { vec2 a; noperspective vec3 b; flat ivec3 c; } pack;
layout(location = 3) out vec4 late;
layout(location = 0) out vec4 early;
layout(location = 1) out ivec4 whole;
vec3 helper(in vec3 v) { return v * frame; }
void main() {
  early = vec4(helper(pack.b), list[0] + list[1] * list[2]);
  whole = ivec4(int(bits.x >> 20), int(bits.y), number, pack.c.x + pack.c.z);
  late = vec4(pack.a, float(gl_PrimitiveID), gl_FragCoord.w);
}
"""
UNIFORMS = {
    "bends": [{"by": [1, 2], "much": [0.5, 1.5]}, {"by": [3, -0.7], "much": [0.2, 9]}],
    "skew": RNG.uniform(-1, 1, (2, 3)),
    "flip": True,
    "steps": RNG.uniform(-1, 1, (3, 3)),
    "seed": 3000000000 % 2**31,
    "Shared": {
        "basis": RNG.uniform(-1, 1, (3, 3)),
        "offsets": RNG.uniform(-1, 1, (2, 3)),
        "gain": 1.7,
        "odd": [5, -6],
        "tall": RNG.uniform(-1, 1, (3, 2)),
    },
}


def both(vertex, fragment, attributes, uniforms, tolerance=4e-5, **options):
    """Draws in both ways and compares every target; returns the trace."""
    state = options.pop("state", {})
    with Pipeline(vertex, fragment, **state) as pipeline:
        trace = pipeline.run(attributes, uniforms=uniforms, size=(40, 30), **options)
        theirs = pipeline.run_hardware(attributes, uniforms=uniforms, size=(40, 30), **options)
    settle()
    for mine, other in zip(trace.colors, theirs.colors, strict=True):
        a, b = mine.numpy(), other.numpy()
        if a.dtype.kind == "i":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    assert (theirs.colors[0].numpy() != 0).any()
    return trace


def test_every_kind_of_declaration_gives_the_hardwares_values():
    trace = both(VERTEX, FRAGMENT, ATTRIBUTES, UNIFORMS, indices=[0, 1, 2, 2, 1, 3])
    assert len(trace.colors) == 4
    assert (trace.colors[2].numpy() == 0).all()  # location 2 is not written
    assert set(np.unique(trace.colors[1].numpy()[..., 2])) >= {1, 2}
    assert 4000000000 >> 20 in trace.colors[1].numpy()[..., 0] or len(trace.primitives) == 2
    assert trace.input("frame").shape[1] == 12
    # Uniforms arrive as they are written, row by row: computed once more on the host, for the first vertex.
    turn = ATTRIBUTES["turn"][0].astype(float)
    basis = UNIFORMS["Shared"]["basis"] @ np.stack([turn[:, 0], turn[:, 1], UNIFORMS["steps"][2]], 1)
    np.testing.assert_allclose(trace.vertices.floats[0, :3, :3], basis.T, rtol=1e-5)
    third = UNIFORMS["Shared"]["offsets"][1] @ UNIFORMS["steps"][1] * 1.7 + (UNIFORMS["Shared"]["tall"].T @ turn[:, 1])[0] - 6
    assert trace.vertices.floats[0, 5, 0] == pytest.approx(third, rel=1e-5)


SIMPLE = "#version 330\nin vec4 position; out vec4 v; void main() { gl_Position = position; v = position * 0.5 + 0.5; }\n"
TRIANGLE = {"position": np.array([[-1, -1, 0.2, 1], [1, -1, 0.1, 1], [-0.2, 1, 0.9, 1.5]], np.float32)}


FACES = RNG.uniform(0, 1, (6, 8, 8, 3))
NOISE = RNG.integers(0, 255, (16, 16, 4)).astype(np.uint8)


@pytest.mark.parametrize(
    ("kind", "lookup", "texture"),
    [
        ("sampler2DArray", "texture(t, vec3(v.xy, 1.0))", Texture(NOISE.reshape(4, 8, 8, 4)[..., :3], kind="array")),
        ("sampler3D", "texture(t, v.xyz)", Texture(RNG.uniform(0, 1, (4, 5, 6, 4)), "linear", kind="3d")),
        ("samplerCube", "texture(t, v.xyz - 0.4)", Texture(FACES, "linear", "linear", "clamp_to_edge", "cube")),
        ("sampler2D", "texture(t, v.xy)", Texture(RNG.uniform(0, 1, (9, 7)), "linear")),
        ("isampler2D", "vec4(texelFetch(t, ivec2(v.xy * 6.0), 0))", Texture(RNG.integers(-9, 9, (8, 8, 4)))),
        ("sampler2D", "textureLod(t, v.xy, 1.5) + texelFetch(t, ivec2(1, 2), 1)", Texture(NOISE)),
        ("sampler2D", "vec4(textureSize(t, 0), textureProj(t, v.xyw).xy)", Texture(RNG.uniform(0, 1, (4, 4, 2)), "linear")),
    ],
)  # fmt: skip
def test_samplers(kind, lookup, texture):
    fragment = f"#version 330\nuniform {kind} t; in vec4 v; out vec4 color;\nvoid main() {{ color = {lookup}; }}\n"
    both(SIMPLE, fragment, TRIANGLE, {"t": texture}, tolerance=2 / 255)


def test_arrays_of_samplers_and_a_tensor_as_texture():
    import gpgpu_gl as gg

    fragment = """#version 330
uniform sampler2D t[2];
in vec4 v;
out vec4 color;
void main() { color = texture(t[0], v.xy) - texture(t[1], v.yx); }
"""
    image = gg.tensor(RNG.uniform(0, 1, (6, 6, 4)).astype(np.float32))
    images = [Texture(image, "linear"), Texture(np.ones((2, 2, 4), np.float32))]
    both(SIMPLE, fragment, TRIANGLE, {"t": images}, tolerance=2 / 255)


def test_inputs_matched_by_location(device):
    if device.version_code < 420:
        pytest.skip("locations of inputs between stages need OpenGL 4.2")
    vertex = SIMPLE.replace("330", "420").replace("out vec4 v;", "layout(location = 4) out vec4 v;")
    fragment = "#version 420\nlayout(location = 4) in vec4 other; out vec4 color; void main() { color = other; }\n"
    both(vertex, fragment, TRIANGLE, {})


def test_members_of_a_block_without_an_instance():
    vertex = SIMPLE.replace("out vec4 v;", "out Open { vec4 v; };")
    fragment = "#version 330\nin Open {\n  vec4 v;\n};\nout vec4 color; void main() { color = v; }\n"
    both(vertex, fragment, TRIANGLE, {})


def test_upper_left_fragment_coordinates():
    fragment = """#version 330
layout(origin_upper_left) in vec4 gl_FragCoord;
in vec4 v;
out vec4 color;
void main() { color = gl_FragCoord + v; }
"""
    both(SIMPLE, fragment, TRIANGLE, {})


def test_macros_may_hold_builtins_and_conditions():
    fragment = """#version 330
#define HERE gl_FragCoord.xy
#ifdef NEVER
in vec3 v;
#elif __VERSION__ >= 330 && !defined(GL_ES)
in vec4 v;
#endif
out vec4 color;
void shade(out vec4 main_color) { main_color = vec4(HERE, v.zw); }
void main() { shade(color); }
"""
    both(SIMPLE, fragment, TRIANGLE, {})


def test_es_shaders():
    vertex = """#version 300 es
in vec4 position;
out mediump vec4 v;
flat out highp int id;
void main() { gl_Position = position; v = position; id = gl_VertexID; }
"""
    fragment = """#version 300 es
precision mediump float;
in vec4 v;
flat in highp int id;
layout(location = 0) out vec4 color;
void main() { color = v + float(id) + gl_FragCoord; }
"""
    both(vertex, fragment, TRIANGLE, {})


def test_discard_in_a_helper_pixel_leaves_derivatives_alone():
    """A pixel that is discarded still takes part in its neighbours' differences before that."""
    fragment = """#version 330
in vec4 v;
out vec4 color;
void main() { float d = fwidth(v.x); if (fract(gl_FragCoord.x * 0.5) < 0.5) discard; color = vec4(d, v.yz, 1.0); }
"""
    trace = both(SIMPLE, fragment, TRIANGLE, {})
    assert 0.4 < trace.living()[0].mean() < 0.6


NAMES = ["f", "p", "q", "t", "at", "k", "primitive", "condition", "color", "position", "size", "columns", "count", "fetch"]


@pytest.mark.parametrize("branches", [False, True])
@pytest.mark.parametrize("kind", ["input", "macro", "global", "function"])
@pytest.mark.parametrize("name", NAMES)
def test_names_of_the_emulators_own_are_free_for_shaders(name, kind, branches):
    vertex = f"#version 330\nin vec4 place; out vec2 {name}; void main() {{ gl_Position = place; {name} = place.xy; }}"
    declared, value = {
        "input": (f"in vec2 {name};", name),
        "macro": (f"#define {name} vec2(0.5, gl_PrimitiveID)", name),
        "global": (f"vec2 {name} = vec2(0.25, 2.0);", name),
        "function": (f"vec2 {name}(int a) {{ return vec2(a, gl_FrontFacing); }}", f"{name}(3)"),
    }[kind]
    fragment = f"#version 330\n{declared}\nout vec4 shown; void main() {{ shown = vec4({value}, 0, 1);"
    fragment += "\nif (shown.x > 9.0) discard; }"
    with Pipeline(vertex, fragment) as pipeline:
        place = {"place": ATTRIBUTES["place"]}
        mine = pipeline.run(place, size=(9, 7), branches=branches).color.numpy()
        theirs = pipeline.run_hardware(place, size=(9, 7)).color.numpy()
    settle()
    assert (theirs[..., 3] == 1).sum() > 10
    np.testing.assert_allclose(mine, theirs, rtol=4e-5, atol=1e-6)


def test_arrays_of_samplers_and_integers_that_are_none():
    vertex = "#version 330\nin vec4 place; void main() { gl_Position = place; }"
    fragment = """#version 330
uniform sampler2D images[2]; uniform int which; uniform uint how[2]; out vec4 shown;
void main() { shown = which == 1 ? texelFetch(images[1], ivec2(0), int(how[1])) : texelFetch(images[0], ivec2(0), 0); }
"""
    images = RNG.random((2, 3, 5, 4)).astype(np.float32)
    with Pipeline(vertex, fragment) as pipeline:
        for given in (list(images), [Texture(i) for i in images], tuple(images)):
            trace = pipeline.run({"place": ATTRIBUTES["place"]}, uniforms={"images": given, "which": 1, "how": [0, 0]}, size=(9, 7))
            shown = trace.color.numpy()
            np.testing.assert_array_equal(shown[shown.any(-1)][0], images[1, 0, 0])
        with pytest.raises(GpgpuError, match=r"sampler images\[1\] has no texture"):
            pipeline.run({"place": ATTRIBUTES["place"]}, uniforms={"images": [images[0]], "which": 1}, size=(9, 7))
        with pytest.raises(DTypeError, match=r"which is an integer in the shader; the value is 1\.5"):
            pipeline.run({"place": ATTRIBUTES["place"]}, uniforms={"images": list(images), "which": 1.5}, size=(9, 7))
    settle()
