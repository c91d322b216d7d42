"""Gradients of pictures reach attributes, texels and coordinates; values are those of the emulator."""

import numpy as np
import pytest
from pipeline_rig import settle

import gpgpu_gl as gg
from gpgpu_gl.errors import GpgpuError, ShapeError
from gpgpu_gl.pipeline import Pipeline, Texture
from gpgpu_gl.pipeline.differentiable import interpolate, sample, visible
from gpgpu_gl.pipeline.scenes import soup

VERTEX = "#version 330\nin vec4 position; in vec4 tint; out vec4 c; void main() { gl_Position = position; c = tint; }\n"
FRAGMENT = "#version 330\nin vec4 c; out vec4 color; void main() { color = c; }\n"
TEXTURED = "#version 330\nuniform sampler2D image; in vec4 c; out vec4 color; void main() { color = texture(image, c.xy); }\n"


@pytest.fixture(scope="module")
def drawn():
    """Triangles that cross each other and the view's planes, with depth test, and the trace of them."""
    attributes = soup(3)
    with Pipeline(VERTEX, FRAGMENT, depth_test="less") as pipeline:
        trace = pipeline.run(attributes, size=(48, 40))
    settle()
    return attributes, trace


def test_interpolated_attributes_are_the_picture(drawn):
    attributes, trace = drawn
    assert trace.clipped.cut >= 3
    seen = visible(trace)
    picture = interpolate(seen, gg.tensor(attributes["tint"]))
    np.testing.assert_allclose(picture.numpy(), trace.color.numpy(), rtol=4e-5, atol=1e-5)
    assert 0.3 < seen.mask.numpy().mean() < 1


def test_the_gradient_of_attributes_is_the_sum_of_weights(drawn):
    attributes, trace = drawn
    seen = visible(trace)
    target = np.random.default_rng(0).uniform(0, 1, (40, 48, 4)).astype(np.float32)
    tint = gg.tensor(attributes["tint"], requires_grad=True)
    ((interpolate(seen, tint) - gg.tensor(target)) ** 2).sum().backward()
    found = tint.grad.numpy()
    residual = 2 * (trace.color.numpy().astype(float) - target)
    expected = np.zeros_like(found, float)
    for corner, weight in zip(seen.corners, seen.weights, strict=True):
        np.add.at(expected, corner.numpy(), weight.numpy().astype(float) * residual.reshape(-1, 4))
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-3)  # sums of up to 1,900 terms in float32


@pytest.mark.parametrize("wrap", ["repeat", "clamp_to_edge"])
def test_sampling_is_the_devices_own(drawn, wrap):
    attributes, _ = drawn
    image = np.random.default_rng(1).uniform(0, 1, (7, 5, 4)).astype(np.float32)
    attributes = attributes | {"tint": attributes["tint"] * 3 - 1}
    with Pipeline(VERTEX, TEXTURED, depth_test="less") as pipeline:
        texture = Texture(image, "linear", wrap=wrap)
        trace = pipeline.run(attributes, uniforms={"image": texture}, size=(48, 40))
    settle()
    seen = visible(trace)
    uv = interpolate(seen, gg.tensor(attributes["tint"]))[:, :, :2]
    mine = (sample(gg.tensor(image), uv, wrap) * seen.mask).numpy()
    # Devices blend texels with weights of 8 bits: OpenGL asks for no more, and texels here differ by up to 1.
    np.testing.assert_allclose(mine, trace.color.numpy(), atol=3 / 256)


def test_gradients_of_sampling_against_differences():
    rng = np.random.default_rng(2)
    image, uv = rng.uniform(-1, 1, (6, 8, 3)), rng.uniform(-0.5, 1.5, (10, 2))
    weight = rng.uniform(-1, 1, (10, 3))

    def loss(image, uv):
        s, t = uv[:, 0] * 8 - 0.5, uv[:, 1] * 6 - 0.5
        i, j = np.floor(s).astype(int), np.floor(t).astype(int)
        fs, ft = (s - i)[:, None], (t - j)[:, None]
        at = lambda dx, dy: image[(j + dy) % 6, (i + dx) % 8]  # noqa: E731
        value = (at(0, 0) * (1 - fs) + at(1, 0) * fs) * (1 - ft) + (at(0, 1) * (1 - fs) + at(1, 1) * fs) * ft
        return (value * weight).sum()

    a, b = gg.tensor(image.astype(np.float32), requires_grad=True), gg.tensor(uv.astype(np.float32), requires_grad=True)
    (sample(a, b) * gg.tensor(weight.astype(np.float32))).sum().backward()
    for found, value, other in ((a.grad, image, lambda v: loss(v, uv)), (b.grad, uv, lambda v: loss(image, v))):
        expected = np.zeros_like(value)
        for index in np.ndindex(*value.shape):
            step = np.zeros_like(value)
            step[index] = 1e-6
            expected[index] = (other(value + step) - other(value - step)) / 2e-6
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3, atol=1e-4)


def test_a_texture_is_found_from_a_picture(drawn):
    attributes, trace = drawn
    seen = visible(trace)
    uv = interpolate(seen, gg.tensor(attributes["tint"]))[:, :, :2]
    wanted = np.random.default_rng(3).uniform(0, 1, (4, 4, 3)).astype(np.float32)
    target = sample(gg.tensor(wanted), uv) * seen.mask
    image = gg.zeros((4, 4, 3))
    losses = []
    for _ in range(12):
        leaf = gg.tensor(image, requires_grad=True)
        loss = (((sample(leaf, uv) * seen.mask) - target) ** 2).sum()
        loss.backward()
        losses.append(loss.item())
        image = (leaf.detach() - 0.008 * leaf.grad).detach()
    assert losses[-1] < 0.05 * losses[0]


def test_what_cannot_be_followed_is_an_error(drawn):
    attributes, trace = drawn
    with pytest.raises(ShapeError, match=r"\(vertices, components\)"):
        interpolate(visible(trace), gg.zeros((3,)))
    with pytest.raises(GpgpuError, match="choose repeat or clamp_to_edge"):
        sample(gg.zeros((2, 2, 3)), gg.zeros((1, 2)), "mirror")
    with Pipeline(VERTEX, FRAGMENT, mode="points") as pipeline:
        points = pipeline.run(attributes, size=(8, 8))
    settle()
    with pytest.raises(GpgpuError, match="triangles with one sample"):
        visible(points)
