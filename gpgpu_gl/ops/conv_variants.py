"""Which kernel a convolution runs as, and its pass: the plain kernels, or tiles of several sizes.

A variant is a tuple of whole numbers, for the tuner; PLAIN stands for the plain kernel, which takes any shape.
Windows of three columns also have tiles, on compute, that work pairs of columns by F(2, 3) of S. Winograd, with four
products instead of six. These may make NaN of an infinity, where the sums of the others keep it: no default is one, only
the tuner takes them, where it measures that they win (GPGPU_GL_TUNE=1, `gpgpu-gl tune`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import float32
from gpgpu_gl.gl.expression import Expression
from gpgpu_gl.gl.passes import MOST_ATTACHMENTS, Pass
from gpgpu_gl.ops.linear import product
from gpgpu_gl.ops.reduce import reduce
from gpgpu_gl.ops.window import LONGEST_LOOP, Geometry
from gpgpu_gl.tensor import Tensor, device, engine, new

Variant = tuple[int, ...]

PLAIN: Variant = (0,)
MOST_SHARES = 32  # parts of the batch that the plain weight gradient is summed in
# Multiply-adds of vectors that a kernel's inner step may unroll to: compile time grows with it.
MOST_UNROLLED = 700
# The same, for the choice without measuring: with STORE_LENGTH for each texel that is stored; of several columns; of
# weights with one column, of one channel, and else.
STORE_LENGTH, DEFAULT_LENGTH, DEFAULT_COLS = 6, 560, 288
DEFAULT_WEIGHTS = (300, 288, 230)
MOST_SPAN = 96  # pixels held at once
LONGEST_SUM = 1 << 14  # windows that one invocation of a weight gradient adds up, in float32
ENOUGH_TILES = {"compute": 1024, "fragment": 6144}  # of a weight gradient: fewer leave a core idle at the end


def _grouping(in_each: int, out_each: int, groups: int) -> int:
    """How a plain kernel reads channels: whole texels of one group, depthwise, or one by one."""
    if groups == 1 or in_each % 4 == out_each % 4 == 0:
        return 0
    return 1 if in_each == out_each == 1 else 2


def _plain(in_each: int, out_each: int, groups: int, geo: Geometry) -> tuple[dict[str, int], dict[str, Any]]:
    """Defines and uniforms of the plain kernels."""
    return {"GROUPING": _grouping(in_each, out_each, groups)}, geo.uniforms | {"in_each": in_each, "out_each": out_each}


def _whole_rows(x: Tensor) -> bool:
    """Whether the texels of each row of the images are neighbours in one line of the texture."""
    return x.layout.width % (x.shape[2] * x.layout.columns) == 0


def _whole_taps(w: Tensor) -> bool:
    """Whether the rows of each tap are neighbours in one line of the texture, or each has a line of its own."""
    lines = w.layout.lines
    return lines == 1 or lines > 0 and lines % w.shape[2] == 0


def _balanced(length: int, most: int, multiple: int = 1) -> int:
    """Pieces of at most `most` (a multiple of `multiple`) that cover `length` with the least waste."""
    piece = -(-length // -(-length // most))
    return -(-piece // multiple) * multiple


def _flop(w: tuple[int, ...], result: Tensor) -> float:
    """Operations of a convolution and of either of its gradients: w (KH, KW, C_in / groups, C_out), result (N, OH, OW, C_out)."""
    return 2.0 * math.prod(w[:3]) * result.size


def _shape(x: Tensor, w: tuple[int, ...], geo: Geometry) -> tuple[int, ...]:
    """What the tuner tells shapes apart by."""
    return (*x.shape, *w, *geo.image, *geo.stride, *geo.dilation, *geo.border, *geo.end)


# --- forward, and the gradient with respect to the input -------------------------------------------------------------


def images(
    x: Tensor, w: Tensor, out: Tensor, geo: Geometry, groups: int, gradient: bool, epilogue: Expression | None = None
) -> None:
    """Runs conv2d of images x into out; with `gradient` conv2d_input_grad of the result's gradient x."""
    name = "conv2d_input_grad" if gradient else "conv2d"
    variants = [PLAIN]
    if groups == 1 and _whole_rows(x) and _whole_taps(w):
        variants += _image_tiles(out.shape[2], out.layout.columns, min(x.shape[3], 4), geo, gradient)

    def run(variant: Variant) -> None:
        if variant == PLAIN:
            defines, uniforms = _plain(w.shape[2], w.shape[3] // groups, groups, geo)
            inputs = {"g" if gradient else "x": x.operand, "w": w.operand}
            flop = _flop(w.shape, x if gradient else out)
            engine().run(Pass(name, inputs, (out.operand,), defines, uniforms, expression=epilogue, flop=flop))
        else:
            engine().run(_image_pass(x, w, out, geo, gradient, variant, epilogue))

    default = _default_image_tile(variants, out, min(x.shape[3], 4), geo, gradient)
    run(engine().tuner.pick(name, _shape(x, w.shape, geo), variants, default, run))


def _image_tiles(width: int, columns: int, lanes: int, geo: Geometry, gradient: bool) -> list[Variant]:
    """The tiles that suit images of that width with so many texels of channels: (pixels, texels of channels, in pairs)."""
    down = geo.stride[1] if gradient else 1
    found: dict[Variant, None] = {}
    for cols in (1, 2, 4, 8):
        fragment = device().path == "fragment"
        for most in (8, 7, 4) if fragment else (8, 16, 32):
            rows = _balanced(width, most, down)
            small = rows * cols <= MOST_ATTACHMENTS if fragment else cols < 8 and rows * cols > 1
            short = geo.window[1] * rows * cols * lanes <= MOST_UNROLLED and _span(rows, geo, gradient) <= MOST_SPAN
            if small and short and cols < 2 * columns:
                found[rows, cols, 0] = None
    largest = max((rows * cols for rows, cols, _ in found), default=0)
    if fragment:  # whose small tiles are bound by fetches: nothing is won by fewer products
        return [v for v in found if 2 * v[0] * v[1] > largest]
    pairs = geo.window[1] == 3 and geo.stride[1] == geo.dilation[1] == 1
    return [*found, *((rows, cols, 1) for rows, cols, _ in found if pairs and rows % 2 == 0)]


def _default_image_tile(variants: list[Variant], out: Tensor, lanes: int, geo: Geometry, gradient: bool) -> Variant:
    """A sound choice without measuring, none in pairs: the fewest fetches for each texel, in a kernel that compiles fast."""
    tiles = [v for v in variants if v != PLAIN and not v[2]]
    if not tiles:
        return PLAIN
    width, window = out.shape[2], geo.window[1]

    def fetches(v: Variant) -> tuple[float, ...]:
        rows, cols, _ = v
        blocks = -(-width // rows) * -(-out.layout.columns // cols)
        pixels = _span(rows, geo, gradient)
        if rows >= width:  # what lies outside is not even fetched
            pixels = min(pixels, geo.result[1] if gradient else geo.image[1])
        return ((pixels + window * cols * lanes) * blocks, cols)

    if device().path == "compute":
        tiles = [v for v in tiles if _is_short(window * lanes, v[0], v[1])] or tiles[:1]
    return min(tiles, key=fetches)


def _is_short(products: int, rows: int, cols: int) -> bool:
    """Whether a tile with so many products for each texel compiles fast and keeps its sums in fast memory."""
    unrolled = products * rows * cols
    return unrolled + STORE_LENGTH * rows * cols <= DEFAULT_LENGTH and (cols == 1 or unrolled <= DEFAULT_COLS)


def _steps(geo: Geometry, gradient: bool) -> tuple[int, int, int, int, int]:
    """UP, DOWN, TAP, OFFSET and LEFT of conv2d_tile.glsl."""
    stride, dilation, border = geo.stride[1], geo.dilation[1], geo.border[1]
    if not gradient:
        return stride, 1, dilation, 0, border
    # Tap k of input pixel i is window (i + border - k * dilation) / stride; a whole number of strides is added, so that
    # what is divided is not negative.
    reach = -(-((geo.window[1] - 1) * dilation) // stride) * stride
    return 1, stride, -dilation, border % stride + reach, (reach - border + border % stride) // stride


def _span(rows: int, geo: Geometry, gradient: bool) -> int:
    up, down, tap, offset, _ = _steps(geo, gradient)
    return ((rows - 1) * up + offset + max(tap, 0) * (geo.window[1] - 1)) // down + 1


def _image_pass(
    x: Tensor, w: Tensor, out: Tensor, geo: Geometry, gradient: bool, variant: Variant, epilogue: Expression | None
) -> Pass:
    rows, cols, pairs = variant
    up, down, tap, offset, left = _steps(geo, gradient)
    width = out.shape[2]
    last = (-(-width // rows) - 1) * rows * up // down
    span = _span(rows, geo, gradient)
    defines = {
        "GRADIENT": int(gradient),
        "UP": up,
        "DOWN": down,
        "TAP": tap,
        "OFFSET": offset,
        "LEFT": left,
        "SPAN": span,
        "SAFE": min(span, x.shape[2] + left - last),
        "WHOLE": int(width <= rows),
        "KW": geo.window[1],
        "IN_TAIL": x.shape[3] % 4,
        "ONLY_TAIL": int(x.shape[3] < 4),
        "OUT_TAIL": out.shape[3] % 4,
        "PAIRS": pairs,
    }
    uniforms = geo.uniforms | {"in_each": w.shape[2], "steps": x.layout.columns}
    view = (out.shape[0] * out.shape[1], width, out.layout.columns)
    inputs = {"x": x.operand, "w": w.operand}
    flop = _flop(w.shape, x if gradient else out)
    return Pass("conv2d_tile", inputs, (out.operand,), defines, uniforms, view, (rows, cols), epilogue, flop)


# --- the gradient with respect to the weights ------------------------------------------------------------------------


def weights(x: Tensor, g: Tensor, dtype: np.dtype, geo: Geometry, groups: int) -> Tensor:
    """conv2d_weight_grad of images x and the result's gradient g."""
    shape = (*geo.window, x.shape[3] // groups, g.shape[3])
    if groups == 1 and geo.image == geo.result and geo.window == geo.stride == (1, 1) and geo.border == (0, 0):
        pixels = x.shape[0] * x.shape[1] * x.shape[2]
        rows, columns = x.viewed((pixels, x.shape[3])), g.viewed((pixels, g.shape[3]))
        return product(rows, columns, transpose_a=True).viewed(shape)
    variants = [PLAIN]
    if groups == 1 and _whole_rows(x) and _whole_rows(g):
        variants += _weight_tiles(min(x.shape[3], 4), g.layout.columns, geo)

    def run(variant: Variant) -> Tensor:
        if variant == PLAIN:
            return _plain_weights(x, g, shape, dtype, geo, groups)
        return _tiled_weights(x, g, shape, dtype, geo, variant)

    default = _default_weight_tile(variants, min(x.shape[3], 4), g.layout.columns, geo)
    return run(engine().tuner.pick("conv2d_weight_grad", _shape(x, shape, geo), variants, default, run))


def _plain_weights(x: Tensor, g: Tensor, shape: tuple[int, ...], dtype: np.dtype, geo: Geometry, groups: int) -> Tensor:
    batch, (rows, width) = x.shape[0], geo.result
    per_share = min(-(-batch // min(batch, MOST_SHARES)), max(LONGEST_LOOP // (rows * width), 1))
    rows_per_share = min(rows, max(LONGEST_LOOP // width, 1))
    row_shares = -(-rows // rows_per_share)
    shares = -(-batch // per_share) * row_shares
    parts = new((shares, *shape), dtype if shares == 1 else float32)
    defines, uniforms = _plain(shape[2], shape[3] // groups, groups, geo)
    uniforms |= {"batch": batch, "per_share": per_share, "row_shares": row_shares, "rows_per_share": rows_per_share}
    inputs = {"x": x.operand, "g": g.operand}
    engine().run(Pass("conv2d_weight_grad", inputs, (parts.operand,), defines, uniforms, flop=_flop(shape, g)))
    return reduce(parts, "sum", 0, False, dtype)


def _weight_tiles(lanes: int, columns: int, geo: Geometry) -> list[Variant]:
    """The tiles that suit: (taps, texels of output channels, windows of a step)."""
    window, width = geo.window[1], geo.result[1]
    fragment = device().path == "fragment"
    found: dict[Variant, None] = {}
    for cols in (1, 2, 4):
        for most_taps in (8, 2, 1) if fragment else (7,):
            taps = _balanced(window, most_taps)
            if cols >= 2 * columns or fragment and taps * lanes * cols > MOST_ATTACHMENTS:
                continue
            for unit in (width, 4, 2) if fragment else (width, 7, 4):
                short = taps * cols * unit * lanes <= MOST_UNROLLED and _weight_span(taps, unit, geo) <= MOST_SPAN
                if short and unit <= min(width, 32):
                    found[taps, cols, unit] = None
    return list(found)


def _default_weight_tile(variants: list[Variant], lanes: int, columns: int, geo: Geometry) -> Variant:
    """A sound choice without measuring."""
    tiles = [v for v in variants if v != PLAIN]
    if not tiles:
        return PLAIN
    window, width = geo.window[1], geo.result[1]
    if device().path == "fragment":  # the fewest fetches for each product, in steps that keep few texels at once

        def fetches(v: Variant) -> tuple[float, ...]:
            taps, cols, unit = v
            blocks = -(-window // taps) * -(-columns // cols)
            best = 32 if lanes == 1 else 4 if lanes < 4 else 2
            return (abs(unit - best), (_weight_span(taps, unit, geo) + unit * cols) * blocks / unit, -cols)

        return min(tiles, key=fetches)
    # Whole rows with as many columns as keep the kernel short, else short steps of many columns.
    column, channel, other = DEFAULT_WEIGHTS
    limits = {v: column if v[1] == 1 else channel if lanes == 1 else other for v in tiles}
    short = [v for v in tiles if v[0] * v[1] * v[2] * lanes <= limits[v]]
    whole = [v for v in short if v[0] == window and v[2] == width]
    return max(whole) if whole else max(short or tiles[:1], key=lambda v: (v[1], -abs(v[2] - 4)))


def _weight_span(taps: int, unit: int, geo: Geometry) -> int:
    return (unit - 1) * geo.stride[1] + (taps - 1) * geo.dilation[1] + 1


def _tiled_weights(
    x: Tensor, g: Tensor, shape: tuple[int, ...], dtype: np.dtype, geo: Geometry, variant: Variant
) -> Tensor:
    taps, cols, unit = variant
    stride, dilation, border = geo.stride[1], geo.dilation[1], geo.border[1]
    (rows_y, width), c_in, columns = geo.result, x.shape[3], g.layout.columns
    lanes = min(c_in, 4)
    blocks = -(-geo.window[1] // taps)
    part_rows = -(-c_in // lanes) * blocks * taps * lanes
    # The sum is split over the batch, then over rows of the result, until there are tiles enough and none sums too much.
    tiles = geo.window[0] * part_rows // (taps * lanes) * -(-columns // cols)
    wanted = max(-(-ENOUGH_TILES[device().path] // tiles), -(-x.shape[0] * rows_y * width // LONGEST_SUM))
    per_share = -(-x.shape[0] // min(wanted, x.shape[0]))
    items = -(-x.shape[0] // per_share)
    rows_per_share = -(-rows_y // min(-(-wanted // items), rows_y))
    row_shares = -(-rows_y // rows_per_share)
    shares = items * row_shares

    parts = new((shares * geo.window[0], part_rows, g.shape[3]), float32)
    last = (width - unit) * stride + (blocks - 1) * taps * dilation
    span = _weight_span(taps, unit, geo)
    order = {"TAPS": taps, "LANES": lanes, "BLOCKS": blocks}
    defines = order | {
        "UNIT": unit,
        "STRIDE": stride,
        "DILATION": dilation,
        "SPAN": span,
        "SAFE_FROM": border,
        "SAFE_TO": min(span, geo.image[1] + border - last),
        "WHOLE": int(unit == width and blocks == 1),
        "TAIL": int(width % unit != 0),
    }
    uniforms = geo.uniforms | {
        "batch": x.shape[0],
        "per_share": per_share,
        "row_shares": row_shares,
        "rows_per_share": rows_per_share,
    }
    view = (shares * geo.window[0], part_rows, columns)
    inputs = {"x": x.operand, "g": g.operand}
    tile = (taps * lanes, cols)
    flop = _flop(shape, g)
    engine().run(Pass("conv2d_weight_grad_tile", inputs, (parts.operand,), defines, uniforms, view, tile, flop=flop))
    out = new(shape, dtype)
    uniforms = geo.uniforms | {"in_each": c_in, "shares": shares, "part_rows": part_rows}
    sums = float(shares * out.size)
    engine().run(Pass("conv2d_weight_grad_sum", {"parts": parts.operand}, (out.operand,), order, uniforms, flop=sums))
    return out
