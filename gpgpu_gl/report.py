"""Pictures of a training run: curves, filters, the confusion matrix, the images it gets wrong.

All are PNG files, written whole or not at all, and equal for equal data. matplotlib is imported when the first is drawn.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.io import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 110
INK, MUTED, GRID = "#1c2733", "#66727f", "#dfe4ea"
BLUE, PALE_BLUE, ORANGE = "#1f6fb2", "#a9cbe8", "#d9641e"

MOST_FILTERS, MOST_INPUTS = 64, 16  # that are drawn
MOST_NUMBERS = 26  # classes up to which a confusion matrix has its counts written in

PathLike = str | os.PathLike[str]


def curves(
    path: PathLike,
    losses: Sequence[float] | np.ndarray,
    accuracies: Sequence[float] | np.ndarray,
    steps_per_epoch: int | None = None,
    title: str = "Training",
) -> None:
    """Draws the training loss of each step and the test accuracy after each epoch, side by side.

    losses: one a step; accuracies: one an epoch, 0 to 1; steps_per_epoch: marks the epochs among the steps
    """
    losses, accuracies = np.asarray(losses, np.float64), np.asarray(accuracies, np.float64)
    if losses.ndim != 1 or accuracies.ndim != 1:
        raise ShapeError(f"losses and accuracies are one row each, got {losses.shape} and {accuracies.shape}")
    figure = _figure(9.6, 3.9, title)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))

    steps = np.arange(1, len(losses) + 1)
    left.plot(steps, losses, color=PALE_BLUE, linewidth=0.8, label="each step")
    width = min(len(losses) // 10, 50)
    if width > 1:
        left.plot(steps, _running_mean(losses, width), color=BLUE, linewidth=1.8, label=f"mean of {width} steps")
        left.legend(frameon=False, labelcolor=MUTED, fontsize=9)
    if np.any(losses > 0):
        left.set_yscale("log")
    if steps_per_epoch:
        for end in range(steps_per_epoch, len(losses), steps_per_epoch):
            left.axvline(end, color=GRID, linewidth=1, zorder=0)
    _label(left, "Training loss", "step", "cross-entropy, logarithmic")
    if len(losses):
        _note(left, f"last: {losses[-width:].mean() if width else losses[-1]:.4f}", (0.02, 0.04))

    _label(right, "Test accuracy", "epoch" if len(accuracies) else "", "%" if len(accuracies) else "")
    if len(accuracies):
        epochs = np.arange(1, len(accuracies) + 1)
        right.plot(epochs, accuracies * 100, color=ORANGE, marker="o", markersize=4.5, linewidth=1.8)
        best = int(np.argmax(accuracies))
        for index in sorted({0, best, len(accuracies) - 1}):
            right.annotate(
                f"{accuracies[index] * 100:.2f}", (index + 1, accuracies[index] * 100),
                xytext=(0, 8 if index or len(accuracies) == 1 else -16),  # the first below the rising line
                textcoords="offset points", ha="center", color=INK, fontsize=9,
            )  # fmt: skip
        right.set_xlim(0.5, len(accuracies) + 0.5)
        right.set_xticks(epochs if len(epochs) <= 12 else epochs[:: -(-len(epochs) // 10)])
        low, high = accuracies.min() * 100, accuracies.max() * 100
        room = max(high - low, 0.4)
        right.set_ylim(low - 0.3 * room, high + 0.3 * room)
    else:
        right.set(xticks=[], yticks=[])
        _note(right, "no epoch was finished", (0.5, 0.5), ha="center")
    _save(figure, path)


def filters(path: PathLike, weights: np.ndarray, title: str = "Filters of the first layer") -> None:
    """Draws the windows of a convolution's weights, (KH, KW, C_in, C_out): blue below zero, red above.

    One input channel: a grid of the outputs. Several: a row of inputs for each output. At most 64 outputs and
    16 inputs are drawn, and the title says so.
    """
    weights = np.asarray(weights, np.float64)
    if weights.ndim != 4 or 0 in weights.shape:
        raise ShapeError(f"convolution weights are (KH, KW, C_in, C_out), none of them 0, got {weights.shape}")
    inputs, outputs = (min(weights.shape[2], MOST_INPUTS), min(weights.shape[3], MOST_FILTERS))
    if (inputs, outputs) != weights.shape[2:]:
        title += f" ({outputs} of {weights.shape[3]} outputs, {inputs} of {weights.shape[2]} inputs)"
    if inputs == 1:
        columns = min(outputs, 8 if outputs <= 32 else 16)
        tiles = [weights[:, :, 0, index] for index in range(outputs)]
        captions = [f"{index + 1}" for index in range(outputs)]
    else:
        columns = inputs
        tiles = [weights[:, :, of, index] for index in range(outputs) for of in range(inputs)]
        captions = []
    rows, size = -(-len(tiles) // columns), 0.95 if captions else 0.42
    figure = _figure(max(columns * size + 1.3, 4.5), rows * (size + (0.25 if captions else 0)) + 0.8, title)
    if not captions:
        figure.supxlabel("a row for each output, a column for each input", fontsize=8.5, color=MUTED)
    axis = figure.subplots()
    limit = float(np.nanmax(np.abs(weights))) or 1.0
    sheet = _sheet(axis, tiles, columns, captions, gap=0.08, room=0.26)
    shown = axis.imshow(sheet, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
    bar = figure.colorbar(shown, ax=axis, shrink=0.9, aspect=25, pad=0.02)
    bar.set_label("weight", color=MUTED, fontsize=9)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, colors=MUTED)
    _save(figure, path)


def confusion(path: PathLike, matrix: np.ndarray, names: Sequence[str], title: str = "Confusion matrix") -> None:
    """Draws how often each true class (rows) was taken for each class (columns): (K, K) counts and K names.

    Right answers are blue; the errors have a scale of their own, since they are few beside them.
    """
    matrix = np.asarray(matrix)
    count = len(names)
    if matrix.shape != (count, count) or count == 0:
        raise ShapeError(f"a confusion matrix of {count} classes is ({count}, {count}), got {matrix.shape}")
    total, right = int(matrix.sum()), int(np.trace(matrix))
    long_names = max(len(name) for name in names) > 3
    side = max(4.2, min(0.52 * count + (2.2 if long_names else 1.2), 14))
    share = f": {right / total:.2%} of {total:,} right" if total else ": nothing tested"
    figure = _figure(side, side + 0.1, title + share)
    axis = figure.subplots()
    errors = np.where(np.eye(count, dtype=bool), 0, matrix)
    top = max(int(errors.max()), 1)
    row_sums = np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    from matplotlib import colormaps

    colours = colormaps["Oranges"](0.75 * np.sqrt(errors / top))
    colours[errors == 0] = (1, 1, 1, 1)
    diagonal = np.arange(count)
    colours[diagonal, diagonal] = colormaps["Blues"](0.25 + 0.5 * (matrix / row_sums)[diagonal, diagonal])
    axis.imshow(colours, interpolation="nearest")
    if count <= MOST_NUMBERS:
        for row, column in np.argwhere((matrix > 0) | np.eye(count, dtype=bool)):
            dark = (row == column and matrix[row, row] > 0.5 * row_sums[row, 0]) or errors[row, column] > 0.7 * top
            axis.text(
                column, row, f"{matrix[row, column]}", ha="center", va="center", fontsize=8.5 if count <= 12 else 6.5,
                color="white" if dark else INK,
            )  # fmt: skip
    axis.set_xticks(diagonal, names, rotation=45 if long_names else 0, ha="right" if long_names else "center")
    axis.set_yticks(diagonal, names)
    axis.set_xticks(np.arange(count - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(count - 1) + 0.5, minor=True)
    axis.grid(which="minor", color=GRID, linewidth=0.6)
    axis.tick_params(which="minor", length=0)
    _label(axis, "", "predicted", "true", grid=False)
    _save(figure, path)


def mistakes(
    path: PathLike,
    images: np.ndarray,
    true: np.ndarray,
    predicted: np.ndarray,
    probabilities: np.ndarray,
    names: Sequence[str] | None = None,
    most: int = 40,
) -> None:
    """Draws the images that were classified wrongly, the surest first, each with its true and its predicted class.

    images: (N, H, W) or (N, H, W, C) uint8 or float 0 to 1, all that were tested; true, predicted: (N,) integers;
    probabilities: (N,) of the predicted class, or (N, K) of all; names: of the classes, else their numbers
    """
    true, predicted, probabilities = (np.asarray(array) for array in (true, predicted, probabilities))
    if not len(images) == len(true) == len(predicted) == len(probabilities):
        raise ShapeError(
            f"one true class, predicted class and probability each: {len(images)} images, {len(true)} true, "
            f"{len(predicted)} predicted, {len(probabilities)} probabilities"
        )
    if probabilities.ndim == 2:
        probabilities = probabilities[np.arange(len(true)), predicted]
    wrong = np.flatnonzero(true != predicted)
    chosen = wrong[np.argsort(-probabilities[wrong], kind="stable")][:most]
    title = f"{len(wrong):,} of {len(true):,} wrong" + (f", the {len(chosen)} surest" if len(wrong) > most else "")
    if not len(chosen):
        figure = _figure(5, 1.6, title)
        axis = figure.subplots()
        axis.set_axis_off()
        _note(axis, "nothing to show: no image was classified wrongly", (0.5, 0.5), ha="center")
        _save(figure, path)
        return
    labels = names if names is not None else [str(index) for index in range(int(max(true.max(), predicted.max())) + 1)]
    long_names = max(len(labels[index]) for pair in (true, predicted) for index in pair[chosen]) > 3
    between = "\n\N{RIGHTWARDS ARROW} " if long_names else " \N{RIGHTWARDS ARROW} "
    captions = [f"{labels[true[i]]}{between}{labels[predicted[i]]}  {probabilities[i]:.0%}" for i in chosen]
    columns = min(len(chosen), 6 if long_names else 8)
    rows, size = -(-len(chosen) // columns), 1.45 if long_names else 1.05
    figure = _figure(max(columns * size, 5.0), rows * (size + (0.42 if long_names else 0.28)) + 0.75, title)
    figure.supxlabel("true \N{RIGHTWARDS ARROW} predicted, and its probability", fontsize=8.5, color=MUTED)
    axis = figure.subplots()
    sheet = _sheet(axis, [_unit(images[i]) for i in chosen], columns, captions, 0.06, 0.3 if long_names else 0.26)
    axis.imshow(sheet, cmap=None if sheet.ndim == 3 else "gray", vmin=0, vmax=1, interpolation="nearest")
    _save(figure, path)


def _unit(image: np.ndarray) -> np.ndarray:
    """(H, W) or (H, W, 3) from 0 to 1 of an image of bytes or floats, with one, three or four channels."""
    image = np.asarray(image) / (255 if image.dtype == np.uint8 else 1)
    if image.ndim == 3:
        image = image[..., :3] if image.shape[2] >= 3 else image[..., 0]
    return np.clip(image, 0, 1)


def _sheet(
    axis: Axes, tiles: list[np.ndarray], columns: int, captions: list[str], gap: float, room: float
) -> np.ma.MaskedArray:
    """All tiles on one masked array, far faster to draw than an axis each, and their captions above them on the axis.

    gap: between tiles, room: above them for captions, as shares of a tile's height
    """
    height, width = tiles[0].shape[:2]
    scale = -(-40 // height)  # so that gaps can be finer than a tile's pixels
    height, width = height * scale, width * scale
    across = width + round(gap * height)
    above = round((room if captions else gap) * height) + round(gap * height) * bool(captions)
    rows = -(-len(tiles) // columns)
    sheet = np.full((rows * (height + above), columns * across, *tiles[0].shape[2:]), np.nan)
    for index, tile in enumerate(tiles):
        top, left = above + index // columns * (height + above), index % columns * across
        sheet[top : top + height, left : left + width] = tile.repeat(scale, axis=0).repeat(scale, axis=1)
        if captions:
            place = (left + width / 2 - 0.5, top - 0.04 * height)
            axis.text(*place, captions[index], ha="center", va="bottom", fontsize=8, color=INK)
    axis.set_axis_off()
    if sheet.ndim == 3:
        return np.ma.masked_invalid(np.nan_to_num(sheet, nan=1.0))  # colours have no mask: white
    return np.ma.masked_invalid(sheet)


def _figure(width: float, height: float, title: str) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # neither pyplot nor a backend that is chosen for the whole process: a caller's own figures stay untouched
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=11.5, fontweight="bold", color=INK)
    return figure


def _label(axis: Axes, title: str, x: str, y: str, grid: bool = True) -> None:
    axis.set_title(title, fontsize=10, color=INK)
    axis.set_xlabel(x, color=MUTED, fontsize=9)
    axis.set_ylabel(y, color=MUTED, fontsize=9)
    axis.tick_params(colors=MUTED, labelsize=8.5)
    for side in axis.spines.values():
        side.set_color(GRID)
    if grid:
        axis.grid(axis="y", color=GRID, linewidth=0.7)


def _note(axis: Axes, text: str, at: tuple[float, float], ha: str = "left") -> None:
    axis.text(*at, text, transform=axis.transAxes, ha=ha, color=MUTED, fontsize=9)


def _running_mean(values: np.ndarray, width: int) -> np.ndarray:
    """The mean of the last `width` values, of fewer at the start."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - width, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


def _save(figure: Figure, path: PathLike) -> None:
    buffer = io.BytesIO()
    # without the program's version in the file, equal data give equal bytes
    figure.savefig(buffer, format="png", metadata={"Software": None}, pil_kwargs={"optimize": True})
    write_atomic(path, buffer.getvalue())
