"""What the tests of the renderer share."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpgpu_gl import device, render

REFERENCES = Path(__file__).parent / "references"
# Between Mesa versions edges move by a subpixel step and mipmaps by a rounding: on average a picture may differ by half a
# step of its 255, and one pixel in a hundred by more than 12 steps.
MEAN, LARGE, SHARE = 0.5, 12, 0.01


@pytest.fixture(autouse=True)
def released() -> Iterator[None]:
    """Frees what the renderer keeps, so that what is left behind is a leak."""
    yield
    render.release()


def mesa(version: str) -> tuple[int, int]:
    """The version of Mesa that GL_VERSION names; (0, 0) where OpenGL is not Mesa's."""
    found = re.search(r"Mesa (\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def compare(picture: np.ndarray, name: str, software: bool) -> None:
    """Compares with tests/references/NAME.png, on the software renderer; elsewhere it only has to be drawn.

    Where Mesa 25.0 filters textures or draws thin lines differently, it is compared with NAME.mesa25.png.
    A missing reference is written next to it as NAME.new.png, to be looked at and renamed.
    """
    rgb = np.asarray(picture)[..., :3]
    assert rgb.std() > 2, f"{name}: the picture is empty"
    if not software:
        return
    path = REFERENCES / f"{name}.png"
    if not path.exists():
        new = path.with_suffix(".new.png")
        Image.fromarray(rgb).save(new)
        pytest.fail(f"no reference {path.name}: look at {new}, and rename it if it is right")
    later = path.with_suffix(".mesa25.png")
    if later.exists() and mesa(device().version) >= (25, 0):
        path = later
    expected = np.asarray(Image.open(path).convert("RGB"))
    assert rgb.shape == expected.shape
    difference = np.abs(rgb.astype(int) - expected)
    mean, share = difference.mean(), (difference.max(axis=2) > LARGE).mean()
    said = f"{name}: differs by {mean:.2f} on average, {share:.2%} by more than {LARGE}"
    assert mean <= MEAN, said
    assert share <= SHARE, said
