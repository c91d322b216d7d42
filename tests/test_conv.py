"""Convolution and pooling against float64 NumPy, forward and all gradients, with recycled textures poisoned."""

import itertools

import numpy as np
import pytest

import gpgpu_gl.bind  # noqa: F401
from gpgpu_gl.autograd import gradients
from gpgpu_gl.errors import DTypeError, ShapeError
from gpgpu_gl.ops.conv import conv2d
from gpgpu_gl.ops.pool import avg_pool2d, max_pool2d
from gpgpu_gl.tensor import engine, tensor

# float32 sums of up to a few thousand products of numbers around 1: relative to the largest result.
TOLERANCE = 1e-5

# x shape, weight shape, options
CONVS = [
    ((2, 5, 6, 4), (3, 3, 4, 8), {}),
    ((1, 7, 7, 1), (5, 5, 1, 16), {"padding": "same"}),
    ((3, 6, 5, 3), (3, 2, 3, 5), {"padding": 1}),
    ((2, 8, 9, 5), (3, 3, 5, 6), {"stride": 2, "padding": "same"}),
    ((2, 8, 7, 6), (2, 4, 6, 3), {"padding": "same"}),
    ((2, 9, 9, 4), (3, 3, 4, 4), {"dilation": 2, "padding": (2, 1)}),
    ((1, 10, 11, 4), (3, 3, 4, 4), {"dilation": (1, 3), "stride": (2, 1), "padding": "same"}),
    ((2, 6, 6, 8), (3, 3, 4, 8), {"groups": 2, "padding": 1}),
    ((2, 6, 6, 6), (3, 3, 3, 4), {"groups": 2, "padding": 1}),
    ((2, 6, 6, 6), (3, 3, 2, 9), {"groups": 3, "stride": 2}),
    ((2, 6, 7, 5), (3, 3, 1, 5), {"groups": 5, "padding": "same"}),
    ((2, 6, 7, 4), (3, 3, 1, 8), {"groups": 4, "padding": "same"}),
    ((2, 4, 4, 7), (1, 1, 7, 9), {}),
    ((2, 5, 5, 8), (1, 1, 8, 8), {"stride": 3}),
    ((70, 3, 3, 4), (3, 3, 4, 4), {"padding": 1}),
    ((2, 5, 4, 4), (5, 4, 4, 4), {}),
    ((0, 5, 5, 4), (3, 3, 4, 4), {}),
    ((2, 5, 5, 0), (3, 3, 0, 4), {}),
    ((2, 4, 4, 4), (3, 3, 4, 4), {"padding": ((0, 2), (1, 0))}),
]
POOLS = [
    ((2, 4, 6, 4), {"kernel_size": 2}),
    ((2, 5, 7, 5), {"kernel_size": 2}),
    ((1, 7, 6, 3), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((2, 6, 6, 1), {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 0)}),
    ((1, 5, 5, 2), {"kernel_size": 2, "stride": 3}),
    ((1, 1, 1, 1), {"kernel_size": 1}),
    ((0, 4, 4, 4), {"kernel_size": 2}),
]


@pytest.fixture(autouse=True)
def poisoned(path):
    engine().pool.poison = True
    yield
    engine().pool.poison = False


def borders(x, window, stride=1, padding=0, dilation=1):
    """Padding ((above, below), (left, right)), stride and dilation as pairs."""

    def two(v):
        return (v, v) if isinstance(v, int) else v

    stride, dilation = two(stride), two(dilation)
    if padding == "same":
        pads = []
        for n, k, s, d in zip(x.shape[1:3], window, stride, dilation, strict=True):
            total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
            pads.append((total // 2, total - total // 2))
    else:
        pads = [two(p) for p in two(0 if padding == "valid" else padding)]
    return pads, stride, dilation


def windows(x, window, stride=1, padding=0, dilation=1, fill=0.0):
    """(N, OH, OW, KH, KW, C) view of float64 images."""
    pads, stride, dilation = borders(x, window, stride, padding, dilation)
    x = np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=fill)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, window, strict=True)]
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(1, 2))
    seen = seen[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return seen.transpose(0, 1, 2, 4, 5, 3)


def conv_reference(x, w, groups=1, **options):
    seen = windows(x, w.shape[:2], **options)
    xs = np.split(seen, groups, axis=-1)
    ws = np.split(w, groups, axis=-1)
    return np.concatenate([np.einsum("nhwijc,ijco->nhwo", a, b) for a, b in zip(xs, ws, strict=True)], axis=-1)


def conv_grads(x, w, g, groups=1, **options):
    """Gradients of sum(g * conv(x, w)), from the definition."""
    pads, stride, dilation = borders(x, w.shape[:2], **options)
    padded = np.pad(x, ((0, 0), *pads, (0, 0)))
    dx, dw = np.zeros_like(padded), np.zeros_like(w)
    ci, co = x.shape[3] // groups, w.shape[3] // groups
    oh, ow = g.shape[1:3]
    for ky, kx, k in itertools.product(range(w.shape[0]), range(w.shape[1]), range(groups)):
        rows = slice(ky * dilation[0], ky * dilation[0] + (oh - 1) * stride[0] + 1, stride[0])
        cols = slice(kx * dilation[1], kx * dilation[1] + (ow - 1) * stride[1] + 1, stride[1])
        part, gk = padded[:, rows, cols, k * ci : (k + 1) * ci], g[..., k * co : (k + 1) * co]
        wk = w[ky, kx, :, k * co : (k + 1) * co]
        dx[:, rows, cols, k * ci : (k + 1) * ci] += gk @ wk.T
        dw[ky, kx, :, k * co : (k + 1) * co] += np.einsum("nhwc,nhwo->co", part, gk)
    (top, _), (left, _) = pads
    return dx[:, top : top + x.shape[1], left : left + x.shape[2]], dw


def close(found, expected, dtype=np.float32):
    found = found.numpy()
    assert found.shape == expected.shape
    assert found.dtype == dtype
    if expected.size:
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * max(1.0, np.abs(expected).max()))


def draw(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize(("x_shape", "w_shape", "options"), CONVS)
def test_conv2d_and_its_first_and_second_derivatives(x_shape, w_shape, options):
    x, w, b = draw(x_shape, w_shape, w_shape[-1:])
    expected = conv_reference(x.astype(float), w.astype(float), **options) + b
    (g, u, v) = draw(expected.shape, x_shape, w_shape, seed=1)
    for _ in range(2):
        tx, tw, tb, tg = (tensor(a, requires_grad=True) for a in (x, w, b, g))
        out = conv2d(tx, tw, tb, **options)
        close(out, expected)
        if not x.size or not out.size:
            continue
        dx, dw, db = gradients(out, [tx, tw, tb], tg, create_graph=True)
        ex, ew = conv_grads(*(a.astype(float) for a in (x, w, g)), **options)
        close(dx, ex)
        close(dw, ew)
        close(db, g.astype(float).sum((0, 1, 2)))
        # <u, dx> and <v, dw> are trilinear in (x, w, g): their derivatives are convolutions of the other two.
        for outer, cotangent, inputs in ((dx, u, (tg, tw)), (dw, v, (tg, tx))):
            found = gradients(outer, inputs, tensor(cotangent))
            if outer is dx:
                close(found[0], conv_reference(u.astype(float), w.astype(float), **options))
                close(found[1], conv_grads(u.astype(float), w.astype(float), g.astype(float), **options)[1])
            else:
                close(found[0], conv_reference(x.astype(float), v.astype(float), **options))
                close(found[1], conv_grads(x.astype(float), v.astype(float), g.astype(float), **options)[0])


@pytest.mark.parametrize(("x_shape", "options"), POOLS)
@pytest.mark.parametrize("kind", ["max", "avg", "avg without padding"])
def test_pooling_and_its_derivatives(x_shape, options, kind):
    rng = np.random.default_rng(3)
    x = rng.integers(-2, 3, x_shape).astype(np.float32)  # many ties
    k = options["kernel_size"]
    k = (k, k) if isinstance(k, int) else k
    stride = options.get("stride", k)
    seen = windows(x.astype(float), k, stride, options.get("padding", 0), fill=-np.inf)
    index = windows(np.arange(x.size, dtype=float).reshape(x_shape), k, stride, options.get("padding", 0), fill=-1)
    flat = seen.reshape(*seen.shape[:3], k[0] * k[1], x_shape[3])
    index = index.reshape(flat.shape).astype(int)
    if kind == "max":
        weights = np.zeros(flat.shape)
        if flat.size:
            np.put_along_axis(weights, flat.argmax(3)[:, :, :, None], 1.0, axis=3)
    else:
        weights = (index >= 0) / (k[0] * k[1] if kind == "avg" else (index >= 0).sum(3, keepdims=True))

    def apply(a):
        return (weights * a.reshape(-1)[index]).sum(3) if a.size else np.zeros((0, *flat.shape[1:3], x_shape[3]))

    expected = apply(x.astype(float))
    (g, u) = draw(expected.shape, x_shape, seed=4)
    dx = np.zeros(x.size)
    np.add.at(dx, index[index >= 0], (weights * g[:, :, :, None])[index >= 0])
    for _ in range(2):
        tx, tg = tensor(x, requires_grad=True), tensor(g, requires_grad=True)
        out = max_pool2d(tx, **options) if kind == "max" else avg_pool2d(tx, **options, count_include_pad=kind == "avg")
        close(out, expected)
        (found,) = gradients(out, [tx], tg, create_graph=True)
        close(found, dx.reshape(x_shape))
        (second,) = gradients(found, [tg], tensor(u))
        close(second, apply(u.astype(float)))


def test_max_pool2d_keeps_nan_and_infinity():
    x = np.array(
        [[1, np.nan, 3, -np.inf], [np.nan, 2, -np.inf, -np.inf], [np.inf, 1, -1, -2], [0, 0, -3, -1]], np.float32
    )
    tx = tensor(x.reshape(1, 4, 4, 1), requires_grad=True)
    out = max_pool2d(tx, 2)
    np.testing.assert_array_equal(out.numpy()[0, :, :, 0], [[np.nan, 3], [np.inf, -1]])
    out.sum().backward()
    np.testing.assert_array_equal(tx.grad.numpy()[0, :, :, 0], [[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
    low = tensor(np.full((1, 3, 3, 2), -np.inf, np.float32))
    np.testing.assert_array_equal(max_pool2d(low, 3, 2, 1).numpy(), np.full((1, 2, 2, 2), -np.inf))


def test_conv2d_spreads_nan_no_further_than_its_window():
    x, w = draw((1, 6, 6, 5), (3, 3, 5, 3))
    x[0, 2, 2, 4] = np.nan
    out = conv2d(tensor(x), tensor(w), padding=1).numpy()
    expected = conv_reference(x.astype(float), w.astype(float), padding=1)
    np.testing.assert_array_equal(np.isnan(out), np.isnan(expected))


def test_infinity_stays_infinity_where_nothing_was_tuned(path, monkeypatch):
    monkeypatch.setattr(engine().tuner, "_choices", {})
    x = np.zeros((1, 4, 8, 4), np.float32)
    x[0, 1, 3] = np.inf
    out = conv2d(tensor(x), tensor(np.ones((3, 3, 4, 4), np.float32)), padding=1).numpy()
    np.testing.assert_array_equal(out[0, :3, 2:5], np.inf)
    np.testing.assert_array_equal(out[0, :, :2], 0)


def test_float16_is_summed_in_float32():
    x, w = draw((2, 6, 6, 8), (3, 3, 8, 4))
    x, w = x.astype(np.float16), w.astype(np.float16)
    tx, tw = tensor(x, requires_grad=True), tensor(w, requires_grad=True)
    out = conv2d(tx, tw)
    assert out.dtype == np.float16
    expected = conv_reference(x.astype(float), w.astype(float))
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-3, atol=1e-3)  # float16 has 11 bits
    out.backward(tensor(np.ones(out.shape, np.float16)))
    assert tx.grad.dtype == tw.grad.dtype == np.float16
    assert max_pool2d(out, 2).dtype == np.float16


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda t: conv2d(t((1, 3, 3, 4)), t((5, 5, 4, 4))),
            ShapeError,
            ["(1, 3, 3, 4)", "(5, 5, 4, 4)", "3 rows", "5"],
        ),
        (
            lambda t: conv2d(t((1, 8, 8, 4)), t((3, 3, 5, 4))),
            ShapeError,
            ["(1, 8, 8, 4)", "(3, 3, 5, 4)", "third axis"],
        ),
        (lambda t: conv2d(t((1, 8, 8, 4)), t((3, 3, 4, 4)), groups=3), ShapeError, ["groups=3"]),
        (lambda t: conv2d(t((8, 8, 4)), t((3, 3, 4, 4))), ShapeError, ["(8, 8, 4)", "N, H, W, C"]),
        (lambda t: conv2d(t((1, 8, 8, 4)), t((3, 3, 4))), ShapeError, ["(3, 3, 4)"]),
        (lambda t: conv2d(t((1, 8, 8, 4)), t((3, 3, 4, 4)), t((3,))), ShapeError, ["(3,)", "(4,)"]),
        (lambda t: conv2d(t((1, 8, 8, 4)), t((3, 3, 4, 4)), stride=0), ShapeError, ["stride 0"]),
        (lambda t: conv2d(t((1, 8, 8, 4)), t((3, 3, 4, 4)), padding="full"), ShapeError, ["'full'", '"same"']),
        (lambda t: conv2d(t((1, 8, 8, 4)), tensor(np.zeros((3, 3, 4, 4), np.int32))), DTypeError, ["int32"]),
        (lambda t: max_pool2d(t((1, 8, 8, 4)), 9), ShapeError, ["9", "8 rows"]),
        (lambda t: max_pool2d(t((1, 8, 8, 4)), 2, padding=2), ShapeError, ["half"]),
        (lambda t: avg_pool2d(t((8, 8)), 2), ShapeError, ["(8, 8)"]),
        (lambda t: avg_pool2d(t((1, 8, 8, 4)), 0), ShapeError, ["kernel_size 0"]),
        (lambda t: max_pool2d(tensor(np.zeros((1, 4, 4, 1), np.int32)), 2), DTypeError, ["int32"]),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error) as caught:
        call(lambda shape: tensor(np.zeros(shape, np.float32)))
    for word in words:
        assert word in str(caught.value)


# Shapes whose tiles have tails: channels, widths, strides, dilation, uneven padding, more taps than a tile takes.
VARIED = [
    ((3, 6, 15, 5), (2, 3, 5, 6), {"padding": "same"}),
    ((2, 9, 13, 1), (3, 5, 1, 9), {"padding": ((0, 2), (3, 1))}),
    ((2, 8, 11, 8), (3, 2, 8, 3), {"stride": (1, 2), "dilation": (2, 3), "padding": 1}),
    ((1, 7, 20, 3), (1, 9, 3, 4), {"stride": (3, 3), "padding": (0, 5)}),
    ((2, 5, 35, 6), (3, 3, 6, 9), {"stride": (2, 1), "dilation": (2, 1), "padding": ((2, 1), (0, 2))}),
]


def pairs(variants):
    """Those of a convolution's variants that work columns in pairs."""
    return [v for v in variants if len(v) == 3 and v[2]]


@pytest.mark.parametrize(("x_shape", "w_shape", "options"), VARIED)
def test_every_variant_equals_the_plain_kernel(path, monkeypatch, x_shape, w_shape, options):
    tuner = engine().tuner
    offered: dict[str, list[tuple[int, ...]]] = {}

    def pick(operator, shape, variants, default, trial):
        offered[operator] = variants
        assert default in variants
        assert operator == "conv2d_weight_grad" or default not in pairs(variants)
        return tuner.forced.get(operator, variants[0])

    monkeypatch.setattr(tuner, "pick", pick)
    monkeypatch.setattr(tuner, "forced", {})

    def run():
        tx, tw = tensor(x, requires_grad=True), tensor(w, requires_grad=True)
        out = conv2d(tx, tw, **options)
        dx, dw = gradients(out, [tx, tw], tensor(g))
        return {"conv2d": out, "conv2d_input_grad": dx, "conv2d_weight_grad": dw}

    x, w = draw(x_shape, w_shape)
    (g,) = draw(conv2d(tensor(x), tensor(w), **options).shape, seed=1)
    plain = {name: t.numpy() for name, t in run().items()}
    assert set(offered) == set(plain)
    in_pairs = path == "compute" and w_shape[1] == 3 and options.get("stride", (1, 1))[1] == options.get("dilation", (1, 1))[1] == 1
    assert all(bool(pairs(offered[name])) == in_pairs for name in ("conv2d", "conv2d_input_grad"))
    for turn in range(1, max(len(variants) for variants in offered.values())):
        tuner.forced.update({name: variants[turn % len(variants)] for name, variants in offered.items()})
        for name, found in run().items():
            error = np.abs(found.numpy() - plain[name]).max()
            assert error <= TOLERANCE * np.abs(plain[name]).max(), f"{name} as {tuner.forced[name]}: off by {error}"


@pytest.mark.parametrize("seed", range(4))
def test_random_shapes_agree_with_the_reference(seed):
    rng = np.random.default_rng(seed)
    n, h, wide, ci, co, kh, kw = (int(v) for v in rng.integers((1, 1, 1, 1, 1, 1, 1), (5, 12, 40, 10, 14, 5, 6)))
    options = {
        "stride": tuple(int(s) for s in rng.integers(1, 4, 2)),
        "dilation": tuple(int(s) for s in rng.integers(1, 3, 2)),
        "padding": tuple(tuple(int(s) for s in rng.integers(k, 2 * k + 1, 2)) for k in (kh, kw)),
    }
    x, w = draw((n, h, wide, ci), (kh, kw, ci, co), seed=seed)
    expected = conv_reference(x.astype(float), w.astype(float), **options)
    (g,) = draw(expected.shape, seed=seed + 100)
    tx, tw = tensor(x, requires_grad=True), tensor(w, requires_grad=True)
    out = conv2d(tx, tw, **options)
    close(out, expected)
    dx, dw = gradients(out, [tx, tw], tensor(g))
    ex, ew = conv_grads(*(a.astype(float) for a in (x, w, g)), **options)
    close(dx, ex)
    close(dw, ew)


def test_sums_longer_than_a_loop_may_have_steps(path):
    """Some drivers leave long loops early: large windows, many channels and large images are summed in parts."""
    rng = np.random.default_rng(20)
    x = rng.uniform(0, 1, (1, 200, 210, 2)).astype(np.float32)
    wide = x.astype(np.float64)
    shown = tensor(x)
    np.testing.assert_allclose(avg_pool2d(shown, (190, 200)).numpy()[0, 0, 0], wide[0, :190, :200].mean((0, 1)), rtol=1e-5)
    padded = np.pad(wide, ((0, 0), (20, 20), (0, 0), (0, 0)))[0, :, :200]
    several = avg_pool2d(shown, (190, 200), stride=25, padding=(20, 0)).numpy()
    expected = [padded[at : at + 190].mean((0, 1)) for at in (0, 25, 50)]
    np.testing.assert_allclose(several[0, :, 0], expected, rtol=1e-5)
    inside = avg_pool2d(shown, (190, 200), stride=25, padding=(20, 0), count_include_pad=False).numpy()
    np.testing.assert_allclose(inside[0, 0, 0], wide[0, :170, :200].mean((0, 1)), rtol=1e-5)
    x[0, 150, 170] = x[0, 150, 90] = x[0, 180, 3] = 2.0
    given = tensor(x, requires_grad=True)
    largest = max_pool2d(given, (190, 200))
    assert largest.numpy().tolist() == [[[[2.0, 2.0]]]]
    largest.sum().backward()
    assert np.argwhere(given.grad.numpy()).tolist() == [[0, 150, 90, 0], [0, 150, 90, 1]]

    weight = tensor(rng.uniform(0, 1, (3, 3, 1, 2)).astype(np.float32), requires_grad=True)
    conv2d(shown, weight, groups=2).sum().backward()
    np.testing.assert_allclose(weight.grad.numpy()[1, 2, 0], wide[0, 1:199, 2:210].sum((0, 1)), rtol=1e-5)
    images = rng.uniform(0, 1, (1, 7, 5, 9000)).astype(np.float32)
    kernel = rng.uniform(0, 1, (5, 3, 9000, 2)).astype(np.float32)
    leaf, taps = tensor(images, requires_grad=True), tensor(kernel, requires_grad=True)
    found = conv2d(leaf, taps, stride=(1, 2), padding=((1, 2), (0, 1)), dilation=(2, 1))
    full = np.pad(images.astype(float), ((0, 0), (1, 2), (0, 1), (0, 0)))
    expected = sum(
        full[0, 2 * ky : 2 * ky + 2, kx : kx + 3 : 2] @ kernel[ky, kx].astype(float) for ky in range(5) for kx in range(3)
    )
    np.testing.assert_allclose(found.numpy()[0], expected, rtol=1e-5)
    found.sum().backward()
    np.testing.assert_allclose(taps.grad.numpy()[2, 1, 7], full[0, 4:6, 1:4:2, 7].sum(), rtol=1e-5)
    np.testing.assert_allclose(leaf.grad.numpy()[0, 3, 2, 5], sum(kernel[k, t, 5].sum() for k, t in ((2, 0), (2, 2))), rtol=1e-5)
