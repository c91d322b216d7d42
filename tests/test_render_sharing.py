"""Tensors as textures and pictures as tensors, without a copy; picking; effects; a host's context."""


import moderngl
import numpy as np
import pytest
from pipeline_rig import settle
from render_help import released  # noqa: F401
from test_state import changes, dump, host  # noqa: F401

import gpgpu_gl as gg
from gpgpu_gl import render as R
from gpgpu_gl.errors import GpgpuError, ShapeError
from gpgpu_gl.gl import context
from gpgpu_gl.pipeline.scenes import scenes
from gpgpu_gl.render import post


def front(height=2.0):
    return R.OrthographicCamera(height=height, position=(0, 0, 5), near=1, far=10)


@pytest.fixture
def copies(monkeypatch):
    """Bytes that go to and from the host, by call, while the test runs."""
    found = {"read": 0, "written": 0}

    def reading(cls, name):
        original = getattr(cls, name)

        def read(self, *args, **kwargs):
            found["read"] += 1
            return original(self, *args, **kwargs)

        monkeypatch.setattr(cls, name, read)

    for cls, names in {
        moderngl.Texture: ("read", "read_into"),
        moderngl.Framebuffer: ("read", "read_into"),
        moderngl.Buffer: ("read", "read_into"),
    }.items():
        for name in names:
            reading(cls, name)
    write = moderngl.Texture.write

    def writing(self, data, *args, **kwargs):
        found["written"] += memoryview(data).nbytes
        return write(self, data, *args, **kwargs)

    monkeypatch.setattr(moderngl.Texture, "write", writing)
    return found


def test_tensor_to_texture_to_tensor_stays_on_the_device(path, copies):
    side = 64
    x = gg.tensor(np.random.default_rng(0).random((side, side, 4), np.float32))
    quad = R.Mesh(R.shapes.quad(2, 2), R.UnlitMaterial(map=R.Texture(x, smooth=False, wrap="clamp"), vertex_colors=False))
    scene = R.Scene([quad, front()])
    R.tensor(scene, side, side, samples=0)  # programs, buffers and the small table of nodes are made here
    copies.update(read=0, written=0)
    y = gg.sqrt(x * 0.5 + 0.25)
    quad.material.map = R.Texture(y, smooth=False, wrap="clamp")
    picture = R.tensor(scene, side, side, samples=0)
    blurred = post.blur(picture, 1.0)
    seen = R.buffers(scene, side, side)
    total = (blurred * seen["position"][..., 3:]).sum()
    assert copies == {"read": 0, "written": copies["written"]}
    assert copies["written"] < 2000  # the kernel of the blur: no picture, which is 65,536 bytes
    expected = np.sqrt(x.numpy() * 0.5 + 0.25)
    assert copies["read"] == 1
    expected[..., 3] = 1  # an opaque surface
    assert np.abs(picture.numpy() - expected).max() < 1e-6
    assert np.isfinite(total.item())


def test_the_picture_is_the_texture_that_was_drawn_into():
    found = R.tensor(R.Scene([front()], background=(0.25, 0.5, 0.75)), 20, 10, samples=4)
    assert found.texture.size == (20, 10)
    assert found.shape == (10, 20, 4)
    assert np.abs(found.numpy() - (0.25, 0.5, 0.75, 1)).max() < 1e-6
    half = R.tensor(R.Scene([front()], background=0.5), 20, 10, dtype=np.float16)
    assert half.dtype == np.float16


def test_points_and_instances_take_tensors(path):
    place = gg.tensor([[-0.5, 0.5, 0.0], [0.5, -0.5, 0.0]]) * 1.0  # computed on the device
    points = R.Points(place, colors=gg.tensor([[1.0, 0, 0, 1], [0, 1.0, 0, 1]]), size=4, round=False)
    found = R.tensor(R.Scene([points, front()], background=0.0), 16, 16, samples=0).numpy()
    assert (found[4, 4, :3] == (1, 0, 0)).all()
    assert (found[12, 12, :3] == (0, 1, 0)).all()
    matrices = R.transform.translate(place) @ R.transform.scale(gg.tensor([0.5, 0.5, 0.5]))
    cubes = R.InstancedMesh(R.shapes.cube(1.0), matrices, R.UnlitMaterial(), colors=[[1, 0, 0], [0, 1, 0]])
    found = R.buffers(R.Scene([cubes, front()]), 16, 16)
    ids = found["id"].numpy()
    assert (found["color"].numpy()[4, 4, :3] == (1, 0, 0)).all()
    assert tuple(ids[4, 4, ::2]) == (1, 0)
    assert tuple(ids[12, 12, ::2]) == (1, 1)
    assert ids[4, 12, 0] == 0


def test_device_and_host_agree_on_matrices(path):
    from gpgpu_gl.render.gpu import gpu
    from gpgpu_gl.render.table import Table

    a = R.Group(translation=(1, 2, 3), scale=(1, 2, 0.5)).rotate((0, 1, 1), 0.7)
    b = R.Group(translation=(1, -2, 3)).rotate((1, 0, 0), 0.4)
    cameras = [R.PerspectiveCamera(position=(1, 2, 5), target=(0, 0, 0)), R.OrthographicCamera(height=3, position=(0, 4, 1))]
    a.add(b.add(*cameras))
    for camera in cameras:
        table = Table()
        table.slot(b)
        table.camera(camera, 1.5)
        gpu().matrices.clear()
        found = table.matrices(gpu(), (1.0, 1.0, 0.0, 0.0)).numpy()
        assert np.abs(found[1, :4] - b.world_matrix()).max() < 1e-5
        assert np.abs(found[1, 4:7, :3] - np.linalg.inv(b.world_matrix()[:3, :3]).T).max() < 1e-5
        assert np.abs(found[-1, :4] - camera.projection(1.5) @ camera.view()).max() < 1e-4  # entries up to 100
        assert np.abs(found[-1, 4:] - camera.view()).max() < 1e-5


# --- picking


def test_pick_gives_object_primitive_weights_and_place():
    quad = R.Mesh(R.shapes.quad(1, 1), translation=(0.25, 0.5, 1.0), scale=(0.5, 1, 1))
    behind = R.Mesh(R.shapes.quad(9, 9), translation=(0, 0, -2), name="wall")
    scene = R.Scene([R.Group([quad], translation=(0.25, 0, 0)), behind, front()])
    hit = R.pick(scene, 150, 60, 200, 200)
    assert hit.node is quad
    assert np.abs(hit.position - (0.505, 0.395, 1)).max() < 1e-5  # the pixel's centre
    assert abs(hit.distance - 4) < 1e-5
    corners = quad.geometry.positions[quad.geometry.indices[hit.primitive]] * (0.5, 1, 1) + (0.5, 0.5, 1)
    assert np.abs(hit.barycentrics @ corners - hit.position).max() < 1e-5
    assert R.pick(scene, 10, 190, 200, 200).node is behind
    behind.visible = False
    assert R.pick(scene, 10, 190, 200, 200) is None
    with pytest.raises(GpgpuError, match=r"pixel \(200, 0\) is outside of a picture of 200 x 200"):
        R.pick(scene, 200, 0, 200, 200)


def test_pick_instances_points_and_lines():
    places = [np.eye(4) for _ in range(3)]
    for n, m in enumerate(places):
        m[:3, 3] = (n - 1) * 0.7, 0, 0
    cubes = R.InstancedMesh(R.shapes.cube(0.5), places)
    points = R.Points([[0, 0.8, 0], [0.5, 0.8, 0]], size=8)
    lines = R.Lines([[-1, -0.8, 0], [0, -0.8, 0], [1, -0.8, 0]], size=6)
    scene = R.Scene([cubes, points, lines, front()])
    hit = R.pick(scene, 85, 50, 100, 100)
    assert (hit.node, hit.instance) == (cubes, 2)
    assert np.abs(hit.position - (0.71, -0.01, 0.25)).max() < 1e-5
    assert np.abs(hit.barycentrics.sum() - 1) < 1e-6
    hit = R.pick(scene, 76, 12, 100, 100)  # beside the point's centre, on its disc
    assert (hit.node, hit.primitive, hit.barycentrics) == (points, 1, None)
    hit = R.pick(scene, 80, 90, 100, 100)
    assert (hit.node, hit.primitive) == (lines, 1)


# --- effects


def test_convolve_and_blur_agree_with_scipy(path):
    from scipy import ndimage

    picture = np.random.default_rng(1).random((21, 33, 4), np.float32)
    kernel = np.array([[0, 1, 2], [-1, 3, 0.5], [0.25, 0, -2]])
    found = post.convolve(gg.tensor(picture), kernel).numpy()
    expected = ndimage.correlate(picture, kernel[:, :, None], mode="constant")
    assert np.abs(found - expected).max() < 1e-5
    weight = ndimage.gaussian_filter(np.ones((21, 33)), 2.0, mode="constant", truncate=3.0)
    expected = ndimage.gaussian_filter(picture, (2.0, 2.0, 0), mode="constant", truncate=3.0) / weight[..., None]
    assert np.abs(post.blur(gg.tensor(picture), 2.0).numpy() - expected).max() < 1e-5
    even = post.blur(gg.full((9, 9, 3), 0.7), 3.0).numpy()
    assert np.abs(even - 0.7).max() < 1e-6  # the border does not darken


def test_bloom_edges_and_focus():
    spot = np.zeros((31, 31, 4), np.float32)
    spot[15, 15] = 5
    glow = post.bloom(gg.tensor(spot), threshold=1, sigma=2, strength=0.5).numpy()
    k = post.gaussian(2.0)
    assert glow[15, 15, 0] == pytest.approx(5 + 0.5 * 4 * k.max() ** 2, abs=1e-5)
    assert glow[15, 18, 0] == pytest.approx(0.5 * 4 * k.max() * k[len(k) // 2 + 3], abs=1e-5)
    step = np.zeros((8, 8, 1), np.float32)
    step[:, 4:] = 1
    edge = post.edges(gg.tensor(step)).numpy()[2:6, :, 0]
    assert (edge[:, 3:5] == 4).all()
    assert (edge[:, 1:3] == 0).all()
    picture = np.random.default_rng(0).random((16, 16, 4), np.float32)
    sharp = post.depth_of_field(gg.tensor(picture), gg.full((16, 16, 1), 3.0), focus=3.0).numpy()
    assert np.abs(sharp - picture).max() < 1e-6
    soft = post.depth_of_field(gg.tensor(picture), gg.full((16, 16, 1), 9.0), focus=3.0, aperture=3).numpy()
    assert soft.std() < 0.6 * picture.std()


def test_occlusion_darkens_corners_and_outline_draws_edges():
    cube = R.Mesh(R.shapes.cube(1), R.UnlitMaterial())
    wall = R.Mesh(R.shapes.quad(4, 4), R.UnlitMaterial(), translation=(0, 0, -0.5))
    scene = R.Scene([cube, wall, R.OrthographicCamera(height=3, position=(0, 0, 5))])
    seen = R.buffers(scene, 60, 60)
    shade = post.ambient_occlusion(seen["color"], seen["position"][..., 3:], radius=3).numpy()[..., 0]
    assert shade[30, 30] > 0.99  # the middle of the cube's face
    assert shade[5, 5] > 0.99  # the wall, far from the cube
    assert shade[30, 18] < 0.8  # the wall beside the cube
    ink = post.outline(scene, 60, 60).numpy()[..., 0]
    assert ink[30, 20] < 0.2
    assert ink[30, 30] > 0.9
    assert ink[5, 30] > 0.9


def test_wrong_tensors_are_refused():
    with pytest.raises(ShapeError, match=r"shape \(4, 4\), float32 is no texture"):
        R.Texture(gg.zeros((4, 4)))
    with pytest.raises(ShapeError, match="is no texture"):
        R.Texture(gg.zeros((4, 4, 4), dtype=gg.int32))
    with pytest.raises(ShapeError, match=r"positions need floats \(n, 3\) or \(n, 4\)"):
        R.Points(gg.zeros((4, 2)))
    with pytest.raises(ShapeError, match=r"instances need matrices \(n, 4, 4\)"):
        R.InstancedMesh(R.shapes.cube(), gg.zeros((3, 3)))
    with pytest.raises(GpgpuError, match="cannot be a tensor of int32"):
        R.tensor(R.Group(), 4, 4, dtype=np.int32)


def test_rendering_is_refused_while_a_call_is_recorded():
    with pytest.raises(gg.GpgpuError, match="rendering a scene"):
        gg.compile(lambda x: x + R.tensor(R.Group(), 4, 4)[0, 0, 0])(gg.ones((2,)))


# --- in a host's context


def everything():
    """A scene that takes every path through the renderer."""
    board = (np.indices((8, 8)).sum(axis=0) % 2 * 200).astype(np.uint8)
    sun = R.DirectionalLight(position=(1, 3, 2), shadow=True, shadow_size=256)
    scene = R.Scene(environment=R.Environment.gradient(), sky=True, fog=R.Fog(density=0.01))
    scene.add(R.Mesh(R.shapes.plane(6, 6), R.LambertMaterial(map=board)), sun)
    ring = R.Mesh(R.shapes.torus(), R.StandardMaterial("gold", metallic=1.0), translation=(0, 1, 0))
    scene.add(ring, R.Mesh(R.shapes.cube(), R.PhongMaterial(opacity=0.5, double_sided=True), translation=(1, 0.5, 1)))
    scene.add(R.Points([[0, 2, 0]], size=6), R.Lines([[-2, 0, 2], [2, 1, 2]]), R.Mesh(R.shapes.cube(), R.WireframeMaterial()))
    scene.outlined = [ring]
    scene.add(R.PerspectiveCamera(position=(2, 3, 6), target=(0, 0.5, 0)))
    return scene


def test_a_host_finds_its_state_as_it_was_and_gets_the_same_pictures(host, device):  # noqa: F811
    context.use(device)
    expected = R.image(everything(), 48, 32).array.astype(int)
    R.release()
    host.__enter__()
    context.use(host)
    faces, offset = (host.front_face, host.cull_face), host.polygon_offset
    before = dump(host)
    scene = everything()
    for samples in (0, 4):
        found = R.image(scene, 48, 32, samples=samples).array.astype(int)
        assert not changes(before, dump(host))
    assert np.abs(found - expected).max() <= 1  # the same device: only the order of rounding may differ
    light = R.tensor(scene, 48, 32)
    assert not changes(before, dump(host))
    assert np.isfinite(light.numpy()).all()
    assert R.pick(scene, 24, 16, 48, 32) is not None
    R.picture(light)
    R.release()
    assert not changes(before, dump(host))
    assert (host.front_face, host.cull_face, host.polygon_offset) == (*faces, offset)
    assert host.error == "GL_NO_ERROR"


def test_the_pipeline_on_the_hardware_is_unmoved_by_shadows(device):
    """What shadow maps are drawn with must not stay on: an offset of lines alone moves triangles on some devices."""
    scene = next(s for s in scenes() if s.name == "depth less")
    before = scene.rasterise()
    R.image(everything(), 48, 32)
    after = scene.rasterise()
    np.testing.assert_array_equal(after.depth.numpy(), before.depth.numpy())
    np.testing.assert_array_equal(after.colors[0].numpy(), before.colors[0].numpy())
    settle()


def test_a_broken_shader_is_explained(monkeypatch, tmp_path):
    from shader_files import write

    from gpgpu_gl.errors import ShaderError
    from gpgpu_gl.gl import source
    from gpgpu_gl.render.gpu import gpu

    root = write(
        tmp_path,
        {
            "render/v.glsl": "void main() { gl_Position = vec4(0.0); }\n",
            "render/f.glsl": '#include "lib/bad.glsl"\nout vec4 o;\nvoid main() { o = bad(); }\n',
            "lib/bad.glsl": "// one\nvec4 bad() { return nothing; }\n",
        },
    )
    monkeypatch.setattr(source, "shader_root", lambda: root)
    with pytest.raises(ShaderError, match=r"lib/bad.glsl:2") as caught:
        gpu().program("v", "f", {})
    assert "the shaders v and f do not compile" in str(caught.value)


