"""Pictures whose every pixel is known: shading, perspective, coverage, blending, sRGB, mipmaps, shadows."""

import sys

import numpy as np
import pytest
from render_help import released  # noqa: F401

from gpgpu_gl import render as R
from gpgpu_gl.render.color import encode

SIZE = 128


def display(linear):
    return np.round(255 * encode(np.asarray(linear))).astype(int)


def front(height=2.0, **more):
    return R.OrthographicCamera(height=height, position=(0, 0, 5), near=1, far=10, **more)


def grid(size):
    """x and y of the pixel centres, from -1 to 1, y up, first row at the top."""
    at = (np.arange(size) + 0.5) / size * 2 - 1
    return np.meshgrid(at, -at)


def test_sphere_has_the_analytic_shading():
    light = np.array([0.4, 0.5, 0.7]) / np.linalg.norm([0.4, 0.5, 0.7])
    sphere = R.Mesh(R.shapes.sphere(0.9, 256, 128), R.LambertMaterial(color=0.8))
    scene = R.Scene([sphere, R.DirectionalLight(position=light), R.AmbientLight(intensity=0.1), front()], background=None)
    found = R.image(scene, SIZE, SIZE, samples=0).array.astype(int)
    x, y = grid(SIZE)
    inside = x**2 + y**2 < (0.9 * 0.995) ** 2  # where the triangles' outline and the circle cannot differ
    z = np.sqrt(np.maximum(0.81 - x**2 - y**2, 0))
    lit = 0.8 * (0.1 + np.maximum(np.stack([x, y, z], axis=2) / 0.9 @ light, 0))
    assert inside.sum() > 9000
    assert (found[..., 3] == 255)[inside].all()
    assert np.abs(found[..., 0] - display(lit))[inside].max() <= 1


def test_phong_highlight_is_where_it_belongs():
    light = np.array([0.4, 0.5, 0.7]) / np.linalg.norm([0.4, 0.5, 0.7])
    sphere = R.Mesh(R.shapes.sphere(0.9, 256, 128), R.PhongMaterial(color=0.0, specular=0.9, shininess=30))
    camera = R.PerspectiveCamera(fov_y=20, position=(0, 0, 8), near=1, far=20)
    found = R.tensor(R.Scene([sphere, R.DirectionalLight(position=light), camera], background=None), SIZE, SIZE, samples=0).numpy()
    x, y = grid(SIZE)
    t = np.tan(np.radians(10))
    ray = np.stack([x * t, y * t, -np.ones_like(x)], axis=2)
    ray /= np.linalg.norm(ray, axis=2, keepdims=True)
    b = 8 * ray[..., 2]
    square = b**2 - (64 - 0.81)
    hit = square > 0.05
    p = (-b - np.sqrt(np.maximum(square, 0)))[..., None] * ray + (0, 0, 8)
    n, h = p / 0.9, light - ray
    h /= np.linalg.norm(h, axis=2, keepdims=True)
    shine = np.where(n @ light > 0, 0.9 * np.maximum((n * h).sum(axis=2), 0) ** 30, 0)
    assert hit.sum() > 4000
    assert np.abs(found[..., 0] - shine)[hit].max() < 1 / 255


def test_checker_floor_is_where_rays_meet_the_plane():
    board = (np.indices((16, 16)).sum(axis=0) % 2 * 255).astype(np.uint8)
    texture = R.Texture(board, smooth=False, mipmaps=False)
    eye, target = np.array([1.0, 2.0, 6.0]), np.array([0.2, 0.0, 0.5])
    camera = R.PerspectiveCamera(fov_y=50, position=eye, target=target)
    scene = R.Scene([R.Mesh(R.shapes.plane(16, 16), R.UnlitMaterial(map=texture)), camera], background=0.2)
    found = R.image(scene, SIZE, SIZE, samples=0).array[..., 0].astype(int)
    z = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0, 1, 0), z)
    right /= np.linalg.norm(right)
    up = np.cross(z, right)
    x, y = grid(SIZE)
    t = np.tan(np.radians(25))
    ray = x[..., None] * t * right + y[..., None] * t * up - z
    with np.errstate(divide="ignore"):
        away = -eye[1] / ray[..., 1]
    p = eye + away[..., None] * ray
    floor = (away > 0.2) & (np.abs(p[..., 0]) < 8) & (np.abs(p[..., 2]) < 8)
    cell = np.floor(p[..., [0, 2]] + 8)
    # float32 texture coordinates over 16 cells: a centre closer than this to an edge may fall on either side
    near_edge = (np.abs(p[..., [0, 2]] - np.round(p[..., [0, 2]])) < 1e-4 * np.maximum(1, away)[..., None]).any(axis=2)
    expected = np.where(floor, np.where(cell.sum(axis=2) % 2 == 1, 255, 0), display(0.2))
    sure = ~near_edge
    assert floor.sum() > 8000
    assert sure.mean() > 0.97
    assert (found == expected)[sure].all()


@pytest.mark.parametrize("covered", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_multisampling_averages_covered_samples_in_linear_light(device, covered):
    if device.ctx.max_samples < 4:
        pytest.skip("this device has fewer than 4 samples")
    # A white quad from the left that ends `covered` into pixel column 5, between two of the device's sample columns.
    columns = sorted(x for x, _ in sample_positions())
    edges = {0.0: 0.0, 1.0: 1.0} | {0.25 * n: (columns[n - 1] + columns[n]) / 2 for n in (1, 2, 3)}
    width = 5 + edges[covered]
    quad = R.Mesh(R.shapes.quad(width, 16), R.UnlitMaterial(), translation=(width / 2 - 8, 0, 0))
    found = R.image(R.Scene([quad, front(16)], background=0.0), 16, 16, samples=4).array[..., 0].astype(int)
    assert (found[:, :5] == 255).all()
    assert (found[:, 6:] == 0).all()
    assert np.abs(found[:, 5] - display(covered)).max() <= 1  # one step of rounding


def sample_positions():
    from gpgpu_gl.gl.raw import raw
    from gpgpu_gl.render.gpu import gpu

    gl = raw()
    with gpu().drawing():
        gpu().multisampled((16, 16), 4, "f2").use()
        return [tuple(gl.glGetMultisamplefv(gl.GL_SAMPLE_POSITION, n)) for n in range(4)]


def test_transparent_surfaces_blend_from_far_to_near():
    layers = [(0.5, (1, 0, 0), 0.5), (-1, (0, 1, 0), 0.25), (0, (0, 0, 1), 0.75)]  # z, colour, opacity; in no order
    meshes = [
        R.Mesh(R.shapes.quad(4, 4), R.UnlitMaterial(color=c, opacity=a), translation=(0, 0, z)) for z, c, a in layers
    ]
    found = R.tensor(R.Scene([*meshes, front()], background=0.5), 8, 8, samples=0).numpy()
    expected = np.array([0.5, 0.5, 0.5])
    for _, color, alpha in sorted(layers):
        expected = alpha * np.array(color) + (1 - alpha) * expected
    assert np.abs(found[..., :3] - expected).max() < 1e-6
    assert (found[..., 3] == 1).all()
    hidden = R.Mesh(R.shapes.quad(4, 4), R.UnlitMaterial(color=0.3), translation=(0, 0, 0.2))
    found = R.tensor(R.Scene([*meshes, hidden, front()]), 8, 8, samples=0).numpy()
    assert np.abs(found[..., :3] - (0.5 * np.array([1, 0, 0]) + 0.5 * 0.3)).max() < 1e-6


def test_every_srgb_value_comes_back(device):
    greys = np.arange(256, dtype=np.uint8).reshape(16, 16)
    texture = R.Texture(greys, smooth=False, mipmaps=False)
    scene = R.Scene([R.Mesh(R.shapes.quad(2, 2), R.UnlitMaterial(map=texture)), front()])
    found = R.image(scene, 16, 16, samples=0).array[..., 0].astype(int)
    assert np.abs(found - greys).max() <= (0 if device.software else 1)  # OpenGL lets conversions be off by less than 1
    linear = R.tensor(scene, 16, 16, samples=0).numpy()[..., 0]
    assert np.abs(display(linear) - greys).max() == 0


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_mipmap_level_follows_the_footprint(level):
    side = 64
    levels = [np.full((side >> n, side >> n, 4), 40 * n, np.uint8) for n in range(7)]
    texture = R.Texture(levels, srgb=False, anisotropy=1)
    pixels = side >> level  # the whole texture on so many pixels: 2^level texels for each
    scene = R.Scene([R.Mesh(R.shapes.quad(2, 2), R.UnlitMaterial(map=texture)), front()])
    found = R.tensor(scene, pixels, pixels, samples=0).numpy()[..., 0] * 255
    assert np.abs(found - 40 * level).max() < 1  # of 255: the level's fraction has eight bits at most


def test_shadow_edges_are_where_geometry_puts_them():
    # Light falls at 45 degrees along x: a plate of height 1 throws its shadow 1 further.
    plate = R.Mesh(R.shapes.plane(1, 4), R.LambertMaterial(double_sided=True), translation=(-1, 1, 0))
    light = R.DirectionalLight(position=(-1, 1, 0), shadow=True, shadow_size=1024)
    floor = R.Mesh(R.shapes.plane(6, 6), R.LambertMaterial())
    camera = R.OrthographicCamera(height=6, position=(0, 5, 0), target=(0, 0, 0), up=(0, 0, -1), near=1, far=10)
    found = R.tensor(R.Scene([plate, light, floor, camera]), 300, 300, samples=0).numpy()[150, :, 0]
    x = (np.arange(300) + 0.5) / 50 - 3
    lit = np.sqrt(0.5)
    texel = np.linalg.norm([6, 1, 6]) / 1024 * np.sqrt(2)  # of the shadow map, on the floor
    soft = 3 * texel  # nine interpolated neighbours
    beyond_plate = x > -0.5 + 0.02
    dark = beyond_plate & (x < 0.5 - soft)
    bright = x > 0.5 + soft
    assert dark.sum() > 40
    assert bright.sum() > 100
    assert np.abs(found[dark]).max() < 1e-3
    assert np.abs(found[bright] - lit).max() < 1e-3
    edge = x[beyond_plate][np.argmax(found[beyond_plate] > lit / 2)]
    assert abs(edge - 0.5) < 0.02 + texel  # a pixel and a texel


def test_spot_light_shadow_and_cone():
    cube = R.Mesh(R.shapes.cube(1), R.LambertMaterial(), translation=(0, 1, 0))
    light = R.SpotLight(position=(0, 4, 0), target=(0, 0, 0), angle=35, penumbra=0.0, intensity=16, shadow=True)
    floor = R.Mesh(R.shapes.plane(8, 8), R.LambertMaterial())
    camera = R.OrthographicCamera(height=8, position=(0, -0.01, 0), target=(0, -1, 0), up=(0, 0, -1), near=-6, far=6)
    scene = R.Scene([light, floor, camera])
    row = R.tensor(scene, 200, 200, samples=0).numpy()[100, :, 0]
    x = (np.arange(200) + 0.5) / 25 - 4
    inside = np.abs(x) < 4 * np.tan(np.radians(35)) - 0.05
    square = 16 + x**2
    expected = 16 / square * 4 / np.sqrt(square)
    assert np.abs(row - expected)[inside].max() < 2e-3
    assert np.abs(row[np.abs(x) > 4 * np.tan(np.radians(35)) + 0.05]).max() < 1e-3
    cube.visible = True
    scene.add(cube)
    camera.near = -0.015  # from just above the floor, so that the cube is not in the way
    shaded = R.tensor(scene, 200, 200, samples=0).numpy()[100, :, 0]
    reach = 0.5 * 4 / 2.5  # the upper edges of the cube, seen from the lamp
    assert np.abs(shaded[np.abs(x) < reach - 0.06]).max() < 1e-3
    assert np.abs(shaded - expected)[inside & (np.abs(x) > reach + 0.06)].max() < 2e-3


def test_depth_normals_positions_and_ids():
    near = R.Mesh(R.shapes.quad(1, 2), R.UnlitMaterial(), translation=(-0.5, 0, 1))
    far = R.Mesh(R.shapes.quad(1, 2), R.UnlitMaterial(), translation=(0.5, 0, -1)).rotate((0, 1, 0), 0.0)
    found = {k: v.numpy() for k, v in R.buffers(R.Scene([near, far, front()]), 16, 16).items()}
    left, right = np.s_[:, :8], np.s_[:, 8:]
    assert (found["id"][left][..., 0] == 1).all()
    assert (found["id"][right][..., 0] == 2).all()
    assert set(np.unique(found["id"][..., 1])) == {0, 1}
    assert np.abs(found["position"][left][..., 3] - 4).max() < 1e-5
    assert np.abs(found["position"][right][..., 3] - 6).max() < 1e-5
    x, y = grid(16)
    assert np.abs(found["position"][..., :2] - np.stack([x, y], axis=2)).max() < 1e-5
    assert np.abs(found["normal"] - (0, 0, 1)).max() < 1e-6
    assert np.abs(R.depth(R.Scene([near, far, front()]), 16, 16).numpy()[left] - 4).max() < 1e-5


def test_tiles_make_the_same_picture(monkeypatch):
    scene = R.Scene([R.Mesh(R.shapes.torus(), R.NormalMaterial()), R.PerspectiveCamera(position=(1, 2, 4), target=(0, 0, 0))])
    whole = R.image(scene, 90, 70, samples=0).array.astype(int)
    monkeypatch.setattr(sys.modules["gpgpu_gl.render.image"], "MOST_TILE", 32)
    tiled = R.image(scene, 90, 70, samples=0).array.astype(int)
    assert (np.abs(tiled - whole).max(axis=2) > 2).mean() < 0.01  # a projection rounded otherwise moves a few edge pixels


def test_fog_and_tone_mapping_follow_their_formulas():
    quad = R.Mesh(R.shapes.quad(4, 4), R.UnlitMaterial(color=(0.8, 0.2, 0.1)))
    for fog, clear in ((R.Fog((0, 0, 1), density=0.3), np.exp(-((0.3 * 5) ** 2))), (R.Fog((0, 0, 1), near=2, far=10), 5 / 8)):
        scene = R.Scene([quad, R.PerspectiveCamera(fov_y=1, position=(0, 0, 5))], fog=fog)
        found = R.tensor(scene, 4, 4, samples=0).numpy()[2, 2, :3]
        assert np.abs(found - (clear * np.array([0.8, 0.2, 0.1]) + (1 - clear) * np.array([0, 0, 1]))).max() < 1e-3
    bright = R.Mesh(R.shapes.quad(4, 4), R.UnlitMaterial(color=3.0))
    reinhard = R.image(R.Scene([bright, front()], tone="reinhard", exposure=0.5), 4, 4).array[0, 0, 0]
    assert abs(int(reinhard) - display(1.5 / 2.5)) <= 1
    aces = R.image(R.Scene([bright, front()], tone="aces"), 4, 4).array[0, 0, 0]
    assert abs(int(aces) - display(3 * (2.51 * 3 + 0.03) / (3 * (2.43 * 3 + 0.59) + 0.14))) <= 1


def test_even_environment_lights_matt_surfaces_evenly():
    environment = R.Environment(np.full((16, 32, 3), 0.5, np.float32))
    sphere = R.Mesh(R.shapes.sphere(0.9), R.LambertMaterial(color=0.8))
    found = R.tensor(R.Scene([sphere, front()], environment=environment, sky=True), 32, 32, samples=0).numpy()
    assert np.abs(found[16, 16, :3] - 0.4).max() < 2e-3  # the harmonics of a coarse sum over the sphere
    assert np.abs(found[0, 0, :3] - 0.5).max() < 1e-3
    mirror = R.Mesh(R.shapes.sphere(0.9), R.StandardMaterial(metallic=1.0, roughness=0.1))
    found = R.tensor(R.Scene([mirror, front()], environment=environment), 32, 32, samples=0).numpy()
    assert np.abs(found[16, 16, :3] - 0.5 * 0.945).max() < 2e-3  # Karis' fit at roughness 0.1, seen head-on, is 0.945


def test_first_lights_and_cameras_are_found():
    found = R.image(R.Mesh(R.shapes.sphere()), 32, 32).array
    assert found[16, 16, :3].min() > 40
    assert tuple(found[0, 0, :3]) == (0x20, 0x24, 0x2C)


def test_tiles_and_passes_between_drawings(path):
    """A drawing leaves culling, depth and samplers set; the passes of the next one must not see them."""
    scene = R.Scene([R.Mesh(R.shapes.torus(), R.NormalMaterial()), R.PerspectiveCamera(position=(1, 2, 4), target=(0, 0, 0))])
    alone = [R.image(scene, size, 70, samples=0).array for size in (90, 60)]
    R.release()
    from gpgpu_gl.render.gpu import gpu

    with gpu().drawing():
        together = [R.image(scene, size, 70, samples=0).array for size in (90, 60)]
    assert all((a == b).all() for a, b in zip(alone, together, strict=True))


def light_of(material, normal_z=1.0, camera=None, **scene):
    """What a quad at the origin reflects in its middle, linear, lit by one light from (1, 2, 3)."""
    quad = R.Mesh(R.shapes.quad(2, 2), material)
    view = camera or front()
    found = R.tensor(R.Scene([quad, view, R.DirectionalLight(position=(1, 2, 3))], **scene), 9, 9, samples=0)
    return found.numpy()[4, 4, :3]


LIGHT = np.array([1, 2, 3]) / np.sqrt(14)


@pytest.mark.parametrize(("axis", "tilt"), [(0, 0.4), (0, -0.4), (1, 0.4), (1, -0.3)])
def test_normal_maps_tilt_towards_their_axes(axis, tilt):
    n = np.array([0.0, 0.0, 1.0])
    n[axis], n[2] = np.sin(tilt), np.cos(tilt)
    pixels = np.tile((n * 0.5 + 0.5).astype(np.float32), (4, 4, 1))
    found = light_of(R.LambertMaterial(normal_map=R.Texture(pixels, srgb=False)))
    assert np.abs(found - n @ LIGHT).max() < 1e-4  # red is to the right, green up


@pytest.mark.parametrize(("metallic", "roughness"), [(0.0, 0.5), (1.0, 0.3), (0.6, 0.9)])
def test_metallic_roughness_follows_gltf(metallic, roughness):
    base = np.array([0.8, 0.4, 0.1])
    found = light_of(R.StandardMaterial(base, metallic=metallic, roughness=roughness))
    # The same in float64, from appendix B of the glTF 2.0 specification; light counts pi times as there.
    v = np.array([0, 0, 1.0])
    h = (v + LIGHT) / np.linalg.norm(v + LIGHT)
    nl, nv, nh, vh, a = LIGHT[2], 1.0, h[2], v @ h, roughness**2
    d = a**2 / (nh**2 * (a**2 - 1) + 1) ** 2
    visible = 0.5 / (nl * np.sqrt(nv**2 * (1 - a**2) + a**2) + nv * np.sqrt(nl**2 * (1 - a**2) + a**2))
    f0 = 0.04 * (1 - metallic) + base * metallic
    f = f0 + (1 - f0) * (1 - vh) ** 5
    expected = nl * ((1 - f) * base * (1 - metallic) + f * visible * d)
    assert np.abs(found - expected).max() < 1e-4


def test_emissive_maps_cut_out_and_vertex_colours():
    glow = np.zeros((2, 2, 3), np.float32)
    glow[0] = 0.5
    lamp = R.UnlitMaterial(0.0, emissive=0.8, emissive_map=R.Texture(glow, smooth=False))
    found = R.tensor(R.Scene([R.Mesh(R.shapes.quad(2, 2), lamp), front()]), 8, 8, samples=0).numpy()
    assert np.abs(found[:4, :, 0] - 0.4).max() < 1e-6
    assert np.abs(found[4:, :, 0]).max() < 1e-6
    holes = np.full((2, 2, 4), 255, np.uint8)
    holes[0, :, 3] = 100
    cut = R.Mesh(R.shapes.quad(2, 2), R.UnlitMaterial(map=R.Texture(holes, smooth=False), alpha_mode="mask", alpha_cutoff=0.5))
    found = R.tensor(R.Scene([cut, front()], background=0.25), 8, 8, samples=0).numpy()
    assert np.abs(found[:4, :, 0] - 0.25).max() < 1e-6
    assert np.abs(found[4:, :, 0] - 1).max() < 1e-6
    corners = R.Geometry([[-3, -1, 0], [3, -1, 0], [0, 5, 0]], colors=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    found = R.tensor(R.Scene([R.Mesh(corners, R.UnlitMaterial()), front()]), 9, 9, samples=0).numpy()[4, 4, :3]
    assert np.abs(found - (5 / 12, 5 / 12, 1 / 6)).max() < 1e-5


def test_a_hundred_thousand_cubes_are_one_draw_call():
    from gpgpu_gl.render.gpu import gpu

    side = 317
    places = np.zeros((side * side, 4, 4), np.float32)
    places[:] = np.eye(4)
    places[:, 0, 3], places[:, 1, 3] = np.indices((side, side)).reshape(2, -1) - side / 2
    cubes = R.InstancedMesh(R.shapes.cube(0.5), places, R.UnlitMaterial())
    before = gpu().draw_calls
    found = R.buffers(R.Scene([cubes, R.OrthographicCamera(height=4, position=(0, 0, 5))]), 40, 40)["id"].numpy()
    assert cubes.instance_count > 100_000
    assert gpu().draw_calls - before == 1
    assert len(np.unique(found[..., 2])) == 16 + 1  # 4 x 4 of them are seen, and instance 0 behind what is empty


def test_films_and_notebooks(tmp_path):
    from PIL import Image

    quad = R.Mesh(R.shapes.quad(1, 1), R.UnlitMaterial("red"))
    frames = []
    for n in range(3):
        quad.rotation = R.turn((0, 0, 1), 0.3 * n)
        frames.append(R.image(R.Scene([quad, front()], background=None), 16, 16))
    for kind in ("gif", "apng"):
        R.save_frames(frames, tmp_path / f"a.{kind}", fps=10)
        with Image.open(tmp_path / f"a.{kind}") as film:
            assert film.n_frames == 3
    R.save_frames(frames, tmp_path / "n%02d.png")
    assert sorted(p.name for p in tmp_path.glob("n*.png")) == ["n00.png", "n01.png", "n02.png"]
    assert frames[0]._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
    assert R.Scene([quad])._repr_png_()[:4] == b"\x89PNG"
    edge = frames[1].array[frames[1].array[..., 3] % 255 != 0]
    assert len(edge) > 5
    assert (edge[:, 0] >= 254).all()  # where the quad covers a part of the pixel, its colour is still its own
