"""Pictures of digits made into what MNIST holds: found, turned, inverted, scaled and centred; and bad ones named."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from gpgpu_gl.data import load, prepare_digit, prepare_plain
from gpgpu_gl.data.picture import LONGEST, read_grey
from gpgpu_gl.errors import FileError

COUNT = 60  # MNIST test images that each kind of picture is tried on
BICUBIC = Image.Resampling.BICUBIC


@pytest.fixture(scope="module")
def mnist() -> tuple[np.ndarray, np.ndarray]:
    data = load()
    return data.test_images[:COUNT], data.test_labels[:COUNT]


@pytest.fixture(scope="module")
def nearest() -> Callable[[np.ndarray], np.ndarray]:
    """Classifies (N, 28, 28) by the most similar of MNIST's 10,000 test images after the ones tried here."""
    data = load()
    known = data.test_images[COUNT:].reshape(-1, 784).astype(np.float32)
    known /= np.linalg.norm(known, axis=1, keepdims=True)
    labels = data.test_labels[COUNT:]
    return lambda images: labels[(images.reshape(-1, 784).astype(np.float32) @ known.T).argmax(axis=1)]


def enlarged(image: np.ndarray, side: int = 280) -> Image.Image:
    return Image.fromarray(image).resize((side, side), BICUBIC)


def on_canvas(image: np.ndarray, seed: int) -> Image.Image:
    """Black on a white sheet of 600 x 400, at any size and place."""
    rng = np.random.default_rng(seed)
    side = int(rng.integers(100, 350))
    sheet = Image.new("L", (600, 400), 255)
    digit = Image.eval(enlarged(image, side), lambda value: 255 - value)
    sheet.paste(digit, (int(rng.integers(0, 600 - side)), int(rng.integers(0, 400 - side))))
    return sheet


def photo(image: np.ndarray, seed: int, light: str) -> Image.Image:
    """Grey ink on a sheet that is lit unevenly, with noise."""
    rng = np.random.default_rng(seed)
    sheet = np.asarray(on_canvas(image, seed), np.float32) / 255
    y, x = np.mgrid[0 : 1 : sheet.shape[0] * 1j, 0 : 1 : sheet.shape[1] * 1j]
    if light == "slope":
        lit = 0.45 + 0.55 * (rng.random() * x + rng.random() * y) / 2
    elif light == "corners":
        lit = 1 - 0.9 * ((x - 0.5) ** 2 + (y - 0.5) ** 2)
    else:
        lit = np.where(x + 0.3 * y > rng.uniform(0.3, 0.9), 1, 0.55)
    values = 0.8 * lit * (1 - 0.75 * (1 - sheet)) + rng.normal(0, 0.03, sheet.shape)
    return Image.fromarray((np.clip(values, 0, 1) * 255).astype(np.uint8))


def coloured(image: np.ndarray, seed: int) -> Image.Image:
    rng = np.random.default_rng(seed)
    picture = Image.new("RGB", (400, 350), tuple(int(value) for value in rng.integers(150, 256, 3)))
    ink = Image.new("RGB", (300, 300), tuple(int(value) for value in rng.integers(0, 90, 3)))
    picture.paste(ink, (40, 20), enlarged(image, 300))
    return picture


def transparent(image: np.ndarray, seed: int) -> Image.Image:
    """Nothing but the digit is opaque; it is black or white, and so is the invisible rest."""
    picture = Image.new("RGB", (280, 280), ("black", "white")[seed % 2])
    picture.putalpha(enlarged(image))
    return picture


def cut_to_ink(image: np.ndarray, seed: int) -> Image.Image:
    digit = enlarged(image)
    return digit.crop(digit.getbbox())


KINDS: dict[str, tuple[Callable[[np.ndarray, int], Image.Image], float, int]] = {
    # with the mean difference allowed from the original, in grey levels of 255: scaling up and down again, and
    # placing to whole pixels, costs about 7; one pixel beside the place costs about 30
    "itself": (lambda image, seed: Image.fromarray(image), 1, COUNT),
    "inverted": (lambda image, seed: Image.fromarray(255 - image), 1, COUNT),
    "enlarged": (lambda image, seed: enlarged(image), 9, COUNT),
    "blocky": (lambda image, seed: Image.fromarray(image).resize((280, 280), Image.Resampling.NEAREST), 9, COUNT),
    "tiny": (lambda image, seed: Image.fromarray(image).resize((16, 16), Image.Resampling.BOX), 16, COUNT),
    "cut to the ink": (cut_to_ink, 10, COUNT),
    "on a sheet": (on_canvas, 10, COUNT),
    "coloured": (coloured, 10, COUNT),
    "transparent": (transparent, 10, COUNT),
    "faint": (
        lambda image, seed: Image.fromarray((200 - enlarged(image, 280) * np.float32(0.1)).astype(np.uint8)),
        10,
        COUNT,
    ),
    "lit from a side": (lambda image, seed: photo(image, seed, "slope"), 12, 30),
    "dark corners": (lambda image, seed: photo(image, seed, "corners"), 12, 30),
}


@pytest.mark.parametrize("kind", KINDS)
def test_mnist_comes_back_from_pictures(kind: str, mnist, nearest) -> None:
    make, allowed, count = KINDS[kind]
    images, labels = mnist[0][:count], mnist[1][:count]
    prepared = np.stack([prepare_digit(make(image, seed)) for seed, image in enumerate(images)])
    assert np.abs(prepared.astype(int) - images).mean() < allowed
    # what is told apart as before is what counts; a few may fall the other way
    assert (nearest(prepared) == labels).mean() > (nearest(images) == labels).mean() - 0.035


def test_edge_of_a_shadow_across_the_sheet(mnist, nearest) -> None:
    images, labels = mnist[0][:40], mnist[1][:40]
    prepared = np.stack([prepare_digit(photo(image, seed, "shadow")) for seed, image in enumerate(images)])
    # a step twice as deep as the paper's noise, through some of the digits: nine in ten are asked for
    assert (nearest(prepared) == labels).mean() > 0.85


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """In mean grey levels, at the best of the nine places: how edges fall on pixels may tip the centre to the next one."""
    places = [np.roll(found, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)]
    return min(float(np.abs(place.astype(int) - expected).mean()) for place in places)


def drawn(digit: str, size: int, ink: str = "black", paper: str = "white", at: tuple[float, float] = (0.3, 0.2)):
    picture = Image.new("RGB", (size * 2, size * 2), paper)
    place = (at[0] * size, at[1] * size)
    ImageDraw.Draw(picture).text(place, digit, fill=ink, font=ImageFont.load_default(size))
    return picture


@pytest.mark.parametrize("digit", "0123456789")
def test_drawn_digit_is_the_same_at_any_size_colour_and_place(digit: str) -> None:
    reference = prepare_digit(drawn(digit, 200)).astype(int)
    for picture in (
        drawn(digit, 60),
        drawn(digit, 900),
        drawn(digit, 200, ink="white", paper="black"),
        drawn(digit, 200, ink="#ffd040", paper="#203060"),
        drawn(digit, 200, at=(0.9, 0.6)),
    ):
        assert difference(prepare_digit(picture), reference) < 12  # measured at most 9


@pytest.mark.parametrize("digit", "0123456789")
def test_result_is_made_like_mnist(digit: str) -> None:
    result = prepare_digit(drawn(digit, 300))
    assert result.shape == (28, 28)
    assert result.dtype == np.uint8
    assert result.max() == 255
    rows, columns = np.nonzero(result > 20)
    assert max(np.ptp(rows), np.ptp(columns)) + 1 in (19, 20)
    centre = [np.average(axis, weights=result) for axis in np.mgrid[:28, :28]]
    np.testing.assert_allclose(centre, 14, atol=0.51)  # moved by whole pixels, so half a pixel is left


def test_hair_thin_strokes_are_thickened() -> None:
    for width in (1, 3, 25):
        picture = Image.new("L", (1200, 900), 255)
        ImageDraw.Draw(picture).line([(400, 200), (800, 200), (600, 700)], fill=0, width=width)
        result = prepare_digit(picture)
        assert result[8:26].max(axis=1).min() > 100  # the stem is unbroken
        across = (result[20] / 255).sum()
        assert 1.2 < across < 3.2  # pixels, as MNIST's strokes, which cross a row at 1.5 to 3.7


def test_specks_and_border_marks_are_left_out() -> None:
    picture = drawn("5", 300)
    clean = prepare_digit(picture)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, 599, 12), fill="black")
    draw.ellipse((540, 540, 546, 546), fill="black")
    assert np.abs(prepare_digit(picture).astype(int) - clean).max() < 40


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    return prepare_digit(drawn("2", 150)).astype(int)


class TestFiles:
    """One digit in every way that a file may hold it: the same result."""

    @pytest.mark.parametrize(
        ("name", "convert", "options"),
        [
            ("grey.png", lambda image: image.convert("L"), {}),
            ("colour.png", lambda image: image, {}),
            ("palette.png", lambda image: image.quantize(16), {}),
            ("bit.png", lambda image: image.convert("1"), {}),
            ("alpha.png", lambda image: image.convert("RGBA"), {}),
            ("grey-alpha.png", lambda image: image.convert("LA"), {}),
            ("palette-clear.png", lambda image: image.quantize(2), {"transparency": 0}),
            ("deep.png", lambda image: deep(image), {}),
            ("photo.jpg", lambda image: image, {"quality": 90}),
            ("photo.jpeg", lambda image: image.convert("CMYK"), {"quality": 90}),
            ("old.gif", lambda image: image, {}),
            ("plain.bmp", lambda image: image, {}),
            ("scan.tif", lambda image: image, {}),
            ("float.tif", lambda image: Image.fromarray(np.asarray(image.convert("L"), np.float32) * 3 - 99), {}),
            ("wrong-name.png", lambda image: image, {"format": "JPEG", "quality": 90}),
        ],
    )
    def test_every_kind(self, name: str, convert, options, tmp_path: Path, reference: np.ndarray) -> None:
        convert(drawn("2", 150)).save(tmp_path / name, **options)
        assert np.abs(prepare_digit(tmp_path / name) - reference).mean() < 3
        assert np.abs(prepare_digit(str(tmp_path / name)) - reference).mean() < 3

    @pytest.mark.parametrize("orientation", range(1, 9))
    def test_exif_orientation(self, orientation: int, tmp_path: Path, reference: np.ndarray) -> None:
        undo = {
            2: Image.Transpose.FLIP_LEFT_RIGHT,
            3: Image.Transpose.ROTATE_180,
            4: Image.Transpose.FLIP_TOP_BOTTOM,
            5: Image.Transpose.TRANSPOSE,
            6: Image.Transpose.ROTATE_90,
            7: Image.Transpose.TRANSVERSE,
            8: Image.Transpose.ROTATE_270,
        }
        picture = drawn("2", 150)
        if orientation in undo:
            picture = picture.transpose(undo[orientation])
        exif = Image.Exif()
        exif[0x0112] = orientation
        picture.save(tmp_path / "turned.jpg", exif=exif, quality=95)
        assert np.abs(prepare_digit(tmp_path / "turned.jpg") - reference).mean() < 3

    def test_large_picture_is_reduced(self, tmp_path: Path, reference: np.ndarray) -> None:
        drawn("2", 1500).save(tmp_path / "large.png")
        assert max(read_grey(tmp_path / "large.png").shape) <= LONGEST
        assert difference(prepare_digit(tmp_path / "large.png"), reference) < 12

    def test_picture_handed_over_is_left_as_it_is(self) -> None:
        picture = drawn("2", 150)
        before = picture.tobytes()
        prepare_digit(picture)
        assert picture.tobytes() == before


def deep(image: Image.Image) -> Image.Image:
    return Image.fromarray(np.asarray(image.convert("L"), np.uint16) * 257)


class TestBadPictures:
    @pytest.mark.parametrize("prepare", [prepare_digit, prepare_plain])
    @pytest.mark.parametrize(
        ("name", "write", "said"),
        [
            ("none.png", lambda path: None, "No such file"),
            ("folder.png", lambda path: path.mkdir(), "cannot be read"),
            ("text.png", lambda path: path.write_text("digits"), "not a picture in a known format"),
            ("empty.png", lambda path: path.write_bytes(b""), "not a picture"),
            ("white.png", lambda path: Image.new("RGB", (90, 60), "white").save(path), "blank: .* one even colour"),
            ("black.png", lambda path: Image.new("1", (9, 9)).save(path), "blank"),
            ("clear.png", lambda path: Image.new("RGBA", (50, 50)).save(path), "blank"),
            ("dot.png", lambda path: Image.new("L", (1, 1)).save(path), "blank"),
            (
                "huge.png",
                lambda path: Image.new("1", (14000, 14000)).save(path),
                "too large: more than 89478485 pixels",
            ),
        ],
    )
    def test_is_named_and_explained(self, prepare, name: str, write, said: str, tmp_path: Path) -> None:
        write(tmp_path / name)
        with pytest.raises(FileError, match=said) as caught:
            prepare(tmp_path / name)
        assert str(caught.value).startswith(str(tmp_path / name))

    def test_large_picture_that_pillow_only_warns_of(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        drawn("2", 50).save(tmp_path / "a.png")
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 9000)  # it has 10,000
        with pytest.raises(FileError, match=r"a\.png: too large: more than 9000 pixels"):
            prepare_digit(tmp_path / "a.png")

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "TIFF", "BMP"])
    def test_cut_file_is_refused(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / "whole"
        drawn("2", 60).save(path, format=kind)
        data = path.read_bytes()
        for share in (0.02, 0.3, 0.6, 0.9):
            (tmp_path / "cut").write_bytes(data[: int(len(data) * share)])
            with pytest.raises(FileError, match="cut"):
                prepare_digit(tmp_path / "cut")

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "TIFF", "BMP", "PPM"])
    def test_damaged_file_is_refused_or_read(self, kind: str, tmp_path: Path) -> None:
        """Whatever a damaged file holds, nothing but FileError and a digit come of it."""
        path = tmp_path / "damaged"
        drawn("2", 30).save(path, format=kind)
        data = path.read_bytes()
        rng = np.random.default_rng(0)
        outcomes = set()
        for _ in range(60):
            damaged = bytearray(data)
            for at in rng.integers(0, min(len(data), 600), 4):
                damaged[at] = rng.integers(0, 256)
            path.write_bytes(damaged)
            try:
                outcomes.add(prepare_digit(path).shape)
            except FileError as error:
                outcomes.add(str(error).startswith(str(path)))
        assert outcomes <= {(28, 28), True}
        assert outcomes

    def test_warnings_of_the_decoder_stay_inside(self, tmp_path: Path) -> None:
        drawn("2", 60).save(tmp_path / "a.jpg", exif=b"Exif\0\0II*\0\x08\0\0\0\xff\0garbage")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert prepare_digit(tmp_path / "a.jpg").shape == (28, 28)

    @pytest.mark.parametrize("shape", [(1, 2), (2, 1), (1, 300), (300, 1), (2, 2), (3, 2000), (2000, 3), (5, 5)])
    def test_odd_shapes(self, shape: tuple[int, int]) -> None:
        values = np.full(shape, 255, np.uint8)
        values[shape[0] // 2 :, shape[1] // 2 :] = 0
        assert prepare_digit(Image.fromarray(values)).shape == (28, 28)
        assert prepare_plain(Image.fromarray(values)).shape == (28, 28)

    def test_noise_never_fails_in_another_way(self) -> None:
        for seed in range(20):
            noise = np.random.default_rng(seed).integers(0, 256, (40, 60), dtype=np.uint8)
            try:
                shape = prepare_digit(Image.fromarray(noise)).shape
            except FileError:
                continue
            assert shape == (28, 28)


class TestPlain:
    def test_keeps_proportions_and_turns_light_on_dark(self) -> None:
        picture = Image.new("L", (100, 50), 255)
        picture.paste(40, (20, 10, 80, 40))
        result = prepare_plain(picture)
        inner = result[7:21]
        assert result[:7].max() == 0
        assert result[21:].max() == 0
        assert inner[7, 14] == 255 - 40
        assert inner[:, :4].max() == 0
        assert (inner[7] > 100).sum() == pytest.approx(28 * 0.6, abs=1)

    def test_light_on_dark_stays(self) -> None:
        image = load().test_images[0]
        np.testing.assert_array_equal(prepare_plain(Image.fromarray(image)), image)

    def test_other_sizes(self) -> None:
        assert prepare_plain(drawn("2", 100), (32, 48)).shape == (32, 48)
