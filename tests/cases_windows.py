"""Rows of the table of cases: convolution and pooling. The references are those of `test_conv.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from case_parts import ADDED, EXACT, normal, rows
from harness import Case, Run
from test_conv import conv_reference, windows

import gpgpu_gl as gg


def _conv2d(x: np.ndarray, w: np.ndarray, bias: Any = 0.0, **options: Any) -> np.ndarray:
    return conv_reference(x, w, **options) + bias


def _largest(x: np.ndarray, kernel_size: Any, stride: Any = None, padding: Any = 0) -> np.ndarray:
    size = (kernel_size,) * 2 if isinstance(kernel_size, int) else kernel_size
    return windows(x, size, size if stride is None else stride, padding, fill=-np.inf).max((3, 4))


def _average(
    x: np.ndarray, kernel_size: Any, stride: Any = None, padding: Any = 0, count_include_pad: bool = True
) -> np.ndarray:
    size = (kernel_size,) * 2 if isinstance(kernel_size, int) else kernel_size
    step = size if stride is None else stride
    total = windows(x, size, step, padding).sum((3, 4))
    counted = np.ones_like(x) if not count_include_pad else np.ones((*x.shape[:3], x.shape[3]))
    inside = windows(counted, size, step, padding, fill=float(count_include_pad)).sum((3, 4))
    return total / inside


_SPOTTED = np.random.default_rng(0).standard_normal((2, 5, 6, 3)).astype(np.float32)
_SPOTTED[0, 1, 2, 0], _SPOTTED[1, 4, 5, 2], _SPOTTED[0, 4, 0, 1] = np.nan, np.inf, -np.inf
_SPOTTED[1, :2, :2] = -np.inf
_POOLS = rows(
    ((2, 4, 6, 4), {"kernel_size": 2}), ((2, 5, 7, 5), {"kernel_size": 2}),
    ((1, 7, 6, 3), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((2, 6, 6, 1), {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 0)}), ((1, 5, 5, 2), {"kernel_size": 2, "stride": 3}),
    ((0, 4, 4, 4), {"kernel_size": 2}),
)  # fmt: skip

WINDOWS = [
    Case(
        "conv2d", gg.conv2d, _conv2d,
        [
            Run(shapes, options)
            for shapes, options in (
                (((1, 3, 3, 1), (2, 2, 1, 3)), {}), (((2, 5, 6, 4), (3, 3, 4, 8), (8,)), {}),
                (((1, 7, 7, 1), (5, 5, 1, 16), (16,)), {"padding": "same"}),
                (((2, 8, 9, 5), (3, 3, 5, 6)), {"stride": 2, "padding": "same"}),
                (((2, 9, 9, 4), (3, 3, 4, 4)), {"dilation": 2, "padding": (2, 1)}),
                (((2, 6, 6, 8), (3, 3, 4, 8), (8,)), {"groups": 2, "padding": 1}),
                (((2, 6, 6, 6), (3, 3, 2, 9)), {"groups": 3, "stride": 2}),
                (((2, 6, 7, 5), (3, 3, 1, 5)), {"groups": 5, "padding": "same"}),
                (((2, 4, 4, 7), (1, 1, 7, 9), (9,)), {}), (((70, 3, 3, 4), (3, 3, 4, 4)), {"padding": 1}),
                (((0, 5, 5, 4), (3, 3, 4, 4)), {}),
            )
        ],
        ADDED, normal, dtypes="fh", result="float", grad=(0, 1, 2),
        edges=[((_SPOTTED, np.full((2, 2, 3, 5), 0.5, np.float32)), {"padding": 1})],
        covers=("conv2d_input_grad", "conv2d_weight_grad"), speed=Run(((32, 28, 28, 16), (3, 3, 16, 32)), {"padding": 1}),
    ),
    Case(
        "max_pool2d", gg.max_pool2d, _largest, _POOLS, EXACT, normal, dtypes="fh", result="same", grad=(0,),
        edges=[((_SPOTTED,), {"kernel_size": 2}), ((_SPOTTED,), {"kernel_size": 3, "stride": 1, "padding": 1})],
        covers=("max_pool2d_vjp", "max_pool2d_pick"), speed=Run(((32, 28, 28, 16),), {"kernel_size": 2}),
    ),
    Case(
        "avg_pool2d", gg.avg_pool2d, _average,
        [*_POOLS, Run(((1, 5, 4, 3),), {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False})],
        ADDED, normal, dtypes="fh", result="same", grad=(0,), edges=[((_SPOTTED,), {"kernel_size": 2})], covers=("avg_pool2d_vjp",),
    ),
]  # fmt: skip
