"""Pictures of a run: that they are drawn, that they show the data handed over, and that odd data does not break them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from gpgpu_gl import report
from gpgpu_gl.errors import FileError, ShapeError

RNG = np.random.default_rng(0)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures as they are saved, to look into."""
    seen: list[Figure] = []
    save = report._save

    def keep(figure: Figure, path: report.PathLike) -> None:
        seen.append(figure)
        save(figure, path)

    monkeypatch.setattr(report, "_save", keep)
    return seen


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axis in figure.axes for text in axis.texts]


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB")).astype(int)


def some_run() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images, true classes, predicted classes, probabilities; every tenth of 200 is wrong."""
    true = RNG.integers(0, 10, 200)
    probabilities = RNG.dirichlet(np.ones(10), 200)
    predicted = true.copy()
    predicted[::10] = (true[::10] + 1) % 10
    return RNG.integers(0, 256, (200, 28, 28), dtype=np.uint8), true, predicted, probabilities


def draw_all(folder: Path) -> list[Path]:
    images, true, predicted, probabilities = some_run()
    matrix = np.zeros((10, 10), int)
    np.add.at(matrix, (true, predicted), 1)
    report.curves(folder / "curves.png", np.geomspace(2, 0.02, 900), [0.98, 0.985], 450)
    report.filters(folder / "filters.png", RNG.standard_normal((5, 5, 1, 16)))
    report.confusion(folder / "confusion.png", matrix, list("0123456789"))
    report.mistakes(folder / "mistakes.png", images, true, predicted, probabilities)
    return sorted(folder.glob("*.png"))


def test_pictures_are_of_sensible_size(tmp_path: Path) -> None:
    paths = draw_all(tmp_path)
    assert [path.stem for path in paths] == ["confusion", "curves", "filters", "mistakes"]
    for path in paths:
        height, width, _ = pixels(path).shape
        assert 250 <= height <= 1200
        assert 400 <= width <= 1200
        assert path.stat().st_size < 150_000


def test_equal_data_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        report.curves(tmp_path / name, [1.0, 0.5], [0.9])
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    report.curves(tmp_path / "b.png", [1.0, 0.4], [0.9])
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()


def test_matplotlib_is_imported_only_to_draw_and_without_pyplot(tmp_path: Path) -> None:
    code = (
        "import sys, gpgpu_gl.report as r; assert 'matplotlib' not in sys.modules; "
        "r.curves(sys.argv[1], [1.0, 0.5], []); "
        "assert 'matplotlib.figure' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "c.png"], check=True, timeout=120)


class TestCurves:
    def test_show_the_numbers(self, tmp_path: Path, figures: list[Figure]) -> None:
        losses = np.geomspace(2, 0.02, 900)
        report.curves(tmp_path / "c.png", losses, [0.98, 0.9912, 0.99], 300, title="MNIST, compute")
        left, right = figures[0].axes
        np.testing.assert_allclose(left.lines[0].get_ydata(), losses)
        assert left.lines[1].get_ydata()[-1] == pytest.approx(losses[-50:].mean())
        assert left.get_yscale() == "log"
        np.testing.assert_allclose(right.lines[0].get_ydata(), [98, 99.12, 99])
        assert texts(figures[0])[-3:] == ["98.00", "99.12", "99.00"]
        assert figures[0].get_suptitle() == "MNIST, compute"
        # a line at the end of each epoch but the last
        assert [line.get_xdata()[0] for line in left.lines[2:]] == [300, 600]

    @pytest.mark.parametrize("losses", [[], [1.5], [0.0, 0.0], [1.0, float("nan"), 2.0], list(range(1, 40))])
    @pytest.mark.parametrize("accuracies", [[], [0.5], [0.9] * 30])
    def test_any_length(self, losses: list[float], accuracies: list[float], tmp_path: Path, figures) -> None:
        report.curves(tmp_path / "c.png", losses, accuracies)
        assert pixels(tmp_path / "c.png").std() > 1
        assert ("no epoch was finished" in texts(figures[0])) == (not accuracies)

    def test_wrong_shape(self, tmp_path: Path) -> None:
        with pytest.raises(ShapeError, match=r"\(2, 2\)"):
            report.curves(tmp_path / "c.png", np.ones((2, 2)), [])


class TestFilters:
    def test_sign_is_colour_and_place_is_kept(self, tmp_path: Path, figures: list[Figure]) -> None:
        weights = np.zeros((3, 3, 1, 4))
        weights[0, 2, 0, 1] = 2.0
        weights[2, 0, 0, 3] = -2.0
        report.filters(tmp_path / "f.png", weights)
        image = figures[0].axes[0].images[0]
        drawn = image.get_array()
        assert image.get_clim() == (-2, 2)
        assert drawn.max() == 2
        assert drawn.min() == -2
        rows, columns = np.nonzero(drawn == 2)
        tile = drawn.shape[1] / 4
        assert 1.6 * tile < columns.min() < columns.max() < 2 * tile  # the right third of the second tile
        assert rows.max() < drawn.shape[0] / 2
        colours = pixels(tmp_path / "f.png")
        assert ((colours[..., 0] > 90) & (colours[..., 2] < 60)).any()  # red
        assert ((colours[..., 0] < 30) & (colours[..., 2] > 80)).any()  # blue

    @pytest.mark.parametrize(
        ("shape", "title"),
        [
            ((1, 1, 1, 1), "Filters of the first layer"),
            ((7, 5, 3, 10), "Filters of the first layer"),
            ((3, 3, 40, 100), "Filters of the first layer (64 of 100 outputs, 16 of 40 inputs)"),
        ],
    )
    def test_any_shape(self, shape: tuple[int, ...], title: str, tmp_path: Path, figures: list[Figure]) -> None:
        report.filters(tmp_path / "f.png", np.ones(shape))
        assert figures[0].get_suptitle() == title
        drawn = figures[0].axes[0].images[0].get_array()
        scale = -(-40 // shape[0])
        assert drawn.count() == min(shape[2], 16) * min(shape[3], 64) * shape[0] * shape[1] * scale**2

    def test_zeros_and_wrong_shapes(self, tmp_path: Path) -> None:
        report.filters(tmp_path / "f.png", np.zeros((3, 3, 1, 4)))
        assert (tmp_path / "f.png").exists()
        for shape in ((3, 3, 4), (3, 3, 0, 4)):
            with pytest.raises(ShapeError, match=r"\(KH, KW, C_in, C_out\).*got \(3, 3"):
                report.filters(tmp_path / "f.png", np.zeros(shape))


class TestConfusion:
    def test_shows_the_counts(self, tmp_path: Path, figures: list[Figure]) -> None:
        report.confusion(tmp_path / "c.png", np.array([[50, 1, 0], [0, 60, 7], [2, 0, 80]]), ["a", "b", "c"])
        assert texts(figures[0]) == ["50", "1", "60", "7", "2", "80"]
        assert figures[0].get_suptitle() == "Confusion matrix: 95.00% of 200 right"
        axis = figures[0].axes[0]
        assert (axis.get_xlabel(), axis.get_ylabel()) == ("predicted", "true")
        colours = np.asarray(axis.images[0].get_array())
        assert (colours[0, 2, :3] == 1).all()  # none: white
        assert colours[1, 2, 2] < colours[0, 1, 2] < 1  # more errors: deeper

    @pytest.mark.parametrize("count", [1, 2, 20, 100])
    def test_any_number_of_classes(self, count: int, tmp_path: Path, figures: list[Figure]) -> None:
        report.confusion(tmp_path / "c.png", np.eye(count, dtype=int), [f"class {index}" for index in range(count)])
        assert len(texts(figures[0])) == (count if count <= report.MOST_NUMBERS else 0)

    def test_nothing_tested_and_wrong_shape(self, tmp_path: Path, figures: list[Figure]) -> None:
        report.confusion(tmp_path / "c.png", np.zeros((2, 2), int), ["a", "b"])
        assert figures[0].get_suptitle() == "Confusion matrix: nothing tested"
        with pytest.raises(ShapeError, match=r"3 classes is \(3, 3\), got \(2, 3\)"):
            report.confusion(tmp_path / "c.png", np.zeros((2, 3)), ["a", "b", "c"])


class TestMistakes:
    def test_shows_the_wrong_ones_surest_first(self, tmp_path: Path, figures: list[Figure]) -> None:
        images = np.stack([np.full((4, 4), value, np.uint8) for value in (0, 51, 102, 153, 204)])
        true, predicted = np.array([0, 1, 2, 3, 4]), np.array([0, 7, 2, 5, 9])
        report.mistakes(tmp_path / "m.png", images, true, predicted, np.array([0.9, 0.5, 0.9, 0.97, 0.6]))
        assert texts(figures[0]) == ["3 → 5  97%", "4 → 9  60%", "1 → 7  50%"]
        assert figures[0].get_suptitle() == "3 of 5 wrong"
        sheet = figures[0].axes[0].images[0].get_array()
        values = sheet[sheet.shape[0] // 2].compressed()
        np.testing.assert_allclose(values[:: len(values) // 3][:3], [0.6, 0.8, 0.2])

    def test_no_more_than_asked_for(self, tmp_path: Path, figures: list[Figure]) -> None:
        images, true, predicted, probabilities = some_run()
        report.mistakes(tmp_path / "m.png", images, true, predicted, probabilities, most=7)
        assert figures[0].get_suptitle() == "20 of 200 wrong, the 7 surest"
        wrong = np.flatnonzero(true != predicted)
        sure = np.sort(probabilities[wrong, predicted[wrong]])[::-1][:7]
        assert [text.split()[-1] for text in texts(figures[0])] == [f"{value:.0%}" for value in sure]

    @pytest.mark.parametrize("shape", [(28, 28), (6, 9), (28, 28, 1), (8, 8, 3)])
    @pytest.mark.parametrize("dtype", [np.uint8, np.float32])
    def test_any_image_and_long_names(self, shape: tuple[int, ...], dtype: type, tmp_path: Path, figures) -> None:
        images = np.ones((3, *shape), dtype)
        names = ["Ankle boot", "T-shirt/top"]
        report.mistakes(tmp_path / "m.png", images, [0, 0, 1], [1, 0, 0], [0.5, 0.5, 0.5], names)
        assert texts(figures[0]) == ["Ankle boot\n→ T-shirt/top  50%", "T-shirt/top\n→ Ankle boot  50%"]

    def test_none(self, tmp_path: Path, figures: list[Figure]) -> None:
        report.mistakes(tmp_path / "m.png", np.zeros((2, 4, 4)), [1, 2], [1, 2], [1.0, 1.0])
        assert texts(figures[0]) == ["nothing to show: no image was classified wrongly"]
        assert figures[0].get_suptitle() == "0 of 2 wrong"

    def test_different_lengths(self, tmp_path: Path) -> None:
        with pytest.raises(ShapeError, match="2 images, 3 true, 2 predicted, 1 probabilities"):
            report.mistakes(tmp_path / "m.png", np.zeros((2, 4, 4)), [1, 2, 3], [1, 2], [1.0])


def test_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the folder .* does not exist"):
        report.curves(tmp_path / "none" / "c.png", [1.0], [])
