"""gpgpu-gl predict: classifies picture files with trained weights."""

from __future__ import annotations

import argparse
import functools
import sys

import numpy as np

from gpgpu_gl.data import normalise, prepare_digit, prepare_plain
from gpgpu_gl.errors import FileError, GpgpuError
from gpgpu_gl.gl.context import device
from gpgpu_gl.io import check_state, load_weights
from gpgpu_gl.model import SmallCNN
from gpgpu_gl.op import no_grad
from gpgpu_gl.ops.softmax import softmax
from gpgpu_gl.tensor import tensor

SHOWN = 3  # classes that are printed for each picture


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gpgpu-gl predict`."""
    parser.add_argument("images", nargs="+", metavar="IMAGE", help="PNG or JPEG files of any size")
    parser.add_argument("--weights", default="runs/mnist/weights.safetensors", metavar="FILE", help="default %(default)s")
    parser.add_argument("--path", choices=("auto", "fragment", "compute"), default="auto", help="how passes run")


def run(arguments: argparse.Namespace) -> int:
    """Prints the likeliest classes of each picture; returns 1 where one could not be read (the others are shown)."""
    device(arguments.path)
    weights, metadata = load_weights(arguments.weights)
    model, names, shape = build(weights, metadata, arguments.weights)
    prepare = prepare_digit if metadata.get("data") == "mnist" else functools.partial(prepare_plain, size=shape[:2])
    failed = 0
    for path in arguments.images:
        try:
            picture = prepare(path)
        except GpgpuError as error:
            print(f"gpgpu-gl predict: {error}", file=sys.stderr)
            failed = 1
            continue
        with no_grad():
            chances = softmax(model(tensor(normalise(np.asarray(picture)[None])))).numpy()[0]
        best = np.argsort(-chances)[:SHOWN]
        print(f"{path}: {names[best[0]]}  (" + ", ".join(f"{names[i]} {chances[i]:.1%}" for i in best) + ")")
    return failed


def build(
    weights: dict[str, np.ndarray], metadata: dict[str, str], path: str
) -> tuple[SmallCNN, list[str], tuple[int, int, int]]:
    """The network, its class names and its input shape, from a weights file. Raises FileError for another network's."""
    try:
        height, width, channels = (int(side) for side in metadata["image_shape"].split("x"))
        names = metadata["class_names"].split("\n")
    except (KeyError, ValueError):
        raise FileError(f"{path}: not written by gpgpu-gl train (no image_shape and class_names in it)") from None
    if channels != 1:
        raise FileError(f"{path}: the network reads {channels} channels; predict classifies grey pictures")
    model = SmallCNN(height, width, channels, classes=len(names))
    check_state({n: tuple(p.shape) for n, p in model.state_dict().items()}, weights, path)
    model.load_state_dict(weights)
    model.eval()
    return model, names, (height, width, channels)
