"""Named arrays as safetensors bytes, with a checksum, and back."""

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from gpgpu_gl.errors import DTypeError, FileError

DTYPES = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32",
          "float64")  # fmt: skip
HEADER_LIMIT = 100_000_000  # bytes: the format's own limit
KIND = "gpgpu_gl"  # the metadata entry of our own files, which says what a file is
CHECKSUM = "crc32"  # safetensors has no checksum of its own: a flipped bit in a weight would go unseen


def pack(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """The arrays and the metadata as the bytes of a safetensors file: equal arguments give equal bytes.

    Raises DTypeError, naming the entry, for a dtype that the format lacks.
    """
    ready = {}
    for name, array in arrays.items():
        if array.dtype.name not in DTYPES:
            raise DTypeError(f"{name}: {array.dtype.name} cannot be saved; the format holds {', '.join(DTYPES)}")
        ready[name] = np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
    metadata = {**metadata, CHECKSUM: _checksum(ready, metadata)}
    # the library would write the metadata in another order each time, so it is put in here, sorted
    header, values = _split(safetensors.numpy.save(ready))
    header = {"__metadata__": dict(sorted(metadata.items())), **header}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + values


def read(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays and the metadata of the safetensors file at path, ours or another program's.

    Raises FileError, naming the file, when it is missing, not safetensors, truncated or damaged.
    """
    name = os.fspath(path)
    try:
        size = Path(path).stat().st_size
        with open(path, "rb") as file:
            start = file.read(9)
            length = int.from_bytes(start[:8], "little")
            # looked at first: a file of another kind may be too large to read
            if len(start) < 9 or length > HEADER_LIMIT or start[8:] != b"{":
                raise FileError(f"{name}: not a safetensors file: {size} bytes that start with {start!r}")
            if 8 + length > size:
                raise FileError(f"{name}: truncated: the header alone takes {8 + length} bytes, the file has {size}")
            data = start + file.read()
    except OSError as error:
        raise FileError(f"{name}: cannot be read: {error.strerror or error}") from error
    try:
        loaded = safetensors.numpy.load(data)
        metadata = _split(data)[0].get("__metadata__", {})
    except KeyError as error:
        raise FileError(f"{name}: holds values of type {error.args[0]}, which NumPy lacks") from error
    except (safetensors.SafetensorError, ValueError) as error:
        raise FileError(f"{name}: truncated or damaged: {error}") from error
    arrays = {key: loaded[key].copy() for key in sorted(loaded)}  # copied to be writable
    checksum = metadata.pop(CHECKSUM, None)
    # other programs' files have none
    if (checksum or KIND in metadata) and checksum != _checksum(arrays, metadata):
        raise FileError(f"{name}: damaged: the checksum of its values differs from the one it was saved with")
    return arrays, metadata


def _split(data: bytes) -> tuple[dict[str, Any], bytes]:
    end = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:end]), data[end:]


def _checksum(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> str:
    total = zlib.crc32(json.dumps(dict(metadata), sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        total = zlib.crc32(f"{name} {array.dtype.name} {array.shape}".encode(), total)
        total = zlib.crc32(array.tobytes(), total)
    return f"{total:08x}"
