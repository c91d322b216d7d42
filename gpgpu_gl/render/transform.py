"""Transforms of points as tensors: the functions of shaders/lib/transform.glsl, with gradients.

Matrices are (..., 4, 4) in the usual mathematical order, p' = m @ p with points as columns; leading axes broadcast.
Angles are in radians, quaternions (x, y, z, w), axes right-handed; a camera looks along its -z axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gpgpu_gl.autograd import gradients
from gpgpu_gl.dtypes import float32
from gpgpu_gl.errors import ShapeError
from gpgpu_gl.gl.passes import Pass
from gpgpu_gl.op import Op, enable_grad, is_grad_enabled
from gpgpu_gl.ops.create import ones, zeros
from gpgpu_gl.ops.elementwise import as_tensor, cos, sin, sqrt
from gpgpu_gl.ops.linear import matmul
from gpgpu_gl.ops.pointwise import broadcast_shapes
from gpgpu_gl.ops.shape import broadcast_to, concat, reshape, stack
from gpgpu_gl.tensor import Tensor, engine, new

_TAILS: dict[int, tuple[int, ...]] = {1: (), 3: (3,), 4: (4,), 16: (4, 4)}
_RESULTS: dict[int, tuple[int, ...]] = {4: (4, 4), 3: (3, 3), 1: (3,)}


def _batch(name: str, xs: tuple[Tensor, ...], kinds: tuple[int, ...]) -> tuple[int, ...]:
    """The leading axes of the result. Raises ShapeError for an argument whose last axes are not of its kind."""
    leading = []
    for n, (x, kind) in enumerate(zip(xs, kinds, strict=True)):
        tail = _TAILS[kind]
        if len(tail) > x.ndim or x.shape[x.ndim - len(tail) :] != tail:
            raise ShapeError(f"{name}: argument {n} has shape {x.shape}; its last axes must be {tail}")
        leading.append(x.shape[: x.ndim - len(tail)])
    return broadcast_shapes(*leading)


def _define(name: str, kinds: tuple[int, ...], result: int, formula: Callable[..., Tensor]) -> Op:
    """The operator that calls GLSL's function `name`. formula: the same in operators, for the gradient."""

    def forward(*given: Any) -> Tensor:
        xs = tuple(as_tensor(x).astype(float32) for x in given)
        batch = _batch(name, xs, kinds)
        count = math.prod(batch)
        out = new((*batch, *_RESULTS[result]), float32)
        inputs, uniforms = {}, {}
        defines: dict[str, str | int] = {"FUNCTION": name, "ARGS": len(xs), "RESULT": result}
        if count == 0:
            return out
        for n, (x, kind) in enumerate(zip(xs, kinds, strict=True)):
            tail = _TAILS[kind]
            one = math.prod(x.shape[: x.ndim - len(tail)]) == 1
            wide = x if one else broadcast_to(x, (*batch, *tail))
            flat = reshape(wide, (1 if one else count, *(tail or (1,))))
            inputs[f"x{n}"] = flat.operand
            uniforms[f"x{n}_step"] = 0 if one else 1
            defines[f"x{n}_KIND"] = kind
        engine().run(Pass("transform", inputs, (out.operand,), defines, uniforms))
        return out

    def vjp(i: int, g: Tensor, out: Tensor, *given: Any) -> Tensor:
        nested = is_grad_enabled()
        with enable_grad():
            args = [as_tensor(x) for x in given]
            args[i] = args[i].alias(requires_grad=True)
            (found,) = gradients(formula(*args), [args[i]], gradient=g, create_graph=nested)
        return zeros(given[i].shape) if found is None else found

    forward.__doc__ = formula.__doc__
    forward.__name__ = name
    return Op(f"transform.{name}", forward, vjp)


def _matrix(*rows: tuple[Any, ...]) -> Tensor:
    """A tensor (..., rows, columns) of entries that are tensors of the leading axes or numbers."""
    entries = [e for row in rows for e in row]
    shape = broadcast_shapes(*[e.shape for e in entries if isinstance(e, Tensor)])
    zero, one = zeros(shape), ones(shape)
    tensors = [
        broadcast_to(e, shape) if isinstance(e, Tensor) else zero if e == 0 else one if e == 1 else one * e
        for e in entries
    ]
    return reshape(stack(tensors, axis=-1), (*shape, len(rows), len(rows[0])))


def _xyz(v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return v[..., 0], v[..., 1], v[..., 2]


def _unit(v: Tensor) -> Tensor:
    return v / sqrt((v * v).sum(axis=-1, keepdims=True))


def _cross(a: tuple[Tensor, ...], b: tuple[Tensor, ...]) -> tuple[Tensor, Tensor, Tensor]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _dot(a: tuple[Tensor, ...], b: tuple[Tensor, ...]) -> Tensor:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _translate(t: Tensor) -> Tensor:
    """Matrices (..., 4, 4) that move points by t (..., 3)."""
    x, y, z = _xyz(t)
    return _matrix((1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, z), (0, 0, 0, 1))


def _scale(s: Tensor) -> Tensor:
    """Matrices (..., 4, 4) that stretch the axes by s (..., 3)."""
    x, y, z = _xyz(s)
    return _matrix((x, 0, 0, 0), (0, y, 0, 0), (0, 0, z, 0), (0, 0, 0, 1))


def _rotate(axis: Tensor, angle: Tensor) -> Tensor:
    """Matrices (..., 4, 4) that turn by angle (...) radians about axis (..., 3), which may have any length but zero."""
    x, y, z = _xyz(_unit(axis))
    c, s = cos(angle), sin(angle)
    t = 1 - c
    return _matrix(
        (t * x * x + c, t * x * y - s * z, t * x * z + s * y, 0),
        (t * x * y + s * z, t * y * y + c, t * y * z - s * x, 0),
        (t * x * z - s * y, t * y * z + s * x, t * z * z + c, 0),
        (0, 0, 0, 1),
    )


def _turn(q: Tensor) -> tuple[tuple[Tensor, ...], ...]:
    unit = _unit(q)
    x, y, z, w = unit[..., 0], unit[..., 1], unit[..., 2], unit[..., 3]
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def _rotate_quaternion(q: Tensor) -> Tensor:
    """Matrices (..., 4, 4) that turn by quaternions (..., 4) as x, y, z, w, which may have any length but zero."""
    return _matrix(*((*row, 0) for row in _turn(q)), (0, 0, 0, 1))


def _compose(t: Tensor, q: Tensor, s: Tensor) -> Tensor:
    """Matrices (..., 4, 4) that scale by s (..., 3), then turn by quaternions q (..., 4), then move by t (..., 3)."""
    move, factors = _xyz(t), _xyz(s)
    rows = [
        (*(entry * factor for entry, factor in zip(row, factors, strict=True)), by)
        for row, by in zip(_turn(q), move, strict=True)
    ]
    return _matrix(*rows, (0, 0, 0, 1))


def _look_at(eye: Tensor, target: Tensor, up: Tensor) -> Tensor:
    """Matrices (..., 4, 4) from the world to the view of a camera at eye that looks at target, each (..., 3)."""
    z = _unit(eye - target)
    x = _unit(stack(_cross(_xyz(up), _xyz(z)), axis=-1))
    y = _cross(_xyz(z), _xyz(x))
    at = _xyz(eye)
    return _matrix(*((*axis, -_dot(axis, at)) for axis in (_xyz(x), y, _xyz(z))), (0, 0, 0, 1))


def _perspective(fov_y: Tensor, aspect: Tensor, near: Tensor, far: Tensor) -> Tensor:
    """Matrices (..., 4, 4) of a perspective view: opening angle from bottom to top in radians, width / height, distances."""
    f = cos(fov_y * 0.5) / sin(fov_y * 0.5)
    depth = near - far
    return _matrix((f / aspect, 0, 0, 0), (0, f, 0, 0), (0, 0, (far + near) / depth, 2 * far * near / depth), (0, 0, -1, 0))


def _orthographic(left: Tensor, right: Tensor, bottom: Tensor, top: Tensor, near: Tensor, far: Tensor) -> Tensor:
    """Matrices (..., 4, 4) of a parallel view of the box from left to right, bottom to top, near to far."""
    width, height, depth = right - left, top - bottom, far - near
    return _matrix(
        (2 / width, 0, 0, -(right + left) / width),
        (0, 2 / height, 0, -(top + bottom) / height),
        (0, 0, -2 / depth, -(far + near) / depth),
        (0, 0, 0, 1),
    )


def _normal_matrix(m: Tensor) -> Tensor:
    """The inverse transposes (..., 3, 3) of the upper left corners of m (..., 4, 4): what normals are transformed by."""
    a, b, c = (tuple(m[..., r, k] for r in range(3)) for k in range(3))  # columns
    columns = (_cross(b, c), _cross(c, a), _cross(a, b))
    volume = _dot(a, columns[0])
    return _matrix(*(tuple(column[r] / volume for column in columns) for r in range(3)))


def _homogeneous_divide(p: Tensor) -> Tensor:
    """Points (..., 3): x, y, z of p (..., 4), divided by its w."""
    return p[..., :3] / p[..., 3:]


translate = _define("translate", (3,), 4, _translate)
scale = _define("scale", (3,), 4, _scale)
rotate = _define("rotate", (3, 1), 4, _rotate)
rotate_quaternion = _define("rotate_quaternion", (4,), 4, _rotate_quaternion)
compose = _define("compose", (3, 4, 3), 4, _compose)
look_at = _define("look_at", (3, 3, 3), 4, _look_at)
perspective = _define("perspective", (1, 1, 1, 1), 4, _perspective)
orthographic = _define("orthographic", (1, 1, 1, 1, 1, 1), 4, _orthographic)
normal_matrix = _define("normal_matrix", (16,), 3, _normal_matrix)
homogeneous_divide = _define("homogeneous_divide", (4,), 1, _homogeneous_divide)


def apply(m: Any, points: Any, w: float = 1.0) -> Tensor:
    """Points (..., n, 3) transformed by m (..., 4, 4): homogeneous results (..., n, 4). w: 0 for directions.

    The product is the library's matmul, the same included code as in the vertex shader.
    """
    m, points = as_tensor(m).astype(float32), as_tensor(points).astype(float32)
    if points.ndim < 2 or points.shape[-1] != 3 or m.shape[-2:] != (4, 4):
        raise ShapeError(f"apply: points of shape {points.shape} and a matrix of {m.shape}; need (..., n, 3) and (..., 4, 4)")
    last = zeros((*points.shape[:-1], 1)) + w
    return matmul(concat([points, last], axis=-1), m.mT)


def project(m: Any, points: Any) -> Tensor:
    """Points (..., n, 3) transformed by m (..., 4, 4) and divided by w: (..., n, 3)."""
    return homogeneous_divide(apply(m, points))
