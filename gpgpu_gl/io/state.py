"""Weights and checkpoints as files."""

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpgpu_gl.errors import FileError
from gpgpu_gl.io import arrays as array_files
from gpgpu_gl.io.arrays import KIND
from gpgpu_gl.io.atomic import write_atomic

CHECKPOINT, WEIGHTS = "checkpoint 1", "weights 1"
INFO = "info"


def save_weights(
    path: str | os.PathLike[str], weights: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes named arrays of any shape as a safetensors file, whole or not at all; equal arguments give equal bytes.

    Raises FileError when it cannot be written (the earlier file stays), DTypeError for a dtype that cannot be saved.
    """
    write_atomic(path, array_files.pack(weights, {**(metadata or {}), KIND: WEIGHTS}))


def load_weights(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays, by name, and the metadata of a safetensors file, ours or another program's.

    Raises FileError, naming the file, when it is missing, truncated, damaged or of another kind.
    """
    arrays, metadata = array_files.read(path)
    kind = metadata.pop(KIND, WEIGHTS)
    if kind != WEIGHTS:
        raise FileError(f"{os.fspath(path)}: holds a {kind}, not weights: give the weights.safetensors beside it")
    return arrays, metadata


def save_checkpoint(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], info: Mapping[str, Any]) -> None:
    """Writes named arrays and whatever else the run needs (info, as JSON) to one file, whole or not at all.

    Arrays come back bit for bit, floats in info too. Raises as save_weights does, and TypeError for an info that JSON
    cannot hold.
    """
    text = json.dumps(info, sort_keys=True, default=_number)
    write_atomic(path, array_files.pack(arrays, {KIND: CHECKPOINT, INFO: text}))


def load_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays, by name, and the info of a file that save_checkpoint wrote.

    Raises FileError, naming the file, when it is missing, truncated, damaged or of another kind.
    """
    arrays, metadata = array_files.read(path)
    kind = metadata.get(KIND)
    if kind != CHECKPOINT or INFO not in metadata:
        found = "a safetensors file of another program" if kind is None else kind
        raise FileError(f"{os.fspath(path)}: not a checkpoint that this version reads, but {found}")
    return arrays, json.loads(metadata[INFO])


def check_state(
    expected: Mapping[str, tuple[int, ...]], found: Mapping[str, np.ndarray], source: str = "the weights"
) -> None:
    """Compares the shapes that a model expects, by name, with the arrays found in source.

    Raises FileError that names each missing, unexpected and misshapen entry.
    """
    wrong = [f"missing: {name} {tuple(expected[name])}" for name in expected if name not in found]
    wrong += [f"unexpected: {name} {tuple(found[name].shape)}" for name in found if name not in expected]
    wrong += [
        f"misshapen: {name} {tuple(found[name].shape)}, expected {tuple(shape)}"
        for name, shape in expected.items()
        if name in found and tuple(found[name].shape) != tuple(shape)
    ]
    if wrong:
        raise FileError(f"{source} belongs to another architecture:\n  " + "\n  ".join(wrong))


def _number(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a checkpoint's info cannot hold {type(value).__name__}")
