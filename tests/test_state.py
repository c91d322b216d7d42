"""A host application's GL state: awkward values neither change what passes compute, nor are they changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl.gl import context, state
from gpgpu_gl.gl.context import Device, raw
from gpgpu_gl.gl.raw import get_floats, get_integer64, get_integers

pytestmark = pytest.mark.gl33


@pytest.fixture
def host(device: Device) -> Iterator[moderngl.Context]:
    """A moderngl context of a host application, current and with awkward state; the default device stays as it is."""
    if device.how != "egl":
        pytest.skip("makes its host context by EGL")
    settings: dict[str, Any] = {"backend": "egl", "libegl": "libEGL.so.1", "libgl": "libGL.so.1"}
    ctx = moderngl.create_context(standalone=True, require=330, **settings)
    make_awkward(ctx)
    yield ctx
    ctx.release()
    context.use(device)


def make_awkward(ctx: moderngl.Context) -> None:
    """Sets every state that could spoil a pass, an upload or a read to a value that would, and binds objects."""
    gl = raw()
    since = ctx.version_code
    for name in state._OFF:
        gl.glEnable(getattr(gl, name))
    for name, version in state._OFF_SINCE:
        if since >= version:
            gl.glEnable(getattr(gl, name))
    for i in range(8):
        gl.glEnable(gl.GL_CLIP_DISTANCE0 + i)
        gl.glColorMaski(i, i % 2, 0, 1, 0)
        (gl.glEnablei if i % 3 else gl.glDisablei)(gl.GL_BLEND, i)
    gl.glBlendFuncSeparate(gl.GL_ZERO, gl.GL_ONE_MINUS_SRC_COLOR, gl.GL_DST_ALPHA, gl.GL_ZERO)
    gl.glEnable(gl.GL_SCISSOR_TEST)
    gl.glScissor(1, 2, 3, 4)
    gl.glViewport(5, 6, 7, 8)
    if since >= 410:
        gl.glScissorIndexed(3, 9, 10, 11, 12)
        gl.glDisablei(gl.GL_SCISSOR_TEST, 2)
        gl.glViewportIndexedf(5, 0.5, 1.5, 20.5, 30.5)
    gl.glDepthMask(False)
    gl.glDepthFunc(gl.GL_NEVER)
    gl.glStencilFunc(gl.GL_NEVER, 1, 0xFF)
    gl.glCullFace(gl.GL_FRONT_AND_BACK)
    gl.glPolygonMode(gl.GL_FRONT_AND_BACK, gl.GL_POINT)
    gl.glPolygonOffset(3.0, 4.0)
    gl.glLogicOp(gl.GL_CLEAR)
    gl.glSampleCoverage(0.0, True)
    gl.glSampleMaski(0, 0)
    gl.glClampColor(gl.GL_CLAMP_READ_COLOR, True)
    gl.glProvokingVertex(gl.GL_FIRST_VERTEX_CONVENTION)
    gl.glPrimitiveRestartIndex(0)
    gl.glClearColor(0.1, 0.2, 0.3, 0.4)
    if since >= 450:
        gl.glClipControl(gl.GL_UPPER_LEFT, gl.GL_ZERO_TO_ONE)
    for way in ("PACK", "UNPACK"):
        for name, value in {
            "SWAP_BYTES": 1, "LSB_FIRST": 1, "ROW_LENGTH": 33, "IMAGE_HEIGHT": 5, "SKIP_ROWS": 1, "SKIP_PIXELS": 2,
            "SKIP_IMAGES": 1, "ALIGNMENT": 8,
        }.items():  # fmt: skip
            gl.glPixelStorei(getattr(gl, f"GL_{way}_{name}"), value)
    bind_objects(since, ctx.mglo.default_texture_unit)


def bind_objects(since: int, uploads: int) -> None:
    """Binds textures, samplers, buffers, a framebuffer and a vertex array of the host's own.

    uploads: the texture unit that moderngl uploads through.
    """
    gl = raw()
    for unit in (0, 3, 15, uploads):
        gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
        for target in (gl.GL_TEXTURE_2D, gl.GL_TEXTURE_2D_ARRAY, gl.GL_TEXTURE_2D_MULTISAMPLE):
            gl.glBindTexture(target, gl.glGenTextures(1))
        sampler = gl.glGenSamplers(1)
        gl.glSamplerParameteri(sampler, gl.GL_TEXTURE_WRAP_S, gl.GL_MIRRORED_REPEAT)
        gl.glSamplerParameteri(sampler, gl.GL_TEXTURE_MIN_FILTER, gl.GL_LINEAR_MIPMAP_LINEAR)  # without mipmaps: black
        gl.glBindSampler(unit, sampler)
    gl.glActiveTexture(gl.GL_TEXTURE0 + 7)
    for target in (
        gl.GL_PIXEL_PACK_BUFFER, gl.GL_PIXEL_UNPACK_BUFFER, gl.GL_ARRAY_BUFFER, gl.GL_COPY_READ_BUFFER,
        gl.GL_COPY_WRITE_BUFFER,
    ):  # fmt: skip
        gl.glBindBuffer(target, gl.glGenBuffers(1))
        gl.glBufferData(target, 65536, None, gl.GL_STATIC_DRAW)
    uniform = gl.glGenBuffers(1)
    gl.glBindBuffer(gl.GL_UNIFORM_BUFFER, uniform)
    gl.glBufferData(gl.GL_UNIFORM_BUFFER, 65536, None, gl.GL_STATIC_DRAW)
    gl.glBindBufferBase(gl.GL_UNIFORM_BUFFER, 0, uniform)
    gl.glBindBufferRange(gl.GL_UNIFORM_BUFFER, 2, uniform, 256, 512)
    gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, gl.glGenRenderbuffers(1))
    gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, gl.glGenFramebuffers(1))
    gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, gl.glGenFramebuffers(1))
    gl.glBindVertexArray(gl.glGenVertexArrays(1))
    if since >= 420:
        texture = gl.glGenTextures(1)
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        gl.glTexStorage2D(gl.GL_TEXTURE_2D, 2, gl.GL_RGBA16F, 8, 8)
        gl.glBindImageTexture(1, texture, 1, False, 0, gl.GL_READ_WRITE, gl.GL_RGBA16F)


# What the dump reads besides the rows of state.ROWS: integers by name and number of values.
DUMP = {
    "GL_ACTIVE_TEXTURE": 1, "GL_ARRAY_BUFFER_BINDING": 1, "GL_BLEND_DST_ALPHA": 1, "GL_BLEND_DST_RGB": 1,
    "GL_BLEND_EQUATION_ALPHA": 1, "GL_BLEND_EQUATION_RGB": 1, "GL_BLEND_SRC_ALPHA": 1, "GL_BLEND_SRC_RGB": 1,
    "GL_CLAMP_READ_COLOR": 1, "GL_COLOR_CLEAR_VALUE": 4, "GL_COLOR_WRITEMASK": 4, "GL_CULL_FACE_MODE": 1,
    "GL_CURRENT_PROGRAM": 1, "GL_DEPTH_CLEAR_VALUE": 1, "GL_DEPTH_FUNC": 1, "GL_DEPTH_RANGE": 2,
    "GL_DEPTH_WRITEMASK": 1, "GL_DRAW_FRAMEBUFFER_BINDING": 1, "GL_ELEMENT_ARRAY_BUFFER_BINDING": 1,
    "GL_FRONT_FACE": 1, "GL_LINE_WIDTH": 1, "GL_LOGIC_OP_MODE": 1, "GL_PACK_ALIGNMENT": 1, "GL_PACK_IMAGE_HEIGHT": 1,
    "GL_PACK_LSB_FIRST": 1, "GL_PACK_ROW_LENGTH": 1, "GL_PACK_SKIP_IMAGES": 1, "GL_PACK_SKIP_PIXELS": 1,
    "GL_PACK_SKIP_ROWS": 1, "GL_PACK_SWAP_BYTES": 1, "GL_PIXEL_PACK_BUFFER_BINDING": 1,
    "GL_PIXEL_UNPACK_BUFFER_BINDING": 1, "GL_POINT_SIZE": 1, "GL_POLYGON_MODE": 1, "GL_POLYGON_OFFSET_FACTOR": 1,
    "GL_POLYGON_OFFSET_UNITS": 1, "GL_PRIMITIVE_RESTART_INDEX": 1, "GL_PROVOKING_VERTEX": 1,
    "GL_READ_FRAMEBUFFER_BINDING": 1, "GL_RENDERBUFFER_BINDING": 1, "GL_SAMPLE_COVERAGE_INVERT": 1,
    "GL_SAMPLE_COVERAGE_VALUE": 1, "GL_SCISSOR_BOX": 4, "GL_STENCIL_BACK_FUNC": 1, "GL_STENCIL_FUNC": 1,
    "GL_STENCIL_WRITEMASK": 1, "GL_TRANSFORM_FEEDBACK_BUFFER_BINDING": 1, "GL_UNIFORM_BUFFER_BINDING": 1,
    "GL_UNPACK_ALIGNMENT": 1, "GL_UNPACK_IMAGE_HEIGHT": 1, "GL_UNPACK_LSB_FIRST": 1, "GL_UNPACK_ROW_LENGTH": 1,
    "GL_UNPACK_SKIP_IMAGES": 1, "GL_UNPACK_SKIP_PIXELS": 1, "GL_UNPACK_SKIP_ROWS": 1, "GL_UNPACK_SWAP_BYTES": 1,
    "GL_VERTEX_ARRAY_BINDING": 1, "GL_VIEWPORT": 4,
}  # fmt: skip
CAPABILITIES = (
    "GL_BLEND", "GL_COLOR_LOGIC_OP", "GL_CULL_FACE", "GL_DEPTH_CLAMP", "GL_DEPTH_TEST", "GL_DITHER",
    "GL_FRAMEBUFFER_SRGB", "GL_LINE_SMOOTH", "GL_MULTISAMPLE", "GL_POLYGON_OFFSET_FILL", "GL_POLYGON_OFFSET_LINE",
    "GL_POLYGON_OFFSET_POINT", "GL_POLYGON_SMOOTH", "GL_PRIMITIVE_RESTART", "GL_PROGRAM_POINT_SIZE",
    "GL_RASTERIZER_DISCARD", "GL_SAMPLE_ALPHA_TO_COVERAGE", "GL_SAMPLE_ALPHA_TO_ONE", "GL_SAMPLE_COVERAGE",
    "GL_SAMPLE_MASK", "GL_SCISSOR_TEST", "GL_STENCIL_TEST", "GL_TEXTURE_CUBE_MAP_SEAMLESS",
)  # fmt: skip
TEXTURE_BINDINGS = (
    "GL_TEXTURE_BINDING_1D", "GL_TEXTURE_BINDING_2D", "GL_TEXTURE_BINDING_3D", "GL_TEXTURE_BINDING_2D_ARRAY",
    "GL_TEXTURE_BINDING_CUBE_MAP", "GL_TEXTURE_BINDING_RECTANGLE", "GL_TEXTURE_BINDING_BUFFER",
    "GL_TEXTURE_BINDING_2D_MULTISAMPLE", "GL_SAMPLER_BINDING",
)  # fmt: skip


def dump(ctx: moderngl.Context) -> dict[str, Any]:
    """All the GL state that can be read in a few lines, whether our code knows of it or not."""
    gl = raw()
    since = ctx.version_code
    found: dict[str, Any] = {name: get_floats(getattr(gl, name), count) for name, count in DUMP.items()}
    found |= {name: bool(gl.glIsEnabled(getattr(gl, name))) for name in CAPABILITIES}
    for i in range(8):
        found[f"clip distance {i}"] = bool(gl.glIsEnabled(gl.GL_CLIP_DISTANCE0 + i))
        found[f"color mask {i}"] = get_integers(gl.GL_COLOR_WRITEMASK, 4, i)
        found[f"blend {i}"] = bool(gl.glIsEnabledi(gl.GL_BLEND, i))
        found[f"uniform buffer {i}"] = (
            get_integers(gl.GL_UNIFORM_BUFFER_BINDING, 1, i),
            get_integer64(gl.GL_UNIFORM_BUFFER_START, i),
            get_integer64(gl.GL_UNIFORM_BUFFER_SIZE, i),
        )
        if since >= 420:
            for name in ("NAME", "LEVEL", "LAYERED", "LAYER", "ACCESS", "FORMAT"):
                found[f"image {name} {i}"] = get_integers(getattr(gl, f"GL_IMAGE_BINDING_{name}"), 1, i)
    for i in range(16 if since >= 410 else 0):
        found[f"viewport {i}"] = get_floats(gl.GL_VIEWPORT, 4, i)
        found[f"scissor box {i}"] = get_integers(gl.GL_SCISSOR_BOX, 4, i)
        found[f"scissor test {i}"] = bool(gl.glIsEnabledi(gl.GL_SCISSOR_TEST, i))
    if since >= 450:
        found["clip control"] = get_integers(gl.GL_CLIP_ORIGIN), get_integers(gl.GL_CLIP_DEPTH_MODE)
    (active,) = get_integers(gl.GL_ACTIVE_TEXTURE)
    for unit in range(get_integers(gl.GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS)[0]):
        gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
        found |= {f"{name} {unit}": get_integers(getattr(gl, name))[0] for name in TEXTURE_BINDINGS}
    gl.glActiveTexture(active)
    return found


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def test_the_host_is_awkward(host: moderngl.Context, device: Device) -> None:
    """Guards the tests below: almost every row differs from what passes need, and nothing is in error."""
    assert host.error == "GL_NO_ERROR"
    rows = state.rows(host.version_code, host.mglo.default_texture_unit)
    needed = {row.name for row in rows if row.needed is not None}
    awkward = {row.name for row in rows if row.needed is not None and row.get() != row.needed}
    alike = {f"GL_TEXTURE{i}" for i in range(1, 15)} | {"GL_BLEND[0]", "GL_BLEND[3]", "GL_BLEND[6]", "GL_SCISSOR_TEST[2]"}
    assert needed - awkward <= alike


def test_inside_the_state_is_what_passes_need(host: moderngl.Context) -> None:
    rows = state.rows(host.version_code, host.mglo.default_texture_unit)
    with state.saved_state(host):
        wrong = {row.name: row.get() for row in rows if row.needed is not None and row.get() != row.needed}
    assert not wrong


def test_a_host_finds_its_state_as_it_was(host: moderngl.Context) -> None:
    context.use(host)
    before = dump(host)
    values = np.arange(35, dtype=np.float32).reshape(5, 7)
    np.testing.assert_array_equal(gg.tensor(values).numpy(), values)
    assert not changes(before, dump(host))
    assert host.error == "GL_NO_ERROR"


def compute() -> list[np.ndarray]:
    """Every kind of pass that operators make, on recycled textures too: pointwise, product, reductions, gathers."""
    generator = np.random.default_rng(3)
    a, b, c = (gg.tensor(generator.standard_normal(shape, np.float32)) for shape in ((37, 19), (19, 23), (23,)))
    found = []
    for _ in range(2):
        y = gg.exp(gg.tanh(a @ b + c))
        found += [y, y.sum(axis=0), y.max(), gg.concat([y, y], axis=1), gg.argmax(y, axis=1), y > 1.0]
    return [tensor.numpy() for tensor in found]


def test_awkward_state_changes_no_result_and_is_not_changed(host: moderngl.Context, device: Device) -> None:
    context.use(device)
    expected = {}  # what an undisturbed context computes
    chosen = device.path
    for path in device.paths:
        device.path = path
        expected[path] = compute()
    device.path = chosen
    host.__enter__()
    hosted = context.use(host)
    before = dump(host)
    assert hosted.paths == device.paths
    for path in hosted.paths:
        hosted.path = path
        for got, want in zip(compute(), expected[path], strict=True):
            np.testing.assert_array_equal(got, want)  # the same programs on the same device: bit for bit
        assert not changes(before, dump(host))
    hosted.check()


def test_counting_fetches_leaves_a_hosts_state(host: moderngl.Context) -> None:
    hosted = context.use(host)
    x = gg.tensor(np.ones((16, 16), np.float32))
    before = dump(host)
    for path in hosted.paths:
        hosted.path = path
        with gg.profile() as p:
            y = gg.exp(x @ x)
        assert all(e.fetches for e in p.entries)
        assert not changes(before, dump(host))
        np.testing.assert_allclose(y.numpy(), np.exp(16.0), rtol=1e-6)  # exp promises 4 units in the last place
    hosted.check()


def test_state_comes_back_after_an_error(host: moderngl.Context) -> None:
    before = dump(host)
    with pytest.raises(KeyError), state.saved_state(host):
        raise KeyError("in the middle of a pass")
    assert not changes(before, dump(host))


def test_moderngl_still_knows_the_hosts_framebuffer(host: moderngl.Context) -> None:
    ours = host.simple_framebuffer((4, 4))
    theirs = host.simple_framebuffer((8, 8))
    theirs.use()
    with state.saved_state(host):
        ours.use()
    assert host.fbo is theirs
    assert host.viewport == (0, 0, 8, 8)
    host.clear(1.0, 0.0, 0.0, 1.0)
    assert get_integers(raw().GL_DRAW_FRAMEBUFFER_BINDING)[0] == theirs.glo


def test_an_error_that_the_host_left_is_not_taken_for_ours(host: moderngl.Context) -> None:
    device = context.use(host)
    host.enable_direct(0x1234)
    with pytest.warns(RuntimeWarning, match="host application left.*GL_INVALID_ENUM"), device.hosted_state():
        pass
    device.check()


def test_kept_state_nests_at_no_cost(host: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    device = context.use(host)
    saves = []
    original = state.saved_state
    monkeypatch.setattr(context, "saved_state", lambda ctx: saves.append(ctx) or original(ctx))
    with device.hosted_state(), device.hosted_state():
        pass
    with device.hosted_state():
        pass
    assert len(saves) == 2


def test_a_context_of_our_own_is_left_alone(device: Device) -> None:
    before = dump(device.ctx)
    with device.hosted_state():
        device.ctx.enable_direct(raw().GL_BLEND)
    assert raw().glIsEnabled(raw().GL_BLEND)
    device.ctx.disable_direct(raw().GL_BLEND)
    assert not changes(before, dump(device.ctx))
