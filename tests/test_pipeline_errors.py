"""Bad input gives an error that names the thing, the limit and the remedy; what shaders declare is read right."""

import numpy as np
import pytest
from pipeline_rig import settle

from gpgpu_gl.errors import DTypeError, FileError, GpgpuError, ShaderError, ShapeError
from gpgpu_gl.pipeline import Blend, Pipeline, State, Stencil, Texture
from gpgpu_gl.pipeline.glsl import parse
from gpgpu_gl.pipeline.wrap import body, outputs, read

VERTEX = """#version 330
in vec4 position;
in vec2 uv;
uniform mat4 mvp;
out vec2 at;
void main() {
  gl_Position = mvp * position;
  at = uv;
}
"""
FRAGMENT = """#version 330
uniform sampler2D image;
in vec2 at;
out vec4 color;
void main() {
  color = texture(image, at);
}
"""
TRIANGLE = {"position": np.array([[-1, -1, 0, 1], [1, -1, 0, 1], [0, 1, 0, 1]], np.float32), "uv": np.zeros((3, 2))}
UNIFORMS = {"mvp": np.eye(4), "image": np.zeros((2, 2, 4), np.uint8)}


@pytest.fixture
def pipeline():
    with Pipeline(VERTEX, FRAGMENT) as made:
        yield made
    settle()


@pytest.mark.parametrize("method", ["run", "run_hardware"])
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"attributes": TRIANGLE | {"uv": np.zeros((4, 2))}}, ShapeError, "unequal lengths: position 3, uv 4"),
        ({"attributes": {"position": TRIANGLE["position"]}}, GpgpuError, "reads the attribute 'uv', which was not given"),
        ({"attributes": TRIANGLE | {"uv": np.zeros((3, 3))}}, ShapeError, "uv has 2 components in the shader"),
        ({"indices": [0, 1, 3]}, ShapeError, "index 3 at position 2 is outside the 3 vertices"),
        ({"indices": [0, 1, -1]}, ShapeError, "index -1 at position 2"),
        ({"indices": [0.0, 1.0, 2.0]}, DTypeError, "indices are integers"),
        ({"uniforms": UNIFORMS | {"mpv": np.eye(4)}}, GpgpuError, "'mpv' is declared by neither shader; they declare image, mvp"),
        ({"uniforms": UNIFORMS | {"mvp": np.eye(3)}}, ShapeError, "mvp is 1 x a matrix of 4 rows and 4 columns"),
        ({"uniforms": {"mvp": np.eye(4)}}, GpgpuError, "sampler image has no texture"),
        ({"size": (0, 4)}, ShapeError, "0 x 4"),
        ({"size": (100_000, 4)}, ShapeError, "100000 x 4 pixels cannot be emulated; sides go from 1 to 8192"),
        ({"size": "big"}, ShapeError, "give (width, height)"),
        ({"size": (8.5, 8)}, ShapeError, "in whole pixels"),
        ({"uniforms": UNIFORMS | {"mvp": "one"}}, DTypeError, "uniform mvp holds numbers; the value is 'one'"),
        ({"instances": 0}, ShapeError, "instances is 0"),
    ],
)  # fmt: skip
def test_bad_input_is_named(pipeline, method, change, error, message):
    arguments = {"attributes": TRIANGLE, "uniforms": UNIFORMS, "size": (8, 8)} | change
    with pytest.raises(error) as found:
        getattr(pipeline, method)(**arguments)
    assert message in str(found.value)


def test_after_an_error_the_pipeline_goes_on(pipeline):
    with pytest.raises(ShapeError):
        pipeline.run(TRIANGLE, indices=[9], uniforms=UNIFORMS, size=(8, 8))
    assert pipeline.run(TRIANGLE, uniforms=UNIFORMS, size=(8, 8)).overdraw.numpy().sum() > 20


def test_a_syntax_error_leads_to_the_users_line(tmp_path):
    file = tmp_path / "broken.frag"
    file.write_text(FRAGMENT.replace("texture(image, at)", "texture(image, wrong)"))
    with pytest.raises(ShaderError) as found:
        Pipeline(VERTEX, file)
    assert f"{file}:6" in str(found.value)
    with pytest.raises(ShaderError, match="vertex:7"):
        Pipeline(VERTEX.replace("mvp * position", "mvp * positio"), FRAGMENT)


def test_a_varying_that_is_not_written_is_named():
    with pytest.raises(ShaderError) as found:
        Pipeline(VERTEX, FRAGMENT.replace("in vec2 at", "in vec2 there").replace("image, at", "image, there"))
    expected = "fragment:3: the fragment shader reads vec2 there, which the vertex shader vertex does not write; it writes at"
    assert expected in str(found.value)
    with pytest.raises(ShaderError, match="reads vec3 at, which vertex:5 declares as vec2"):
        Pipeline(VERTEX, FRAGMENT.replace("in vec2 at", "in vec3 at").replace("image, at", "image, at.xy"))


def test_files_and_versions():
    with pytest.raises(FileError, match=r"no_such\.vert"):
        Pipeline("no_such.vert", FRAGMENT)
    with pytest.raises(ShaderError, match="does not declare version 330"):
        Pipeline(VERTEX.replace("330", "120"), FRAGMENT)
    with pytest.raises(GpgpuError, match="gl_SampleID is not emulated"):
        Pipeline(VERTEX, FRAGMENT.replace("330", "400").replace("at);", "at) * float(gl_SampleID);"))
    with pytest.raises(GpgpuError, match="fragment:3: at is a sample input, and sample shading is not emulated"):
        Pipeline(VERTEX, FRAGMENT.replace("330", "400").replace("in vec2 at", "sample in vec2 at"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: State.of(culling="back"), "no state 'culling'"),
        (lambda: State(cull="bakc"), "cull is 'bakc'"),
        (lambda: State(depth_test="<"), "choose one of None, 'never'"),
        (lambda: State(samples=3), "samples is 3"),
        (lambda: State(color_mask="rgx"), "color_mask is 'rgx'"),
        (lambda: State(line_width=2.0), "line_width is 2.0"),
        (lambda: State(viewport=(0, 0, 20_000, 64)), "sides go up to 16384 pixels"),
        (lambda: State(viewport=(-40_000, 0, 64, 64)), "places from -32768 to 32768"),
        (lambda: Blend("alpha"), "Blend.source is 'alpha'"),
        (lambda: Stencil(fail="drop"), "Stencil.fail is 'drop'"),
        (lambda: Texture(np.zeros((2, 2)), wrap="clamp"), "Texture.wrap is 'clamp'"),
        (lambda: Texture(np.zeros((2, 2, 2, 5))).array(), "cannot have the shape"),
        (lambda: Texture(np.zeros((5, 2, 2, 3)), kind="cube").array(), "six square faces"),
    ],
)  # fmt: skip
def test_wrong_states_are_named(make, message):
    with pytest.raises(GpgpuError) as found:
        make()
    assert message in str(found.value)


def test_positions_that_are_no_numbers_are_reported(pipeline):
    bad = TRIANGLE["position"].copy()
    bad[0, 0] = np.nan
    trace = pipeline.run(TRIANGLE | {"position": bad}, uniforms=UNIFORMS, size=(8, 8))
    assert trace.dropped == 1
    assert trace.overdraw.numpy().sum() == 0


def test_the_state_of_a_pipeline_does_not_change(pipeline):
    other = pipeline.with_state(cull="front")
    assert (pipeline.state.cull, other.state.cull) == (None, "front")
    with pytest.raises(AttributeError):
        pipeline.state.cull = "back"
    assert pipeline.run(TRIANGLE, uniforms=UNIFORMS, size=(8, 8)).culled == 0
    assert other.run(TRIANGLE, uniforms=UNIFORMS, size=(8, 8)).culled == 1
    other.release()


# --- what shaders declare

DECLARATIONS = """#version 330 core
#define N 3
#if defined(GL_ES) || N < 2
in vec4 never;
#else
layout(location = 2) flat in ivec2 id; // in vec4 comment;
#endif
/* in vec4 neither; */
const int M = N * 2 - 1;
struct Light { vec3 position; float power[2]; };
uniform Light lights[N];
uniform Camera { mat4 view; vec4 eye; } camera;
noperspective in vec3 a, b[M];
in Block {
  flat vec2 uv;
  mat3 tbn;
} block;
in Open { vec4 loose; };
layout(location = 1) out vec4 second;
out vec4 first;
float f(in vec3 inner, out float other) { return inner.x; }
void main() { first = vec4(a, f(a, first.x)); }
"""


def test_declarations_are_read():
    face = parse(DECLARATIONS)
    assert (face.version, face.es) == ("330", False)
    found = {v.key: (v.type, v.array, v.interpolation, v.location, v.expression) for v in face.of("in")}
    assert found == {
        "id": ("ivec2", 0, "flat", 2, "id"), "a": ("vec3", 0, "noperspective", -1, "a"),
        "b": ("vec3", 5, "noperspective", -1, "b"), "Block.uv": ("vec2", 0, "flat", -1, "block.uv"),
        "Block.tbn": ("mat3", 0, "smooth", -1, "block.tbn"), "Open.loose": ("vec4", 0, "smooth", -1, "loose"),
    }  # fmt: skip
    assert {v.key for v in face.of("uniform")} == {"lights", "Camera.view", "Camera.eye"}
    assert [s.expression for s in face.slots(face.of("in")[4])] == ["block.tbn[0]", "block.tbn[1]", "block.tbn[2]"]
    assert outputs(read(DECLARATIONS, "fragment")) == [("first", 0, "float"), ("second", 1, "float")]


def test_the_wrapped_text_keeps_every_line_and_declares_globals():
    text = body(read(DECLARATIONS, "fragment"))
    lines = text.split("\n")
    assert len(lines) == len(DECLARATIONS.split("\n"))
    assert lines[12].split() == ["vec3", "a,", "b[M];"]
    assert lines[13].startswith("struct Block {")
    assert lines[14].split() == ["vec2", "uv;"]
    assert lines[17].strip() == "vec4 loose;"
    assert "void em_main()" in lines[-2]


# --- the smallest draws


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    ("change", "covered"),
    [
        ({"indices": []}, 0),
        ({"indices": [0, 1]}, 0),
        ({"attributes": {"position": np.zeros((0, 4)), "uv": np.zeros((0, 2))}}, 0),
        ({"attributes": TRIANGLE | {"position": TRIANGLE["position"] + [5, 0, 0, 0]}}, 0),
        ({"attributes": TRIANGLE | {"position": TRIANGLE["position"] * 0}}, 0),
        ({"size": (1, 1)}, 1),
        ({"size": (1, 9)}, 9),
        ({"size": (9, 1)}, 9),
    ],
)  # fmt: skip
def test_the_smallest_draws(path, samples, change, covered):
    white = UNIFORMS | {"image": np.full((1, 1, 4), 255, np.uint8)}
    big = TRIANGLE | {"position": np.array([[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]], np.float32)}
    arguments = {"attributes": big, "uniforms": white, "size": (8, 8)} | change
    with Pipeline(VERTEX, FRAGMENT, samples=samples, clear_color=(0.5, 0, 0, 0), depth_test="less") as made:
        trace, theirs = made.run(**arguments), made.run_hardware(**arguments)
    width, height = arguments["size"]
    assert trace.color.shape == (height, width, 4)
    np.testing.assert_array_equal(trace.color.numpy(), theirs.color.numpy())
    np.testing.assert_array_equal(trace.depth.numpy(), theirs.depth.numpy())
    assert (trace.color.numpy()[..., 1] == 1).sum() == covered
    assert bool(trace.pixel(0, 0)) == bool(covered)
    assert trace.cost().samples_passed == covered * samples
    settle()


def test_a_vertex_shader_without_attributes():
    vertex = "#version 330\nvoid main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }\n"
    fragment = "#version 330\nout vec4 color; void main() { color = vec4(1.0); }\n"
    with Pipeline(vertex, fragment) as made:
        assert (made.run({}, count=3, size=(4, 4)).color.numpy() == 1).all()
        assert (made.run_hardware({}, count=3, size=(4, 4)).color.numpy() == 1).all()
        with pytest.raises(GpgpuError, match="needs count="):
            made.run({}, size=(4, 4))
    settle()
