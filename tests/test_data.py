"""Data sets, IDX files and batches: what they hold, and what is said about wrong ones."""

import gzip
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpgpu_gl.data import Batches, dataset, idx, load, normalise
from gpgpu_gl.data.batches import epoch_order
from gpgpu_gl.errors import FileError, ShapeError

CODES = {"uint8": 0x08, "int8": 0x09, "int16": 0x0B, "int32": 0x0C, "float32": 0x0D, "float64": 0x0E}


def idx_bytes(array: np.ndarray) -> bytes:
    head = bytes([0, 0, CODES[array.dtype.name], array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


def write_folder(folder: Path, **changes: bytes | None) -> Path:
    """A small whole data set in IDX files; a change replaces a file's bytes, or leaves the file out."""
    rng = np.random.default_rng(0)
    files = {
        "train-images-idx3-ubyte": idx_bytes(rng.integers(0, 256, (20, 6, 5), dtype=np.uint8)),
        "train-labels-idx1-ubyte": idx_bytes(np.arange(20, dtype=np.uint8) % 4),
        "t10k-images-idx3-ubyte": idx_bytes(rng.integers(0, 256, (8, 6, 5), dtype=np.uint8)),
        "t10k-labels-idx1-ubyte": idx_bytes(np.arange(8, dtype=np.uint8) % 4),
    }
    files |= {name.replace("_", "-"): data for name, data in changes.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        if data is not None:
            (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def mnist() -> dataset.Dataset:
    return load("mnist")


class TestIdx:
    @pytest.mark.parametrize("name", CODES)
    @pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
    def test_every_dtype_comes_back(self, name: str, pack, tmp_path: Path) -> None:
        array = np.array([[[1, 2, 3], [100, 0, 127]]]).astype(name)
        if np.dtype(name).kind != "u":
            array = -array
        path = tmp_path / "some-idx"
        path.write_bytes(pack(idx_bytes(array)))
        found = idx.read(path)
        assert found.dtype == array.dtype
        assert found.dtype.isnative
        np.testing.assert_array_equal(found, array)

    @given(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    def test_every_shape_comes_back(self, shape: list[int]) -> None:
        array = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
        np.testing.assert_array_equal(idx.parse(idx_bytes(array), "x"), array)

    def test_gzip_of_several_members_and_padding(self) -> None:
        data = idx_bytes(np.arange(100, dtype=np.uint8))
        packed = gzip.compress(data[:40]) + gzip.compress(data[40:]) + b"\0" * 7
        np.testing.assert_array_equal(idx.parse(packed, "x"), np.arange(100))

    @pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", r"magic number of 4 bytes, got 0"),
            (b"\0\0\x08", r"magic number of 4 bytes, got 3"),
            (b"\x89PNG\r\n\x1a\n", r"not an IDX file.*0x89504e47"),
            (b"\0\0\x07\x01\0\0\0\1a", r"not an IDX file.*0x00000701.*08, 09, 0b, 0c, 0d, 0e"),
            (b"\0\0\x08\x00", r"not an IDX file.*0x00000800"),
            (b"\0\0\x08\x03\0\0\0\2\0\0", r"3 dimensions need 12 bytes of sizes, got 6"),
            (idx_bytes(np.zeros((3, 4), np.int32))[:-1], r"truncated: shape \(3, 4\) of int32 needs 48 .* got 47"),
            (idx_bytes(np.zeros((3, 4), np.int32)) + b"ab", r"shape \(3, 4\) of int32 needs 48 .* 2 extra bytes"),
            (b"\0\0\x08\x02" + b"\xff" * 8 + b"abc", r"needs 18446744065119617025 bytes of values, got 3"),
        ],
    )
    def test_wrong_file_is_named_and_explained(self, pack, data: bytes, said: str, tmp_path: Path) -> None:
        path = tmp_path / "broken-idx"
        path.write_bytes(pack(data))
        with pytest.raises(FileError, match=said) as caught:
            idx.read(path)
        assert str(caught.value).startswith(str(path))

    def test_gzip_cut_anywhere_is_refused(self) -> None:
        packed = gzip.compress(idx_bytes(np.random.default_rng(0).integers(0, 256, (30, 7), dtype=np.uint8)))
        for length in range(2, len(packed)):
            with pytest.raises(FileError, match=r"cut\.gz.*truncated"):
                idx.parse(packed[:length], "cut.gz")

    def test_gzip_damaged_anywhere_is_refused_or_harmless(self) -> None:
        array = np.random.default_rng(0).integers(0, 256, (30, 7), dtype=np.uint8)
        packed = gzip.compress(idx_bytes(array))
        refused = 0
        for at in range(len(packed)):
            damaged = bytearray(packed)
            damaged[at] ^= 0x55
            try:
                found = idx.parse(bytes(damaged), "damaged.gz")
            except FileError:
                refused += 1
            else:
                np.testing.assert_array_equal(found, array)  # gzip's time stamp and the like
        assert refused > len(packed) - 10  # all but the header's free fields

    def test_small_file_that_unpacks_to_much_is_refused_without_unpacking_it(self) -> None:
        packed = gzip.compress(b"\0\0\x08\x01\0\0\0\x01" + b"\0" * 50_000_000)
        with pytest.raises(FileError, match="needs 1 bytes of values, and 4096 or more extra bytes"):
            idx.parse(packed, "bomb.gz")

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match=r"none: cannot be read: No such file"):
            idx.read(tmp_path / "none")


class TestMnist:
    def test_is_the_original(self, mnist: dataset.Dataset) -> None:
        assert mnist.train_images.shape == (60000, 28, 28)
        assert mnist.test_images.shape == (10000, 28, 28)
        assert mnist.train_images.dtype == np.uint8
        assert mnist.class_names == tuple("0123456789")
        # counts as published with the data set
        assert np.bincount(mnist.train_labels).tolist() == [
            5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
        ]  # fmt: skip
        assert np.bincount(mnist.test_labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
        assert mnist.train_labels[:5].tolist() == [5, 0, 4, 1, 9]
        # the mean that is quoted for it everywhere
        assert round(mnist.train_images.mean() / 255, 4) == 0.1307

    def test_parts_are_read_when_first_used(self) -> None:
        data = load("mnist")
        assert len(data.test_images) == 10000
        assert "train_images" not in vars(data)
        assert "train_labels" not in vars(data)

    def test_credits_travel_with_it(self) -> None:
        text = (Path(dataset.__file__).parent / "mnist" / "CREDITS").read_text()
        for words in ("LeCun", "Cortes", "Burges", "CC BY-SA 3.0"):
            assert words in text


class TestFolder:
    def test_comes_back(self, tmp_path: Path) -> None:
        data = load(write_folder(tmp_path / "letters"))
        assert data.name == "letters"
        assert data.class_names == ("0", "1", "2", "3")
        assert data.train_images.shape == (20, 6, 5)
        assert data.test_labels.tolist() == [0, 1, 2, 3] * 2

    def test_other_usual_names_and_gzip(self, tmp_path: Path) -> None:
        write_folder(tmp_path)
        reference = load(tmp_path)
        assert reference.train_images.size
        assert reference.test_images.size
        for path in list(tmp_path.iterdir()):
            new = "emnist-x-" + path.name.replace("-idx", ".idx").replace("t10k", "test") + ".gz"
            (tmp_path / new).write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
        data = load(str(tmp_path))
        np.testing.assert_array_equal(data.train_images, reference.train_images)
        np.testing.assert_array_equal(data.test_images, reference.test_images)

    def test_plain_file_wins_over_its_own_gzip(self, tmp_path: Path) -> None:
        write_folder(tmp_path)
        (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(b"not looked at")
        assert len(load(tmp_path).train_labels) == 20

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"t10k_images_idx3_ubyte": None}, r"no file for the test-images; the usual names are train-images"),
            (
                {"train.images.idx3_ubyte": b""},
                r"two files for the train-images: train-images-idx3-ubyte and train\.im",
            ),
            (
                {"train_labels_idx1_ubyte": idx_bytes(np.zeros(19, np.uint8))},
                r"20 images, but 19 labels in .*train-lab",
            ),
            (
                {"train_labels_idx1_ubyte": idx_bytes(np.zeros((20, 1), np.uint8))},
                r"one row .* shape \(20, 1\) of uint8",
            ),
            ({"train_labels_idx1_ubyte": idx_bytes(np.zeros(20, np.float32))}, r"integers, got .* float32"),
            ({"train_labels_idx1_ubyte": idx_bytes(np.full(20, -1, np.int8))}, r"labels from -1 to -1, expected 0"),
            ({"train_images_idx3_ubyte": idx_bytes(np.zeros((20, 6), np.uint8))}, r"shape \(20, 6\) of uint8"),
            ({"train_images_idx3_ubyte": idx_bytes(np.zeros((20, 6, 5), np.int16))}, r"\(20, 6, 5\) of int16"),
            ({"train_images_idx3_ubyte": idx_bytes(np.zeros((20, 0, 5), np.uint8))}, r"without pixels"),
            ({"train_images_idx3_ubyte": b"\0\0\x08\x03"}, r"train-images-idx3-ubyte: truncated"),
        ],
    )
    def test_wrong_files_are_named(self, changes: dict[str, bytes | None], said: str, tmp_path: Path) -> None:
        write_folder(tmp_path, **changes)
        with pytest.raises(FileError, match=said) as caught:
            _ = load(tmp_path).train_images
        assert str(tmp_path) in str(caught.value)

    def test_unknown_name_lists_the_known(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match=r"'imagenet' is neither a known data set \(mnist, fashion-mnist\) nor"):
            load("imagenet")
        (tmp_path / "file").write_text("x")
        with pytest.raises(FileError, match="is a file: give the folder"):
            load(tmp_path / "file")


class TestFashion:
    def test_is_found_in_its_usual_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = write_folder(tmp_path / "fashion-mnist")
        monkeypatch.setattr(dataset, "FASHION_FOLDERS", (tmp_path / "elsewhere", folder))
        data = load("fashion-mnist")
        assert data.class_names[0] == "T-shirt/top"
        assert data.class_names[9] == "Ankle boot"
        assert len(data.class_names) == 10
        assert data.test_images.shape == (8, 6, 5)

    def test_label_without_a_name_is_refused(self, tmp_path: Path) -> None:
        labels = idx_bytes(np.full(20, 10, np.uint8))
        folder = write_folder(tmp_path / "Fashion_MNIST", train_labels_idx1_ubyte=labels)
        with pytest.raises(FileError, match="labels from 10 to 10, expected 0 to 9"):
            _ = load(folder).train_labels

    def test_its_package_is_named_where_it_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(dataset, "FASHION_FOLDERS", (tmp_path / "none",))
        with pytest.raises(FileError, match="apt-get install dataset-fashion-mnist"):
            load("fashion-mnist")

    @pytest.mark.skipif(not dataset.FASHION_FOLDERS[0].is_dir(), reason="dataset-fashion-mnist is not installed")
    def test_the_real_one(self) -> None:
        data = load("fashion-mnist")
        assert np.bincount(data.train_labels).tolist() == [6000] * 10
        assert data.train_images.shape == (60000, 28, 28)


class TestNormalise:
    def test_values_and_layout(self) -> None:
        images = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
        found = normalise(images)
        assert found.shape == (1, 16, 16, 1)
        assert found.dtype == np.float32
        # exact: the float32 nearest to each quotient
        np.testing.assert_array_equal(found.ravel(), (np.arange(256) / 255).astype(np.float32))
        assert normalise(np.zeros((2, 4, 5, 3), np.uint8)).shape == (2, 4, 5, 3)

    @pytest.mark.parametrize("images", [np.zeros((28, 28), np.uint8), np.zeros((1, 28, 28), np.float32)])
    def test_other_input_is_refused(self, images: np.ndarray) -> None:
        with pytest.raises(ShapeError, match="uint8, got shape"):
            normalise(images)


def small(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Images that know their own number: every pixel of image i is i, and so is its label."""
    labels = np.arange(count)
    return np.repeat(labels.astype(np.uint8), 4).reshape(count, 2, 2), labels


class TestBatches:
    def test_order_is_the_same_everywhere(self) -> None:
        # fixed once: another order on any machine or NumPy would break resumed runs and the comparison of paths
        assert epoch_order(10, seed=0, epoch=0).tolist() == [0, 2, 9, 1, 8, 5, 4, 3, 6, 7]
        digest = hashlib.sha256(epoch_order(60000, seed=7, epoch=3).astype("<i8").tobytes()).hexdigest()
        assert digest == "9c641a3e32e12c443f33952915185cf554f1c2a4c05fb26c1d2c38b2bed38a8b"

    @settings(max_examples=50)
    @given(count=st.integers(1, 200), size=st.integers(1, 200), seed=st.integers(0, 2**64 - 1), drop=st.booleans())
    def test_an_epoch_hands_out_each_image_once(self, count: int, size: int, seed: int, drop: bool) -> None:
        size = min(size, count)
        batches = Batches(*small(count), size, seed, drop_last=drop)
        for _ in range(2):
            got = list(batches)
            assert len(got) == len(batches)
            labels = np.concatenate([labels for _, labels in got])
            for images, its_labels in got:
                assert images.dtype == np.float32
                assert images.shape[1:] == (2, 2, 1)
                assert its_labels.dtype == np.int32
                np.testing.assert_array_equal(np.rint(images[:, 1, 1, 0] * 255), its_labels)
            assert len(set(labels.tolist())) == len(labels) == (count - count % size if drop else count)

    def test_epochs_and_seeds_differ(self) -> None:
        orders = [epoch_order(100, seed, epoch).tolist() for seed in (0, 1) for epoch in (0, 1)]
        assert len({tuple(order) for order in orders}) == 4

    @pytest.mark.parametrize("drop", [False, True])
    def test_goes_on_from_any_saved_state(self, drop: bool) -> None:
        def labels_of(batches: Batches) -> list[list[int]]:
            return [labels.tolist() for _ in range(2) for _, labels in batches]

        whole = labels_of(Batches(*small(10), 3, seed=4, drop_last=drop))
        first = Batches(*small(10), 3, seed=4, drop_last=drop)
        taken: list[list[int]] = []
        for step in range(len(whole)):
            state = json.loads(json.dumps(first.state_dict()))
            second = Batches(*small(10), 3, seed=99, drop_last=drop)
            second.load_state_dict(state)
            rest: list[list[int]] = []
            while len(rest) < len(whole) - step:
                rest += [labels.tolist() for _, labels in second]
            assert taken + rest == whole
            for _, labels in first:
                taken.append(labels.tolist())
                break

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"count": 11}, "saved order has count 11, this run has 10"),
            ({"batch_size": 4}, "saved order has batch_size 4, this run has 3"),
            ({"drop_last": True}, "saved order has drop_last True, this run has False"),
            ({"position": 10}, "not a state"),
            ({"position": 2}, "not a state"),
            ({"epoch": -1}, "not a state"),
            ({"seed": "x"}, "not a state"),
        ],
    )
    def test_state_of_another_run_is_refused(self, change: dict[str, object], said: str) -> None:
        batches = Batches(*small(10), 3, seed=4)
        before = batches.state_dict()
        with pytest.raises(FileError, match=said):
            batches.load_state_dict({**before, **change})
        with pytest.raises(FileError, match="epoch, position missing"):
            batches.load_state_dict({k: v for k, v in before.items() if k not in ("epoch", "position")})
        assert batches.state_dict() == before

    @pytest.mark.parametrize(
        ("labels", "size", "seed", "said"),
        [
            (9, 3, 0, "10 images with 9 labels"),
            (10, 0, 0, "batch size 0 with 10 images"),
            (10, 11, 0, "batch size 11 with 10 images: it must be from 1 to 10"),
            (10, 3, -1, "seed -1"),
            (10, 3, 2**64, "must be from 0 to"),
        ],
    )
    def test_wrong_arguments(self, labels: int, size: int, seed: int, said: str) -> None:
        with pytest.raises(ShapeError, match=said):
            Batches(small(10)[0], np.zeros(labels, int), size, seed)
