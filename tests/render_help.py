"""What the tests of the renderer share."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpgpu_gl import render

REFERENCES = Path(__file__).parent / "references"
# Between Mesa versions edges move by a subpixel step and mipmaps by a rounding: on average a picture may differ by half a
# step of its 255, and one pixel in a hundred by more than 12 steps.
MEAN, LARGE, SHARE = 0.5, 12, 0.01


@pytest.fixture(autouse=True)
def released() -> Iterator[None]:
    """Frees what the renderer keeps, so that what is left behind is a leak."""
    yield
    render.release()


def compare(picture: np.ndarray, name: str, software: bool) -> None:
    """Compares with tests/references/NAME.png, on the software renderer; elsewhere it only has to be drawn.

    Where Mesa's versions filter textures or draw thin lines differently, NAME.mesa25.png is right as well.
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
    found = []
    for one in (path, path.with_suffix(".mesa25.png")):
        if one.exists():
            expected = np.asarray(Image.open(one).convert("RGB"))
            assert rgb.shape == expected.shape
            difference = np.abs(rgb.astype(int) - expected)
            found.append((difference.mean(), (difference.max(axis=2) > LARGE).mean()))
    mean, share = min(found)
    said = f"{name}: differs by {mean:.2f} on average, {share:.2%} by more than {LARGE}"
    assert mean <= MEAN, said
    assert share <= SHARE, said
