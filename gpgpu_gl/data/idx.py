"""IDX files, the format of MNIST and its relatives: a magic number, the sizes, then the values, all big-endian."""

import math
import os
import sys
import zlib

import numpy as np

from gpgpu_gl.errors import FileError

DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
GZIP_MAGIC = b"\x1f\x8b"
MAX_DIMS = 16
LOOK_AHEAD = 4096  # bytes looked at after the end, to say how many are too many


def read(path: str | os.PathLike[str]) -> np.ndarray:
    """The array in the IDX file at path, plain or gzipped.

    Any shape; dtype uint8, int8, int16, int32, float32 or float64, in native byte order;
    read-only where the file's bytes are used as they are.
    Raises FileError, naming the file, when it is missing, truncated, too long or not IDX.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from error
    return parse(data, os.fspath(path))


def parse(data: bytes, name: str) -> np.ndarray:
    """The array in the bytes of an IDX file, plain or gzipped; name is what errors call the file."""
    source = _source(data, name)
    dtype, shape = _head(source, name)
    expected = math.prod(shape) * dtype.itemsize
    needs = f"shape {shape} of {dtype.newbyteorder('=').name} needs {expected} bytes of values"
    body = source.take(expected)
    if len(body) < expected:
        raise FileError(f"{name}: truncated: {needs}, got {len(body)}")
    extra = len(source.take(LOOK_AHEAD))
    if extra:
        raise FileError(f"{name}: {needs}, and {extra}{' or more' if extra == LOOK_AHEAD else ''} extra bytes follow")
    if source.cut:
        raise FileError(f"{name}: truncated: all values are there, but the gzip checksum that ends the file is not")
    return np.frombuffer(body, dtype).astype(dtype.newbyteorder("="), copy=False).reshape(shape)


def header(data: bytes, name: str) -> tuple[np.dtype, tuple[int, ...]]:
    """What parse() would give: dtype, in native byte order, and shape. Unpacks a few bytes only."""
    dtype, shape = _head(_source(data, name), name)
    return dtype.newbyteorder("="), shape


def _source(data: bytes, name: str) -> "_Plain | _Gzip":
    return _Gzip(data, name) if data[:2] == GZIP_MAGIC else _Plain(data)


def _head(source: "_Plain | _Gzip", name: str) -> tuple[np.dtype, tuple[int, ...]]:
    """Takes the magic number and the sizes: the file's dtype and shape."""
    head = source.take(4)
    if len(head) < 4:
        raise FileError(f"{name}: truncated: an IDX file starts with a magic number of 4 bytes, got {len(head)}")
    if head[:2] != b"\0\0" or head[2] not in DTYPES or not 0 < head[3] <= MAX_DIMS:
        raise FileError(
            f"{name}: not an IDX file: the magic number is 0x{head.hex()}, expected 0x0000TTDD with type TT one of "
            f"{', '.join(f'{code:02x}' for code in DTYPES)} and DD dimensions, 1 to {MAX_DIMS}"
        )
    ndim = head[3]
    sizes = source.take(4 * ndim)
    if len(sizes) < 4 * ndim:
        raise FileError(f"{name}: truncated: {ndim} dimensions need {4 * ndim} bytes of sizes, got {len(sizes)}")
    return np.dtype(DTYPES[head[2]]), tuple(int(n) for n in np.frombuffer(sizes, ">u4"))


class _Plain:
    cut = False

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        part = self.data[self.at : self.at + size]
        self.at += len(part)
        return part


class _Gzip:
    """Unpacks just as many bytes as are asked for, so that a small file cannot unpack to fill the memory."""

    def __init__(self, data: bytes, name: str):
        self.rest, self.name = data, name
        self.stream = zlib.decompressobj(wbits=31)
        self.cut = False  # the gzip data ended before its own end mark

    def take(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0 and not self.cut:
            if self.stream.eof:
                # gzip allows several members one after another, and zeros after the last
                self.rest = self.stream.unused_data.lstrip(b"\0")
                if not self.rest:
                    break
                self.stream = zlib.decompressobj(wbits=31)
            try:
                part = self.stream.decompress(self.rest, min(size, sys.maxsize))
            except zlib.error as error:
                raise FileError(f"{self.name}: the gzip data is damaged: {error}") from error
            self.rest = self.stream.unconsumed_tail
            self.cut = not part and not self.stream.eof
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)
