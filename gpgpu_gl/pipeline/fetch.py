"""Vertex fetch: attributes and indices, checked and laid out as the vertex shader reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.errors import DTypeError, GpgpuError, ShapeError
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.tensor import Tensor

RESTART = -1  # in a stream of indices: the strip starts anew


@dataclass(frozen=True)
class Fetched:
    """What a draw reads. stream: (n,) vertex numbers in drawing order, RESTART between strips.

    contents: (array, moderngl format, attribute name) for each active attribute.
    """

    stream: np.ndarray
    indexed: bool
    count: int
    instances: int
    contents: tuple[tuple[np.ndarray, str, str], ...]


def fetch(
    program: Any,
    state: State,
    attributes: Mapping[str, Any],
    indices: Any = None,
    instances: int = 1,
    instance_attributes: Mapping[str, Any] | None = None,
    count: int | None = None,
) -> Fetched:
    """Lays out the attributes that the program reads. indices: any shape, read in row-major order.

    Raises GpgpuError for an attribute that is missing or unknown, ShapeError for unequal lengths and an index past
    the end, DTypeError for indices that are no integers.
    """
    active = {name: program[name] for name in program if isinstance(program[name], moderngl.Attribute)}
    active = {name: a for name, a in active.items() if not name.startswith("gl_")}
    given = {name: _host(value) for name, value in attributes.items()}
    per_instance = {name: _host(value) for name, value in (instance_attributes or {}).items()}
    lengths = {name: len(value) for name, value in given.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise ShapeError(f"the attributes have unequal lengths: {listed}; each vertex needs one value of each")
    vertices = next(iter(lengths.values()), count)
    if vertices is None:
        raise GpgpuError("a draw without attributes needs count=, the number of vertices")
    if instances < 1:
        raise ShapeError(f"instances is {instances}; a draw has at least 1")
    contents = []
    for name, attribute in active.items():
        if name in per_instance:
            value, suffix = per_instance[name], "/i"
            if len(value) < instances:
                raise ShapeError(f"attribute {name} has {len(value)} values for {instances} instances")
        elif name in given:
            value, suffix = given[name], ""
        else:
            raise GpgpuError(
                f"the vertex shader reads the attribute {name!r}, which was not given; given are {', '.join(given) or 'none'}"
            )
        contents.append((_shaped(name, value, attribute), _format(attribute) + suffix, name))
    return Fetched(_stream(indices, vertices, state), indices is not None, vertices, instances, tuple(contents))


def _host(value: Any) -> np.ndarray:
    array = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
    if array.ndim == 0:
        raise ShapeError("an attribute is an array with a value for each vertex, not a number")
    return array


def _format(attribute: Any) -> str:
    kind = {"f": "f", "i": "i", "I": "u"}.get(attribute.shape)
    if kind is None:
        raise DTypeError(f"attribute {attribute.name} is of a type that cannot be fetched; use float, int or uint")
    return f"{attribute.dimension}{kind}"


def _shaped(name: str, value: np.ndarray, attribute: Any) -> np.ndarray:
    """The values with as many components as the shader's type: missing ones are 0, and 1 for the fourth."""
    if attribute.array_length != 1:
        raise GpgpuError(f"attribute {name} is an array; give its elements as attributes of their own")
    dtype = {"f": np.float32, "i": np.int32, "I": np.uint32}[attribute.shape]
    if attribute.shape != "f" and value.dtype.kind == "f":
        raise DTypeError(f"attribute {name} is an integer in the shader; the values are {value.dtype}")
    if value.ndim == 3:  # matrices, given as written, go column by column
        value = value.swapaxes(1, 2)
    flat = value.reshape(len(value), int(np.prod(value.shape[1:])))
    if flat.shape[1] > attribute.dimension:
        raise ShapeError(
            f"attribute {name} has {attribute.dimension} components in the shader; the values have shape {value.shape}"
        )
    full = np.zeros((len(value), attribute.dimension), dtype)
    if attribute.dimension == 4:
        full[:, 3] = 1
    full[:, : flat.shape[1]] = flat
    return full


def _stream(indices: Any, vertices: int, state: State) -> np.ndarray:
    if indices is None:
        return np.arange(vertices)
    found = _host(indices)
    if found.dtype.kind not in "iu" and found.size:
        raise DTypeError(f"indices are integers, not {found.dtype}")
    stream = found.reshape(-1).astype(np.int64)
    if state.restart is not None:
        stream = np.where(stream == state.restart, RESTART, stream)
    wrong = (stream >= vertices) | (stream < (RESTART if state.restart is not None else 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ShapeError(f"index {stream[at]} at position {at} is outside the {vertices} vertices")
    return stream
