"""The table of cases: one row for each operator, for correctness, gradients and speed.

To add an operator, add its row to the section where it belongs: `test_ops.py` runs every row on every path, and fails
for an operator that has none. Rows of what networks are made of are in `cases_windows.py` and `cases_losses.py`, of
scans and sorting in `cases_sorting.py`; what rows are made of is in `case_parts.py`, what is done with them in `harness.py`.
"""

from __future__ import annotations

import numpy as np
from case_parts import (
    ADDED,
    ALONE,
    AVERAGED,
    CANCELLED,
    CHAINED,
    CLOSE,
    DIVIDED,
    EDGE_ROWS,
    EMPTY_KEPT,
    EMPTY_SUMS,
    EXACT,
    ONE_AXIS,
    REDUCED,
    ROOT,
    ROUNDED,
    SCALED,
    SQUARE,
    above_minus_1,
    binary,
    few_whole,
    index_below,
    mask,
    moving,
    nonzero,
    normal,
    positive,
    reduction,
    rows,
    unary,
    wide,
)  # fmt: skip
from cases_losses import LOSSES, NORMALISATION, RANDOM
from cases_sorting import SORTING
from cases_windows import WINDOWS
from harness import Case, Run
from scipy import special

import gpgpu_gl as gg
from gpgpu_gl.ops import create

# --- arithmetic and comparison --------------------------------------------------------------------

ARITHMETIC = [
    binary("add", np.add, ROUNDED),
    binary("subtract", np.subtract, ROUNDED),
    binary("multiply", np.multiply, ROUNDED),
    binary("divide", np.divide, DIVIDED, (normal, nonzero), result="float"),
    binary("power", np.power, CLOSE, (positive, normal), integers=(0, 5), dtypes="fhi"),
    binary("floor_divide", np.floor_divide, ROUNDED, (wide, nonzero), grad=False, dtypes="fhi"),
    binary("remainder", np.remainder, ROUNDED, (wide, nonzero), dtypes="fhi"),
    binary("maximum", np.maximum, EXACT, covers=("_prefer",)),
    binary("minimum", np.minimum, EXACT),
    *(
        binary(name, getattr(np, name), EXACT, few_whole, grad=False, result="bool", dtypes=dtypes, speed=None)
        for name, dtypes in (
            ("equal", "fhib"), ("not_equal", "fi"), ("less", "fhib"), ("less_equal", "fi"), ("greater", "fi"),
            ("greater_equal", "fi"), ("logical_and", "fhib"), ("logical_or", "fi"), ("logical_xor", "fi"),
        )
    ),
    *(
        unary(name, getattr(np, name), EXACT, few_whole, grad=False, result="bool", speed=None)
        for name in ("logical_not", "isnan", "isinf", "isfinite")
    ),
]  # fmt: skip

# --- functions of one number ----------------------------------------------------------------------

FUNCTIONS = [
    unary("negative", np.negative, EXACT),
    unary("abs", np.abs, EXACT),
    unary("sign", np.sign, EXACT),
    unary("square", np.square, ROUNDED),
    unary("reciprocal", lambda x: 1 / x.astype(float), DIVIDED, nonzero, result="float"),
    unary("sqrt", np.sqrt, ROOT, positive, result="float"),
    unary("rsqrt", lambda x: 1 / np.sqrt(x), ROOT, positive, result="float"),
    unary("exp", np.exp, CLOSE, result="float"),
    unary("expm1", np.expm1, CLOSE, result="float"),
    unary("log", np.log, CLOSE, positive, result="float"),
    unary("log1p", np.log1p, CLOSE, above_minus_1, result="float"),
    unary("sin", np.sin, CLOSE, result="float"),
    unary("cos", np.cos, CLOSE, result="float"),
    unary("floor", np.floor, EXACT, wide),
    unary("ceil", np.ceil, EXACT, wide),
    unary("trunc", np.trunc, EXACT, wide),
    unary("round", np.round, EXACT, wide),
]

# --- activations ----------------------------------------------------------------------------------


def _gelu(x: np.ndarray, approximate: str = "none") -> np.ndarray:
    if approximate == "none":
        return x * 0.5 * (1 + special.erf(x * np.sqrt(0.5)))
    return x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = [
    unary("tanh", np.tanh, CLOSE, result="float"),
    unary("sigmoid", special.expit, CLOSE, result="float"),
    unary("softplus", lambda x: np.logaddexp(0, x), CLOSE, result="float"),
    unary("erf", special.erf, CLOSE, result="float"),
    unary("relu", lambda x: np.maximum(x, 0), EXACT, covers=("relu_vjp",)),
    unary(
        "leaky_relu", lambda x, negative_slope=0.01: np.where(x < 0, x * negative_slope, x), SCALED, result="float",
        runs=[*ALONE, Run(((3, 5),), {"negative_slope": 0.25})],
    ),
    unary("gelu", _gelu, CANCELLED, result="float", runs=[*ALONE, Run(((3, 5),), {"approximate": "tanh"})]),
]  # fmt: skip

# --- selection and conversion ---------------------------------------------------------------------

SELECTION = [
    Case(
        "where", gg.where, np.where,
        [Run(s) for s in (((3, 5),) * 3, ((5,), (3, 5), ()), ((3, 1), (1, 5), (2, 3, 5)), ((), (4,), (4,)), ((0,), (1,), (1,)))],
        EXACT, (mask, normal, normal), result="same", grad=(1, 2), speed=Run(SQUARE.shapes * 3),
    ),
    unary(
        "clip", lambda x, min=None, max=None: np.clip(x, min, max), EXACT,
        runs=rows(
            ((3, 5), {"min": -1, "max": 1}), ((3, 5), {"min": -0.5, "max": 0.5}), ((7,), {"min": 0.0}), ((2, 3, 4), {"max": 1}),
            ((0, 2), {"min": 0}),
        ),
        edges=[],
    ),
    moving(
        "astype", gg.astype, lambda x, dtype: x,  # in float64; test_tensor.py has other dtypes
        rows(((3, 5), {"dtype": "float32"}), ((), {"dtype": "float32"}), ((3, 0), {"dtype": "float32"})), dtypes="f",
    ),
    moving("identity", create.identity, np.copy, ALONE),
    moving("copy", gg.copy, np.copy, ALONE, speed=SQUARE),
]  # fmt: skip

# --- reductions -----------------------------------------------------------------------------------



def _mean(x: np.ndarray, axis: object = None, keepdims: bool = False) -> np.ndarray:
    total = np.sum(x, axis=axis, keepdims=keepdims)
    return total / np.float64(x.size / max(total.size, 1))


REDUCTIONS = [
    reduction("sum", np.sum, ADDED, [*REDUCED, *EMPTY_SUMS, *EMPTY_KEPT[1:]]),
    reduction("mean", _mean, AVERAGED, [*REDUCED, *EMPTY_SUMS], result="float", edges=EDGE_ROWS[:2]),
    reduction("max", np.max, EXACT, [*REDUCED, *EMPTY_KEPT], result="same"),
    reduction("min", np.min, EXACT, [*REDUCED, *EMPTY_KEPT], result="same"),
    reduction("prod", np.prod, CHAINED, [*REDUCED, *EMPTY_SUMS], grad=False),
    reduction("any", np.any, EXACT, [*REDUCED, *EMPTY_SUMS], grad=False, result="bool"),
    reduction("all", np.all, EXACT, [*REDUCED, *EMPTY_SUMS], grad=False, result="bool"),
    reduction("argmax", np.argmax, EXACT, ONE_AXIS, grad=False, result="int32"),
    reduction("argmin", np.argmin, EXACT, ONE_AXIS, grad=False, result="int32"),
]

# --- products -------------------------------------------------------------------------------------

PRODUCTS = [
    Case(
        "matmul", gg.matmul, np.matmul,
        [
            Run(pair)
            for pair in (
                ((3, 5), (5, 7)), ((1, 7), (7, 1)), ((16, 16), (16, 16)), ((33, 130), (130, 21)), ((5,), (5,)), ((5,), (5, 3)),
                ((3, 5), (5,)), ((4, 3, 5), (4, 5, 6)), ((4, 3, 5), (5, 6)), ((3, 5), (4, 5, 6)), ((2, 1, 3, 5), (4, 5, 2)),
                ((4, 3, 5), (5,)), ((5,), (4, 5, 3)), ((70, 9), (9, 70)), ((3, 2100), (2100, 5)), ((0, 5), (5, 3)),
                ((3, 0), (0, 4)), ((2, 0, 3), (3, 2)), ((1, 1), (1, 1)), ((130, 66), (66, 300)),
            )
        ],
        ADDED, normal, dtypes="fh", grad=(0, 1), speed=Run(((512, 512), (512, 512))),
    ),
    Case(
        "matmul of transposed", lambda a, b: gg.matmul(a.T, b.mT), lambda a, b: a.swapaxes(-1, -2) @ b.swapaxes(-1, -2),
        [
            Run(pair)
            for pair in (((5, 3), (7, 5)), ((130, 33), (21, 130)), ((4, 5, 3), (4, 6, 5)), ((4, 5, 3), (6, 5)), ((2, 9), (3, 6, 2)))
        ],
        ADDED, normal, dtypes="fh", grad=(0, 1),
    ),
]  # fmt: skip

# --- shapes ---------------------------------------------------------------------------------------


def _joined(function):  # type: ignore[no-untyped-def]
    return lambda *xs, **options: function(xs, **options)


SHAPED = [
    moving(
        "reshape", gg.reshape, np.reshape,
        rows(
            ((3, 5), {"shape": (5, 3)}), ((2, 3, 4), {"shape": (6, -1)}), ((2, 3, 4), {"shape": (2, 3, 2, 2)}),
            ((24,), {"shape": (2, 3, 4)}), ((), {"shape": (1, 1)}), ((1, 1), {"shape": ()}), ((3, 8), {"shape": (2, 12)}),
            ((3, 0, 2), {"shape": (0, 7)}), ((5, 3), {"shape": 15}), ((7, 1), {"shape": (1, 7)}),
        ),
    ),
    moving(
        "expand_dims", gg.expand_dims, np.expand_dims,
        rows(((3, 5), {"axis": 0}), ((3, 5), {"axis": -1}), ((), {"axis": 0}), ((2, 3, 4), {"axis": 2})),
    ),
    moving(
        "squeeze", gg.squeeze, np.squeeze,
        rows(((1, 5, 1), {}), ((3, 1), {"axis": -1}), ((1, 1), {"axis": (0, 1)}), ((2, 3), {})),
    ),
    moving(
        "permute_dims", gg.permute_dims, np.transpose,
        rows(
            ((3, 5), {"axes": (1, 0)}), ((2, 3, 4), {"axes": (2, 0, 1)}), ((2, 3, 4), {"axes": (0, 2, 1)}),
            ((2, 3, 4), {"axes": (1, 0, 2)}), ((2, 3, 5, 6), {"axes": (3, -2, 0, 1)}), ((7, 1), {"axes": (1, 0)}),
            ((), {"axes": ()}), ((3, 0, 2), {"axes": (2, 1, 0)}), ((5,), {"axes": (0,)}),
        ),
        speed=Run(SQUARE.shapes, {"axes": (1, 0)}),
    ),
    moving(
        "broadcast_to", gg.broadcast_to, np.broadcast_to,
        rows(
            ((3, 1), {"shape": (3, 5)}), ((5,), {"shape": (2, 3, 5)}), ((), {"shape": (3,)}), ((2, 1, 4), {"shape": (2, 3, 4)}),
            ((1, 1), {"shape": (2, 7)}), ((1,), {"shape": (0,)}), ((3, 5), {"shape": (3, 5)}),
        ),
    ),
    moving(
        "flip", gg.flip, np.flip,
        rows(((5,), {}), ((3, 5), {"axis": 0}), ((2, 3, 4), {"axis": (0, -1)}), ((), {}), ((3, 0), {"axis": 1})),
    ),
    moving(
        "slice", lambda x, key: x[key], lambda x, key: x[key],
        rows(
            *(
                ((4, 3, 10), {"key": key})
                for key in (
                    1, -1, np.s_[1:], np.s_[:, 1], np.s_[..., 3:9], np.s_[..., 4:], np.s_[1:, ::-1, 1::2],
                    np.s_[::-2, None, 2, ::-3], np.s_[..., None], np.s_[2:2], np.s_[3, 2, 9], np.s_[:],
                    np.s_[..., -1:-8:-2], np.s_[:, [2, 0, 2]],
                    np.s_[5:1:-1],
                )
            ),
            ((), {"key": ...}), ((5,), {"key": -2}), ((0, 3), {"key": np.s_[:, 1]}),
        ),
        covers=("pad",),
    ),
    moving(
        "pad", lambda x, pad_width, value=0: gg.pad(x, pad_width, value),
        lambda x, pad_width, value=0: np.pad(x, pad_width, constant_values=value),
        rows(
            ((3, 5), {"pad_width": 1}), ((3, 5), {"pad_width": (0, 2)}), ((2, 3, 4), {"pad_width": ((1, 2), (0, 1), (2, 1))}),
            ((2, 3, 4), {"pad_width": ((0, 0), (0, 0), (0, 3)), "value": 2}), ((5,), {"pad_width": 4, "value": -1}),
            ((0, 3), {"pad_width": 1, "value": 1}), ((3, 5), {"pad_width": 0}), ((1, 1), {"pad_width": ((0, 1), (3, 0))}),
        ),
    ),
    moving(
        "concat", _joined(gg.concat), _joined(np.concatenate),
        [
            Run(shapes, {"axis": axis})
            for shapes, axis in (
                (((3, 5), (2, 5)), 0), (((3, 5), (3, 2)), -1), (((2, 3, 4), (2, 1, 4), (2, 0, 4)), 1), (((3,),), 0),
                (((5,), (1,), (7,)), 0), (((2, 3),) * 11, 1), (((1, 3),) * 9, 0), (((3, 5), (2, 2)), None),
                (((0, 3), (0, 3)), 0), (((2, 8), (2, 4)), 1),
            )
        ],
        grad=tuple(range(11)),
    ),
    moving(
        "stack", _joined(gg.stack), _joined(np.stack),
        [
            Run(shapes, {"axis": axis})
            for shapes, axis in ((((3, 5),) * 2, 0), (((3, 5),) * 3, -1), (((), ()), 0), (((4,),) * 2, 1))
        ],
        grad=(0, 1, 2),
    ),
    moving(
        "take", lambda x, index, axis=None: gg.take(x, index, axis=axis), lambda x, index, axis=None: np.take(x, index, axis=axis),
        [
            Run(shapes, {"axis": axis})
            for shapes, axis in (
                (((5,), (7,)), 0), (((4, 3, 5), (2,)), 1), (((4, 3, 5), (6,)), -1), (((4, 3, 5), (2, 3)), 0), (((3, 5), ()), 1),
                (((3, 5), (4,)), None), (((3, 0), (2,)), 0), (((3, 5), (0,)), 1), (((3, 8), (9,)), 0),
            )
        ],
        draws=(normal, index_below(2)), covers=("take_vjp",),
    ),
    Case(
        "one_hot", gg.one_hot, lambda i, num_classes: (i[..., None] == np.arange(num_classes)).astype(float),
        rows(((5,), {"num_classes": 3}), ((2, 3), {"num_classes": 4}), ((), {"num_classes": 5}), ((0,), {"num_classes": 2})),
        EXACT, index_below(5), dtypes="", result="float32",
    ),
]  # fmt: skip

# --- making ---------------------------------------------------------------------------------------


def _made(name: str, reference: object, *options: dict) -> Case:
    """A function that makes a tensor from its options alone."""
    return Case(name, getattr(gg, name), reference, [Run((), o) for o in options], ROUNDED, (), dtypes="")


MAKING = [
    _made(
        "full", np.full,
        *({"shape": s, "fill_value": v} for s, v in (((), 2.5), ((3, 5), -1), (4, True), ((0, 2), 1.0), ((2, 3), np.inf))),
    ),
    *(
        _made(
            name, getattr(np, name), {"shape": (3, 5)}, {"shape": (), "dtype": "int32"}, {"shape": 7, "dtype": "bool"},
            {"shape": (3, 5), "dtype": "float16"},
        )
        for name in ("zeros", "ones")
    ),
    _made(
        "arange", lambda start, stop, step=1: np.arange(start, stop, step),
        *(
            {"start": start, "stop": stop, "step": step}
            for start, stop, step in ((0, 7, 1), (2, 13, 3), (5, -6, -2), (0.5, 3.0, 0.25), (3, 3, 1), (0, 70001, 1))
        ),
    ),
    unary("zeros_like", np.zeros_like, EXACT, grad=False, result="same", edges=[], speed=None),
    unary("ones_like", np.ones_like, EXACT, grad=False, result="same", edges=[], speed=None),
]  # fmt: skip

CASES: list[Case] = [
    *ARITHMETIC, *FUNCTIONS, *ACTIVATIONS, *SELECTION, *REDUCTIONS, *PRODUCTS, *SHAPED, *MAKING, *WINDOWS, *LOSSES, *NORMALISATION,
    *RANDOM, *SORTING,
]  # fmt: skip
