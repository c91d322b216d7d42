"""Data sets of labelled images: the built-in MNIST, Debian's Fashion-MNIST, any folder of IDX files."""

import os
import re
from collections.abc import Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Protocol

import numpy as np

from gpgpu_gl.data import idx
from gpgpu_gl.errors import FileError

DIGITS = tuple("0123456789")
FASHION = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
FASHION_FOLDERS = (Path("/usr/share/datasets/fashion-mnist"),)  # Debian's and Ubuntu's package
FASHION_PACKAGE = "dataset-fashion-mnist"
KNOWN = ("mnist", "fashion-mnist")

PARTS = ("train-images", "train-labels", "test-images", "test-labels")
FILE_NAME = re.compile(r"(?:.*[-_.])?(train|t10k|test)[-_.](images|labels)[-_.]idx\d[-_.]ubyte(?:\.gz)?", re.IGNORECASE)
USUAL_NAMES = (
    "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, "
    "each plain or with .gz"
)


class _Readable(Protocol):
    """What a pathlib.Path and a file inside an installed package have in common."""

    @property
    def name(self) -> str: ...

    def read_bytes(self) -> bytes: ...


class Dataset:
    """Labelled images for training and for testing; each part is read from its file when first used.

    train_images, test_images: (N, H, W) or (N, H, W, C) uint8, 0 to 255, read-only
    train_labels, test_labels: (N,) int64, indices into class_names
    class_names: one string a class
    """

    def __init__(self, name: str, files: dict[str, _Readable], class_names: tuple[str, ...] | None = None):
        self.name = name
        self._files = files
        self._class_names = class_names

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {', '.join(str(file) for file in self._files.values())})"

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        if self._class_names is not None:
            return self._class_names
        highest = max((int(part.max()) for part in (self.train_labels, self.test_labels) if part.size), default=-1)
        return tuple(str(label) for label in range(highest + 1))

    @cached_property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels of the training images, from the head of their file alone."""
        dtype, shape = idx.header(self._bytes("train-images"), self._where("train-images"))
        self._check_images("train-images", dtype, shape)
        return shape[1], shape[2], shape[3] if len(shape) == 4 else 1

    @cached_property
    def train_labels(self) -> np.ndarray:
        return self._labels("train-labels")

    @cached_property
    def test_labels(self) -> np.ndarray:
        return self._labels("test-labels")

    @cached_property
    def train_images(self) -> np.ndarray:
        return self._images("train-images", self.train_labels, "train-labels")

    @cached_property
    def test_images(self) -> np.ndarray:
        return self._images("test-images", self.test_labels, "test-labels")

    def _labels(self, part: str) -> np.ndarray:
        labels = self._read(part)
        if labels.ndim != 1 or labels.dtype.kind not in "iu":
            raise FileError(f"{self._where(part)}: labels are one row of integers, got {_describe(labels.dtype, labels.shape)}")
        if labels.size:
            low, high = int(labels.min()), int(labels.max())
            # without names the labels themselves say how many classes there are
            limit = len(self._class_names) if self._class_names is not None else high + 1
            if low < 0 or high >= limit:
                raise FileError(f"{self._where(part)}: labels from {low} to {high}, expected 0 to {limit - 1}")
        return labels.astype(np.int64)

    def _images(self, part: str, labels: np.ndarray, labels_part: str) -> np.ndarray:
        images = self._read(part)
        self._check_images(part, images.dtype, images.shape)
        if len(images) != len(labels):
            raise FileError(
                f"{self._where(part)}: {len(images)} images, but {len(labels)} labels in {self._where(labels_part)}"
            )
        return images

    def _check_images(self, part: str, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        if len(shape) not in (3, 4) or dtype != np.uint8:
            raise FileError(
                f"{self._where(part)}: images are (count, height, width) or (count, height, width, channels) bytes, "
                f"got {_describe(dtype, shape)}"
            )
        if 0 in shape[1:]:
            raise FileError(f"{self._where(part)}: images without pixels: {_describe(dtype, shape)}")

    def _read(self, part: str) -> np.ndarray:
        return idx.parse(self._bytes(part), self._where(part))

    def _bytes(self, part: str) -> bytes:
        try:
            return self._files[part].read_bytes()
        except OSError as error:
            raise FileError(f"{self._where(part)}: cannot be read: {error.strerror or error}") from error

    def _where(self, part: str) -> str:
        return str(self._files[part])


def load(source: str | os.PathLike[str] = "mnist") -> Dataset:
    """The data set of that name ("mnist", "fashion-mnist"), or the one in that folder of IDX files.

    A known name wins over a folder of the same name: write "./mnist" for the folder.
    Raises FileError for an unknown name, a missing folder or file, and files that do not fit each other.
    """
    text = os.fspath(source)
    if text == "mnist":
        folder = resources.files("gpgpu_gl.data") / "mnist"
        return Dataset("mnist", _find(str(folder), {item.name: item for item in folder.iterdir()}), DIGITS)
    if text == "fashion-mnist":
        for folder_path in FASHION_FOLDERS:
            if folder_path.is_dir():
                return _from_folder(folder_path)
        raise FileError(
            f"Fashion-MNIST was not found in {' or '.join(map(str, FASHION_FOLDERS))}: on Debian and Ubuntu "
            f"`apt-get install {FASHION_PACKAGE}` puts it there; elsewhere give the folder that holds its IDX files"
        )
    path = Path(text).expanduser()
    if not path.exists():
        raise FileError(f"{text!r} is neither a known data set ({', '.join(KNOWN)}) nor a folder that exists")
    if not path.is_dir():
        raise FileError(f"{text!r} is a file: give the folder that holds the IDX files ({USUAL_NAMES})")
    return _from_folder(path)


def _from_folder(path: Path) -> Dataset:
    try:
        entries = {entry.name: entry for entry in sorted(path.iterdir())}
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from error
    name = path.resolve().name
    names = FASHION if re.fullmatch(r"fashion[-_ ]?mnist", name, re.IGNORECASE) else None
    return Dataset(name, _find(str(path), entries), names)


def _find(folder: str, entries: Mapping[str, _Readable]) -> dict[str, _Readable]:
    """The file of each part, by name; of a file and its .gz the plain one, which reads faster."""
    found: dict[str, _Readable] = {}
    for name, entry in sorted(entries.items()):
        match = FILE_NAME.fullmatch(name)
        if not match:
            continue
        part = f"{'train' if match[1].lower() == 'train' else 'test'}-{match[2].lower()}"
        if part not in found:
            found[part] = entry
        elif name != found[part].name + ".gz":  # sorted: the plain file comes before its .gz
            raise FileError(f"{folder}: two files for the {part}: {found[part].name} and {name}; keep one")
    missing = [part for part in PARTS if part not in found]
    if missing:
        raise FileError(f"{folder}: no file for the {', the '.join(missing)}; the usual names are {USUAL_NAMES}")
    return found


def _describe(dtype: np.dtype, shape: tuple[int, ...]) -> str:
    return f"shape {shape} of {dtype.name}"
