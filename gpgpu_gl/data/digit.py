"""A picture of a digit, from a scan, a drawing program or a camera, made into what MNIST holds.

MNIST's digits were scaled to fit 20 x 20 pixels, proportions kept, grey from antialiasing, white on black, and put into
28 x 28 pixels with their centre of mass in the centre (LeCun et al. 1998). Here the digit has to be found first:
the background is flattened, the ink told from the noise, and specks and dark corners left out.
"""

import numpy as np

from gpgpu_gl.data.picture import (
    FAINTEST,
    Picture,
    background,
    picture_name,
    read_grey,
    require_contrast,
    resize,
    rim,
    to_bytes,
)
from gpgpu_gl.errors import FileError

SIDE, BOX = 28, 20  # pixels: the picture and the box that the digit fits
CENTRE = 14.0  # where MNIST has the centre of mass, in pixels counted from 0; the test set's mean is 14.00
COARSE, COARSEST = 96, 56  # pixels of the longer side, for what changes slowly over the picture
THINNEST, THIN = 1.6, 2.0  # stroke widths in the box, in pixels: below the first a stroke is thickened to the second.
# 95 % of MNIST's strokes are wider than 1.67, half of them wider than 2.4.


def prepare_digit(source: Picture) -> np.ndarray:
    """The digit in a picture, a file or a PIL image of any size, as in MNIST: (28, 28) uint8, white on black, centred.

    Raises FileError, naming the file, when it cannot be read or nothing stands out from its background.
    """
    grey = read_grey(source)
    require_contrast(grey, source)
    ink = find_ink(grey)
    if ink is None:
        raise FileError(f"{picture_name(source)}: no digit found: nothing stands out from the background")
    rows, columns = np.flatnonzero(ink.max(axis=1) > 0.3), np.flatnonzero(ink.max(axis=0) > 0.3)
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return to_bytes(_centre(_fit(ink)))


def find_ink(grey: np.ndarray) -> np.ndarray | None:
    """How much ink lies on each pixel: (H, W) float32, 0 to 1, of (H, W) grey values; None where there is none.

    The background is taken for one even shade where much of the picture has it; else for a smooth surface; and where
    that leaves ink along the border, as the edge of a shadow does, for what is usual around each pixel.
    """
    coarse, shade = _coarse(grey, COARSE), background(grey)
    even = _stand_out(grey, np.full_like(coarse, shade))
    if even is not None and np.mean(np.abs(coarse - shade) < 0.02) > 0.35 and _on_rim(even) < 0.15:
        return _without_specks(even)
    ink = _stand_out(grey, _surface(coarse))
    if ink is None or _on_rim(ink) > 0.01:
        other = _stand_out(grey, _surroundings(_coarse(grey, COARSEST)))
        if other is not None and (ink is None or _on_rim(other) < _on_rim(ink) / 2):
            ink = other
    if ink is None:
        ink = even  # a fat digit may be most of the picture, and then bends the others to itself
    return None if ink is None else _without_specks(ink)


def _on_rim(ink: np.ndarray) -> float:
    return float(ink[rim(ink.shape)].mean())


def _stand_out(grey: np.ndarray, paper: np.ndarray) -> np.ndarray | None:
    """find_ink() for a known background, (H, W) as coarse as may be."""
    rest = _coarse(grey, max(paper.shape)) - paper
    if (rest**3).sum() > 0:  # cubed, so that the ink outweighs the unevenness of the paper
        grey, paper = 1 - grey, 1 - paper  # light on dark; from here on the ink is dark
    ink = 1 - grey / resize(np.clip(paper, 0.05, 1), grey.shape)
    # ink is above zero, so what lies below is noise; clean pictures have none, and keep their faintest edges
    below = ink[ink < 0]
    floor = -3 * 1.4826 * float(np.median(below)) if below.size > 0.05 * ink.size else 0.0
    strong = ink[ink > max(_otsu(ink), floor)]
    if strong.size == 0:
        return None
    full = float(np.percentile(strong, 90))
    if full - floor < FAINTEST:
        return None
    return np.clip((ink - floor) / (full - floor), 0, 1).astype(np.float32)


def _coarse(grey: np.ndarray, longest: int) -> np.ndarray:
    scale = min(1.0, longest / max(grey.shape))
    return resize(grey, tuple(max(1, round(side * scale)) for side in grey.shape))


def _surface(grey: np.ndarray) -> np.ndarray:
    """The brightness of the paper as a quadratic surface: (H, W) like the coarse grey.

    Fitted to the least sum of absolute differences, which the ink, the lesser part, does not pull; by least squares that
    are weighted anew. The border counts more, since it is nearly all paper.
    """
    height, width = grey.shape
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1).reshape(-1, 6)
    values = grey.reshape(-1).astype(np.float64)
    importance = np.where(rim(grey.shape), 4.0, 1.0).reshape(-1)
    fitted = np.full_like(values, np.median(grey[rim(grey.shape)]))
    for _ in range(30):
        weights = importance / np.maximum(np.abs(values - fitted), 1e-3)
        weighted = terms * weights[:, np.newaxis]
        # a little of the identity: a picture of one row or column does not determine all terms
        solution = np.linalg.solve(terms.T @ weighted + 1e-6 * np.eye(6), weighted.T @ values)
        fitted = terms @ solution
    return fitted.reshape(height, width).astype(np.float32)


def _surroundings(grey: np.ndarray) -> np.ndarray:
    """The median of a square of half the picture's size around each pixel: keeps straight edges, leaves out strokes."""
    reach = max(1, min(grey.shape) // 4)
    padded = np.pad(grey, reach, mode="reflect", reflect_type="odd") if min(grey.shape) > 1 else np.pad(grey, reach)
    around = np.lib.stride_tricks.sliding_window_view(padded, (2 * reach + 1, 2 * reach + 1))
    return np.median(around, axis=(2, 3))


def _otsu(values: np.ndarray) -> float:
    """The threshold that parts the values into the two most distinct groups (Otsu 1979)."""
    counts, edges = np.histogram(values, bins=256)
    centres = (edges[:-1] + edges[1:]) / 2
    below, total = np.cumsum(counts), values.size
    sums = np.cumsum(counts * centres)
    with np.errstate(invalid="ignore", divide="ignore"):
        between = (sums[-1] * below / total - sums) ** 2 / (below * (total - below))
    return float(edges[1 + int(np.nanargmax(between[:-1]))])


def _without_specks(ink: np.ndarray) -> np.ndarray:
    """Leaves out what is not the digit: parts far smaller than the largest, and parts cut by the picture's border."""
    block = max(1, -(-max(ink.shape) // 128))
    height, width = (-(-side // block) for side in ink.shape)
    padded = np.zeros((height * block, width * block), np.float32)
    padded[: ink.shape[0], : ink.shape[1]] = ink
    parts = _parts(padded.reshape(height, block, width, block).max(axis=(1, 3)) > 0.5)
    whole = [part for part in parts if not _touches_border(part, height, width)]
    largest = max(len(part) for part in parts)
    if whole and max(len(part) for part in whole) * 5 >= largest:
        parts = whole  # else the digit itself reaches the border
        largest = max(len(part) for part in parts)
    kept = np.zeros((height + 2, width + 2), bool)
    for part in parts:
        if len(part) * 50 >= largest:
            rows, columns = np.array(part).T + 1
            for down in (-1, 0, 1):  # with the soft edge around it
                for right in (-1, 0, 1):
                    kept[rows + down, columns + right] = True
    mask = kept[1:-1, 1:-1].repeat(block, axis=0).repeat(block, axis=1)
    return ink * mask[: ink.shape[0], : ink.shape[1]]


def _parts(mask: np.ndarray) -> list[list[tuple[int, int]]]:
    """The connected parts of a mask, diagonal neighbours included, each as a list of (row, column)."""
    left = set(zip(*(axis.tolist() for axis in np.nonzero(mask)), strict=True))
    parts = []
    while left:
        part = [left.pop()]
        for row, column in part:  # grows while it is walked
            around = {(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)} & left
            left -= around
            part += around
        parts.append(part)
    return parts


def _touches_border(part: list[tuple[int, int]], height: int, width: int) -> bool:
    return any(row in (0, height - 1) or column in (0, width - 1) for row, column in part)


def _fit(ink: np.ndarray) -> np.ndarray:
    """The ink scaled to the box, with hair-thin strokes made as wide as a pen's."""
    scale = BOX / max(ink.shape)
    width = _stroke_width(ink) * scale
    if width < THINNEST:
        steps = round((THIN - width) / 2 / scale)
        ink = _thicken(np.pad(ink, steps), steps)
        scale = BOX / max(ink.shape)
    fitted = resize(ink, tuple(max(1, round(side * scale)) for side in ink.shape))
    return fitted / fitted.max()


def _stroke_width(ink: np.ndarray) -> float:
    """Twice the area by the outline's length, in pixels: what it is for a long stroke."""
    padded = np.pad(ink, 1)
    down, right = np.diff(padded, axis=0)[:, 1:], np.diff(padded, axis=1)[1:]
    return 2 * float(ink.sum()) / max(float(np.hypot(down, right).sum()), 1e-6)


def _thicken(ink: np.ndarray, steps: int) -> np.ndarray:
    """Ink spread by that many pixels, in turn to four and to eight neighbours: nearly round."""
    for step in range(steps):
        padded = np.pad(ink, 1)
        across = np.maximum(np.maximum(padded[:, :-2], padded[:, 1:-1]), padded[:, 2:])
        if step % 2:
            ink = np.maximum(np.maximum(across[:-2], across[1:-1]), across[2:])
        else:
            ink = np.maximum(np.maximum(padded[:-2, 1:-1], padded[2:, 1:-1]), across[1:-1])
    return ink


def _centre(ink: np.ndarray) -> np.ndarray:
    """The ink in 28 x 28 pixels, moved by whole pixels so that its centre of mass is nearest to MNIST's."""
    canvas = np.zeros((SIDE, SIDE), np.float32)
    height, width = ink.shape
    total = float(ink.sum())
    row = float(ink.sum(axis=1) @ np.arange(height)) / total
    column = float(ink.sum(axis=0) @ np.arange(width)) / total
    top = min(max(round(CENTRE - row), 0), SIDE - height)
    left = min(max(round(CENTRE - column), 0), SIDE - width)
    canvas[top : top + height, left : left + width] = ink
    return canvas
