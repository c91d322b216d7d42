"""Elementwise operators: one row each, its GLSL expression beside its gradient rule.

Expressions are over scalars x0, x1, ...; functions that GLSL lacks or gets wrong at the edges are in
shaders/lib/numeric.glsl.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gpgpu_gl.dtypes import as_dtype, bool_, float32, int32, result_type
from gpgpu_gl.errors import DTypeError
from gpgpu_gl.op import Op, Rule, op
from gpgpu_gl.ops.pointwise import Operand, is_integer, is_number, pointwise, scalar_of
from gpgpu_gl.ops.reduce import unbroadcast
from gpgpu_gl.tensor import Tensor, tensor

Dtype = Callable[[np.dtype], np.dtype]
Gradient = Callable[..., Tensor]


def _number(dtype: np.dtype) -> np.dtype:
    return int32 if dtype == bool_ else dtype


def _float(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind == "f" else float32


def _bool(dtype: np.dtype) -> np.dtype:
    return bool_


def as_operand(x: Any) -> Operand:
    """A tensor or a Python number; arrays and lists become tensors."""
    if isinstance(x, Tensor):
        return x
    if is_number(x):
        return x.item() if isinstance(x, np.generic) else x
    return tensor(x)


def as_tensor(x: Any) -> Tensor:
    """A tensor; numbers, arrays and lists are uploaded."""
    return x if isinstance(x, Tensor) else tensor(x)


def common(*operands: Operand) -> np.dtype:
    """The dtype that operands are computed in; Python numbers only decide between integer and float."""
    found = result_type(*[x.dtype for x in operands if isinstance(x, Tensor)])
    for x in operands:
        if not isinstance(x, Tensor) and not isinstance(x, bool):
            if not is_integer(x) and found.kind != "f":
                found = float32
            elif found == bool_:
                found = int32
    return found


def unary(name: str, expr: str, rule: Rule | None, doc: str, dtype: Dtype = _number, whole: bool = False) -> Op:
    """An operator of one tensor. dtype: result's from the argument's; whole: it leaves integers as they are."""

    def forward(x: Any) -> Tensor:
        x = as_tensor(x)
        result = dtype(x.dtype)
        if whole and result == int32:
            return x.astype(int32)
        seen = scalar_of(x.dtype if dtype is _bool else result)
        return pointwise(expr, (x,), result, (seen,))

    forward.__name__ = forward.__qualname__ = name
    forward.__doc__ = doc
    return Op(name, forward, (rule,) if rule else ())


def binary(
    name: str, expr: str, rules: tuple[Gradient, Gradient] | None, doc: str, dtype: Dtype = _number, arg: Dtype | None = None
) -> Op:
    """An operator of two broadcast operands. rules give gradients of the result's shape; they are summed back."""

    def forward(x: Any, y: Any) -> Tensor:
        x, y = as_operand(x), as_operand(y)
        if not isinstance(x, Tensor) and not isinstance(y, Tensor):
            x = tensor(x)
        seen = common(x, y)
        result = dtype(seen)
        scalar = scalar_of(arg(seen) if arg else seen if dtype is _bool else result)
        return pointwise(expr, (x, y), result, (scalar, scalar))

    forward.__name__ = forward.__qualname__ = name
    forward.__doc__ = doc
    if rules is None:
        return Op(name, forward, ())
    left, right = rules
    return Op(
        name,
        forward,
        (
            lambda g, out, x, y: unbroadcast(left(g, out, x, y), x.shape),
            lambda g, out, x, y: unbroadcast(right(g, out, x, y), y.shape),
        ),
    )


# --- arithmetic ---------------------------------------------------------------------------------

add = binary("add", "x0 + x1", (lambda g, out, x, y: g, lambda g, out, x, y: g), "x + y.")
subtract = binary("subtract", "x0 - x1", (lambda g, out, x, y: g, lambda g, out, x, y: -g), "x - y.")
multiply = binary("multiply", "x0 * x1", (lambda g, out, x, y: g * y, lambda g, out, x, y: g * x), "x * y.")
divide = binary(
    "divide",
    "x0 / x1",
    (lambda g, out, x, y: g / y, lambda g, out, x, y: -(g * out) / y),
    "x / y in floats; by zero as IEEE 754.",
    dtype=_float,
)


def _power_slope(x: Operand, y: Operand) -> Operand:
    """y x^(y - 1); 0 where y is 0, also at x = 0."""
    if isinstance(y, Tensor):
        return where(y == 0, 0.0, y * power(x, y - 1))
    return power(x, y - 1) * y if y else 0


power = binary(
    "power",
    "power(x0, x1)",
    (lambda g, out, x, y: g * _power_slope(x, y), lambda g, out, x, y: g * where(x == 0, 0.0, out * log(where(x == 0, 1.0, x)))),
    "x to the power y; NaN for a fractional power of a negative number.",
)
floor_divide = binary("floor_divide", "floor_divide(x0, x1)", None, "The quotient rounded down; integers exactly (0 by zero).")
remainder = binary(
    "remainder",
    "remainder(x0, x1)",
    (lambda g, out, x, y: g, lambda g, out, x, y: -g * floor_divide(x, y)),
    "x - y * floor_divide(x, y): the sign of y.",
)
maximum = binary(
    "maximum",
    "maximum(x0, x1)",
    (lambda g, out, x, y: g * _prefer(x, y), lambda g, out, x, y: g * (1 - _prefer(x, y))),
    "The larger of x and y; NaN where either is. A tie shares the gradient.",
)
minimum = binary(
    "minimum",
    "minimum(x0, x1)",
    (lambda g, out, x, y: g * (1 - _prefer(x, y)), lambda g, out, x, y: g * _prefer(x, y)),
    "The smaller of x and y; NaN where either is. A tie shares the gradient.",
)
_prefer = binary("_prefer", "x0 > x1 ? 1.0 : x0 == x1 ? 0.5 : 0.0", None, "Share of x in maximum(x, y).", dtype=_float)

# --- comparison and logic -----------------------------------------------------------------------

equal = binary("equal", "x0 == x1", None, "x == y.", dtype=_bool)
not_equal = binary("not_equal", "x0 != x1 || is_nan(x0) || is_nan(x1)", None, "x != y; True with NaN.", dtype=_bool)
less = binary("less", "x0 < x1", None, "x < y.", dtype=_bool)
less_equal = binary("less_equal", "x0 <= x1", None, "x <= y.", dtype=_bool)
greater = binary("greater", "x0 > x1", None, "x > y.", dtype=_bool)
greater_equal = binary("greater_equal", "x0 >= x1", None, "x >= y.", dtype=_bool)
logical_and = binary("logical_and", "bool(x0) && bool(x1)", None, "Both are true (not zero).", dtype=_bool)
logical_or = binary("logical_or", "bool(x0) || bool(x1)", None, "At least one is true (not zero).", dtype=_bool)
logical_xor = binary("logical_xor", "bool(x0) != bool(x1)", None, "Just one is true (not zero).", dtype=_bool)
logical_not = unary("logical_not", "!bool(x0)", None, "x is false (zero).", dtype=_bool)
isnan = unary("isnan", "is_nan(x0)", None, "x is NaN, by its bits.", dtype=_bool)
isinf = unary("isinf", "is_inf(x0)", None, "x is an infinity.", dtype=_bool)
isfinite = unary("isfinite", "!(is_nan(x0) || is_inf(x0))", None, "x is neither NaN nor infinite.", dtype=_bool)

# --- functions of one number --------------------------------------------------------------------

negative = unary("negative", "-x0", lambda g, out, x: -g, "-x.")
abs = unary("abs", "abs(x0)", lambda g, out, x: g * sign(x), "|x|; the gradient at 0 is 0.")  # noqa: A001
sign = unary("sign", "sign_(x0)", lambda g, out, x: g * 0, "-1, 0 or 1; NaN stays NaN.")
square = unary("square", "x0 * x0", lambda g, out, x: g * (x * 2), "x * x.")
reciprocal = unary("reciprocal", "1.0 / x0", lambda g, out, x: -(g * out * out), "1 / x.", dtype=_float)
sqrt = unary("sqrt", "sqrt(x0)", lambda g, out, x: g * 0.5 / out, "Square root; NaN below 0.", dtype=_float)
rsqrt = unary("rsqrt", "1.0 / sqrt(x0)", lambda g, out, x: g * -0.5 * out / x, "1 / sqrt(x).", dtype=_float)
exp = unary("exp", "exp_(x0)", lambda g, out, x: g * out, "e to the power x.", dtype=_float)
expm1 = unary("expm1", "expm1_(x0)", lambda g, out, x: g * (out + 1), "exp(x) - 1, exact near 0.", dtype=_float)
log = unary("log", "log_(x0)", lambda g, out, x: g / x, "Natural logarithm; NaN below 0.", dtype=_float)
log1p = unary("log1p", "log1p_(x0)", lambda g, out, x: g / (x + 1), "log(1 + x), exact near 0.", dtype=_float)
sin = unary("sin", "sin_(x0)", lambda g, out, x: g * cos(x), "Sine of x radians.", dtype=_float)
cos = unary("cos", "cos_(x0)", lambda g, out, x: -(g * sin(x)), "Cosine of x radians.", dtype=_float)
floor = unary("floor", "floor(x0)", lambda g, out, x: g * 0, "Rounded down.", whole=True)
ceil = unary("ceil", "ceil(x0)", lambda g, out, x: g * 0, "Rounded up.", whole=True)
trunc = unary("trunc", "trunc(x0)", lambda g, out, x: g * 0, "Rounded towards 0.", whole=True)
round = unary("round", "roundEven(x0)", lambda g, out, x: g * 0, "To the nearest; halves to even.", whole=True)  # noqa: A001

# --- activations --------------------------------------------------------------------------------

tanh = unary("tanh", "tanh_(x0)", lambda g, out, x: g * (1 - out * out), "Hyperbolic tangent.", dtype=_float)
sigmoid = unary("sigmoid", "sigmoid(x0)", lambda g, out, x: g * (out * (1 - out)), "1 / (1 + exp(-x)).", dtype=_float)
softplus = unary("softplus", "softplus(x0)", lambda g, out, x: g * sigmoid(x), "log(1 + exp(x)).", dtype=_float)
erf = unary("erf", "erf(x0)", lambda g, out, x: g * (exp(-(x * x)) * 1.1283791670955126), "Error function.", dtype=_float)
relu = unary("relu", "relu(x0)", lambda g, out, x: relu_vjp(g, out), "max(x, 0); NaN stays NaN; the gradient at 0 is 0.")
relu_vjp = binary(
    "relu_vjp",
    "x1 <= 0.0 ? 0.0 : x0",
    (lambda g, out, x, y: relu_vjp(g, y), lambda g, out, x, y: g * 0),
    "x where y > 0, else 0: the gradient of relu from its result y.",
    dtype=_float,
)


@op("leaky_relu", lambda g, out, x, negative_slope=0.01: _leaky(g, x, negative_slope))
def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x where positive, else negative_slope * x."""
    return pointwise("x0 < 0.0 ? x0 * x1 : x0", (x, float(negative_slope)), _float(x.dtype), ("float", "float"))


def _leaky(g: Tensor, x: Tensor, negative_slope: float) -> Tensor:
    return where(x > 0, g, g * negative_slope)


GELU = {
    "none": "x0 * 0.5 * (1.0 + erf(x0 * 0.707106781))",
    "tanh": "x0 * 0.5 * (1.0 + tanh_((x0 + x0 * x0 * x0 * 0.044715) * 0.797884561))",
}


@op("gelu", lambda g, out, x, approximate="none": g * _gelu_slope(x, approximate))
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution's share below x; approximate="tanh" as PyTorch's.

    Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016. Raises DTypeError for another `approximate`.
    """
    if approximate not in GELU:
        raise DTypeError(f'gelu knows approximate="none" and "tanh", not {approximate!r}')
    return pointwise(GELU[approximate], (x,), _float(x.dtype), ("float",))


def _gelu_slope(x: Tensor, approximate: str) -> Tensor:
    if approximate == "none":
        return (1 + erf(x * 0.7071067811865476)) * 0.5 + x * exp(x * x * -0.5) * 0.3989422804014327
    t = tanh((x + x * x * x * 0.044715) * 0.7978845608028654)
    return (1 + t) * 0.5 + x * (1 - t * t) * (1 + x * x * 0.134145) * 0.3989422804014327


# --- selection and conversion -------------------------------------------------------------------


@op(
    "where",
    None,
    lambda g, out, c, x, y: unbroadcast(where(c, g, 0.0), x.shape),
    lambda g, out, c, x, y: unbroadcast(where(c, 0.0, g), y.shape),
)
def where(condition: Any, x: Any, y: Any) -> Tensor:
    """x where condition, else y; all three broadcast. Nothing of the side not chosen gets through, NaN included."""
    c, x, y = as_tensor(condition), as_operand(x), as_operand(y)
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        x = tensor(x)
    found = common(x, y)
    scalar = scalar_of(found)
    return pointwise("x0 != 0.0 ? x1 : x2", (c, x, y), found, ("float", scalar, scalar))


def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:  # noqa: A002
    """x limited to [min, max]; either bound may be None. NaN stays NaN."""
    out = as_tensor(x)
    if min is not None:
        out = maximum(out, min)
    return out if max is None else minimum(out, max)


@op("astype", lambda g, out, x, dtype: g.astype(x.dtype))
def _astype(x: Tensor, dtype: np.dtype) -> Tensor:
    """Converted to another dtype: floats to int32 towards zero, anything but zero (NaN too) to True."""
    if dtype == bool_:
        return not_equal(x, 0)
    return pointwise("x0", (x,), dtype, (scalar_of(dtype),))


def astype(x: Tensor, dtype: DTypeLike) -> Tensor:
    """The tensor in another dtype; itself where it has that dtype."""
    found = as_dtype(dtype)
    return x if found == x.dtype else _astype(x, dtype=found)
