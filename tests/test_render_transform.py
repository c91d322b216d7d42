"""Transforms: GLSL against NumPy, gradients against central differences, on both paths."""

import numpy as np
import pytest

import gpgpu_gl as gg
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.gl import source
from gpgpu_gl.render import transform as T

RNG = np.random.default_rng(5)
UNITS = 1e-5  # what the library promises against NumPy in float64, for entries near 1


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def np_rotate(axis, angle):
    x, y, z = unit(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    m = np.eye(4)
    m[:3, :3] = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    return m


def np_quaternion(q):
    q = unit(q)
    angle = 2 * np.arctan2(np.linalg.norm(q[:3]), q[3])
    return np_rotate(q[:3], angle)


def np_translate(t):
    m = np.eye(4)
    m[:3, 3] = t
    return m


def np_look_at(eye, target, up):
    z = unit(eye - target)
    x = unit(np.cross(up, z))
    m = np.eye(4)
    m[:3, :3] = x, np.cross(z, x), z
    return m @ np_translate(-eye)


def np_perspective(fov, aspect, near, far):
    f = 1 / np.tan(fov / 2)
    d = near - far
    return np.array([[f / aspect, 0, 0, 0], [0, f, 0, 0], [0, 0, (far + near) / d, 2 * far * near / d], [0, 0, -1, 0]])


def np_orthographic(left, right, b, t, n, f):
    low, high = np.array([left, b, -f]), np.array([right, t, -n])
    m = np.diag([*(2 / (high - low)), 1.0])
    m[:3, 3] = -(high + low) / (high - low)
    return np.diag([1, 1, -1, 1]) @ m


def v3(n):
    return RNG.uniform(0.5, 2, (n, 3)) * RNG.choice([-1, 1], (n, 3))


def numbers(n, low, high):
    return RNG.uniform(low, high, n)


CASES = {
    "translate": (np_translate, lambda n: [v3(n)]),
    "scale": (lambda s: np.diag([*s, 1]), lambda n: [v3(n)]),
    "rotate": (np_rotate, lambda n: [v3(n), numbers(n, -6, 6)]),
    "rotate_quaternion": (np_quaternion, lambda n: [RNG.standard_normal((n, 4))]),
    "compose": (
        lambda t, q, s: np_translate(t) @ np_quaternion(q) @ np.diag([*s, 1]),
        lambda n: [v3(n), RNG.standard_normal((n, 4)), v3(n)],
    ),
    "look_at": (np_look_at, lambda n: [v3(n) * 3, v3(n) * 0.3, v3(n)]),
    "perspective": (
        np_perspective,
        lambda n: [numbers(n, 0.5, 2), numbers(n, 0.5, 2), numbers(n, 0.5, 1), numbers(n, 3, 9)],
    ),
    "orthographic": (
        np_orthographic,
        lambda n: [numbers(n, *r) for r in ((-3, -1), (1, 3), (-3, -1), (1, 3), (0.5, 1), (3, 9))],
    ),
    "normal_matrix": (
        lambda m: np.linalg.inv(m[:3, :3]).T,
        lambda n: [RNG.standard_normal((n, 4, 4)) * 0.3 + np.eye(4) * 1.5],
    ),
    "homogeneous_divide": (lambda p: p[:3] / p[3], lambda n: [RNG.uniform(0.5, 2, (n, 4))]),
}


@pytest.mark.parametrize("name", CASES)
def test_forward_agrees_with_numpy(path, name):
    reference, make = CASES[name]
    args = make(37)
    found = getattr(T, name)(*[gg.tensor(a) for a in args]).numpy()
    expected = np.stack([reference(*row) for row in zip(*args, strict=True)])
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < UNITS * max(1, np.abs(expected).max())


@pytest.mark.parametrize("name", CASES)
def test_gradient_agrees_with_differences(path, name):
    reference, make = CASES[name]
    args = make(3)
    shape = np.asarray(reference(*[a[0] for a in args])).shape
    weight = RNG.standard_normal((3, *shape))
    tensors = [gg.tensor(a, requires_grad=True) for a in args]
    (getattr(T, name)(*tensors) * gg.tensor(weight)).sum().backward()

    def loss(values):
        return sum((reference(*row) * w).sum() for row, w in zip(zip(*values, strict=True), weight, strict=True))

    for n, (a, t) in enumerate(zip(args, tensors, strict=True)):
        direction = RNG.standard_normal(a.shape)
        step = 1e-5
        more, less = list(args), list(args)
        more[n], less[n] = a + step * direction, a - step * direction
        expected = (loss(more) - loss(less)) / (2 * step)
        found = float((t.grad.numpy() * direction).sum())
        # float32 sums of up to 48 products, against differences in float64
        assert found == pytest.approx(expected, rel=2e-4, abs=2e-4)


def test_second_derivatives(path):
    q = gg.tensor([[0.3, -0.5, 0.2, 0.8]])
    first = gg.grad(lambda x: T.rotate_quaternion(x).square().sum())
    assert np.abs(first(q).numpy()).max() < 1e-5  # a rotation's squares always sum to 4
    angle = gg.tensor(0.7)
    bend = gg.grad(lambda a: gg.grad(lambda b: T.rotate(gg.tensor([0.0, 0.0, 1.0]), b)[0, 0])(a))
    assert float(bend(angle)) == pytest.approx(-np.cos(0.7), abs=UNITS)


def test_leading_axes_broadcast(path):
    axes, angles = v3(3)[:, None], numbers(4, -3, 3)
    found = T.rotate(gg.tensor(axes), gg.tensor(angles)).numpy()
    expected = np.array([[np_rotate(a[0], b) for b in angles] for a in axes])
    assert found.shape == (3, 4, 4, 4)
    assert np.abs(found - expected).max() < UNITS


def test_apply_and_project(path):
    m, points = np_perspective(1, 1.5, 0.5, 9) @ np_translate([0, 0, -4]), v3(29)
    full = np.concatenate([points, np.ones((29, 1))], axis=1) @ m.T
    assert np.abs(T.apply(gg.tensor(m), gg.tensor(points)).numpy() - full).max() < UNITS * 10  # entries up to 10
    assert np.abs(T.project(gg.tensor(m), gg.tensor(points)).numpy() - full[:, :3] / full[:, 3:]).max() < UNITS


def test_numbers_and_wrong_shapes(path):
    assert T.perspective(1.0, 1.5, 0.5, 9.0).shape == (4, 4)
    with pytest.raises(ShapeError, match=r"rotate: argument 0 has shape \(2,\); its last axes must be \(3,\)"):
        T.rotate(gg.tensor([1.0, 2.0]), 0.5)
    with pytest.raises(ShapeError, match="apply"):
        T.apply(gg.tensor(np.eye(4)), gg.tensor([1.0, 2.0, 3.0]))


def test_vertex_shader_and_matmul_include_one_product():
    defines = {"ROWS": 4, "COLS": 1, "a_LINES": 1, "b_LINES": 1}
    files = {file for file, _ in source.load("kernels/matmul.glsl", defines).lines}
    vertex = {file for file, _ in source.load("render/mesh_vertex.glsl").lines}
    assert "lib/atom.glsl" in files & vertex
