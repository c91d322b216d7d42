"""Files that are written whole or not at all."""

import contextlib
import errno
import json
import math
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from gpgpu_gl.errors import FileError

LEFTOVER_AGE = 60.0  # seconds after which a temporary file must be from a process that was killed


def make_folder(path: str | os.PathLike[str]) -> Path:
    """The folder at path, made with its parents where it does not exist. Raises FileError."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise FileError(f"{folder}: a file of this name is in the way of the folder") from error
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be made: {error.strerror or error}") from error
    return folder


def write_atomic(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes data to the file at path so that a reader finds the earlier file or the new one, never a part of it.

    The data goes to a temporary file in the same folder, is flushed to the disk, and takes the name at the end: a full
    disk, a kill or a power cut before that leaves the earlier file whole. Raises FileError, the temporary file removed.
    """
    target = Path(os.path.realpath(path))  # a link stays a link: what it points to is replaced
    _remove_leftovers(target)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=f".{target.name}.", suffix=".tmp", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode(target))
        os.replace(temporary, target)
    except BaseException as error:  # an interrupt too must not leave the temporary file
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        if isinstance(error, OSError):
            raise FileError(_explain(error, path, target.parent, len(data))) from error
        raise
    _sync_folder(target.parent)


def save_json(path: str | os.PathLike[str], value: Any) -> None:
    """Writes value as JSON, whole or not at all.

    NumPy scalars and arrays become numbers and lists; NaN and infinities, which JSON lacks, become null.
    Raises FileError when the file cannot be written, TypeError for a value that JSON cannot hold.
    """
    write_atomic(path, (json.dumps(_plain(value), indent=1, allow_nan=False) + "\n").encode())


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _mode(target: Path) -> int:
    """The earlier file's permissions, or those that a new file gets: temporary files are private otherwise."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _remove_leftovers(target: Path) -> None:
    with contextlib.suppress(OSError):
        for entry in target.parent.iterdir():
            ours = entry.name.startswith(f".{target.name}.") and entry.name.endswith(".tmp")
            if ours and time.time() - entry.stat().st_mtime > LEFTOVER_AGE:
                entry.unlink()


def _sync_folder(folder: Path) -> None:
    """Makes the new name itself survive a power cut, where the system can (Windows cannot open a folder)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _explain(error: OSError, path: str | os.PathLike[str], folder: Path, size: int) -> str:
    text = f"{os.fspath(path)}: cannot be written: {error.strerror or error}"
    if error.errno == errno.ENOENT:
        return f"{text}: the folder {folder} does not exist"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        free = ""
        with contextlib.suppress(OSError):
            free = f", {shutil.disk_usage(folder).free} are free"
        text = f"{text}: {size} bytes are needed{free}. Make room or choose another folder"
    return f"{text}; an earlier file of this name is as it was"
