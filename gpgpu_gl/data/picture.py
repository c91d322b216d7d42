"""Picture files of any kind and size as grey values, and plainly fitted to a network's input."""

import os
import warnings
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from gpgpu_gl.errors import FileError

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "PPM", "WEBP")  # none that runs another program to be read
LONGEST = 512  # pixels that the longer side of a picture is reduced to: ample for an input of 28 x 28
BORDER = 0.05  # of the shorter side: the rim that shows the background
FAINTEST = 0.04  # of the whole range from black to white: less contrast than this is an even picture

Picture = str | os.PathLike[str] | Image.Image


def read_grey(source: Picture) -> np.ndarray:
    """The picture, a file or a PIL image, as (H, W) float32 from 0 (black) to 1, the longer side at most LONGEST.

    Turned as its EXIF data says. Transparent parts get the colour of the border, or where the border itself is
    transparent, the shade that is farther from what is drawn. Raises FileError, naming the file, for a
    file that is missing, not a picture, damaged or too large.
    """
    name = picture_name(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # oddities inside the file
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            if isinstance(source, Image.Image):
                return _grey(source, name)
            Image.init()  # else only the commonest formats are known yet
            with open(source, "rb") as file:
                formats = [kind for kind in FORMATS if kind in Image.OPEN]
                return _grey(Image.open(file, formats=formats), name)
    except FileError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise FileError(f"{name}: too large: more than {Image.MAX_IMAGE_PIXELS} pixels; scale it down") from error
    except Image.UnidentifiedImageError as error:
        raise FileError(f"{name}: not a picture in a known format ({', '.join(FORMATS)})") from error
    except OSError as error:
        raise FileError(f"{name}: cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise FileError(f"{name}: too large for the memory; scale it down") from error
    except Exception as error:  # decoders raise nearly anything on damaged files
        raise FileError(f"{name}: a damaged picture: {type(error).__name__}: {error}") from error


def prepare_plain(source: Picture, size: tuple[int, int] = (28, 28)) -> np.ndarray:
    """The picture scaled to fit, centred, light on dark: size (H, W) uint8, for data sets other than digits.

    Proportions stay; the rest is filled with the background, which becomes black. Raises FileError as read_grey does,
    and for a picture of one even colour.
    """
    grey = read_grey(source)
    require_contrast(grey, source)
    if background(grey) > 0.5:
        grey = 1 - grey
    height, width = size
    scale = min(height / grey.shape[0], width / grey.shape[1])
    inner = tuple(max(1, round(side * scale)) for side in grey.shape)
    canvas = np.full(size, background(grey), np.float32)
    top, left = (height - inner[0]) // 2, (width - inner[1]) // 2
    canvas[top : top + inner[0], left : left + inner[1]] = resize(grey, inner)
    return to_bytes(canvas)


def resize(grey: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """(H, W) float32 scaled to another (H, W), without aliasing, from 0 to 1."""
    enlarge = shape[0] > grey.shape[0]
    method = Image.Resampling.BICUBIC if enlarge else Image.Resampling.HAMMING
    image = Image.fromarray(np.ascontiguousarray(grey, np.float32)).resize((shape[1], shape[0]), method)
    return np.clip(np.asarray(image), 0, 1)


def to_bytes(grey: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(grey, 0, 1) * 255).astype(np.uint8)


def rim(shape: tuple[int, ...]) -> np.ndarray:
    """(H, W) bool: the pixels along the border."""
    width = max(1, round(BORDER * min(shape[:2])))
    mask = np.ones(shape[:2], bool)
    mask[width:-width, width:-width] = False
    return mask


def background(grey: np.ndarray) -> float:
    return float(np.median(grey[rim(grey.shape)]))


def require_contrast(grey: np.ndarray, source: Picture) -> None:
    if grey.max() - grey.min() < FAINTEST:
        raise FileError(f"{picture_name(source)}: blank: the picture is one even colour")


def picture_name(source: Picture) -> str:
    if isinstance(source, Image.Image):
        return getattr(source, "filename", "") or "the picture"
    return os.fspath(source)


def _grey(image: Image.Image, name: str) -> np.ndarray:
    if 0 in image.size:
        raise FileError(f"{name}: a picture without pixels: {image.width} x {image.height}")
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I") or image.mode == "F":
        return _shrink(_deep(image))
    if "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info:
        return _flatten(image.convert("RGBA"))
    image = image.convert("L")
    return np.asarray(image.reduce(_factor(image.size)), np.float32) / 255


def _deep(image: Image.Image) -> np.ndarray:
    """More than 8 bits a pixel: 16 bits as they are, anything else stretched from its least to its greatest value."""
    values = np.asarray(image).astype(np.float32)
    if image.mode.startswith("I;16") or (image.mode == "I" and 0 <= values.min() and values.max() <= 65535):
        return values / 65535
    values = np.nan_to_num(values)
    span = float(values.max()) - float(values.min())
    return (values - values.min()) / (span if span > 0 else 1)


def _flatten(image: Image.Image) -> np.ndarray:
    image = image.reduce(_factor(image.size))
    grey = np.asarray(image.convert("RGB").convert("L"), np.float32) / 255
    alpha = np.asarray(image.getchannel("A"), np.float32) / 255
    edge = rim(grey.shape)
    solid = edge & (alpha > 0.5)
    if np.median(alpha[edge]) > 0.5:
        backdrop = float(np.median(grey[solid]))
    else:
        drawn = float((grey * alpha).sum() / max(alpha.sum(), 1e-6))
        backdrop = 0.0 if drawn > 0.5 else 1.0
    return grey * alpha + np.float32(backdrop) * (1 - alpha)


def _factor(size: Any) -> int:
    return max(1, -(-max(size) // LONGEST))


def _shrink(values: np.ndarray) -> np.ndarray:
    """Means of square blocks; a rest that fills no block is left out, unless it is all there is."""
    factor = _factor(values.shape)
    rows, columns = (min(factor, side) for side in values.shape)
    height, width = (values.shape[0] // rows, values.shape[1] // columns)
    blocks = values[: height * rows, : width * columns].reshape(height, rows, width, columns)
    return blocks.mean(axis=(1, 3), dtype=np.float32)
