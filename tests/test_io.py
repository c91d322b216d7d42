"""Weights, checkpoints and metrics as files: bit-exact, whole or not at all, and clear about damaged ones."""

import json
import math
import os
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from gpgpu_gl.errors import DTypeError, FileError
from gpgpu_gl.io import (
    check_state,
    load_checkpoint,
    load_weights,
    make_folder,
    save_checkpoint,
    save_json,
    save_weights,
    write_atomic,
)

NAN_WITH_PAYLOAD = struct.unpack("<f", struct.pack("<I", 0x7FC12345))[0]


def some_arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, 500, dtype=np.uint32)
    return {
        "conv.weight": bits.view(np.float32).reshape(5, 10, 10),  # every kind of float: NaN, infinities, denormals
        "half": bits.view(np.float16),
        "counter": rng.integers(-(2**31), 2**31, (3, 4), dtype=np.int32),
        "key": bits[:2].copy(),
        "mask": np.array([True, False, True]),
        "scalar": np.array(1.5, np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "Größe": np.array([7], np.int32),
    }


def assert_same_bits(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes(), name


class TestWeights:
    def test_come_back_bit_for_bit(self, tmp_path: Path) -> None:
        path = tmp_path / "weights.safetensors"
        save_weights(path, some_arrays(), {"data": "mnist", "classes": "a\nb"})
        arrays, metadata = load_weights(path)
        assert_same_bits(arrays, some_arrays())
        assert metadata == {"data": "mnist", "classes": "a\nb"}
        arrays["key"] += 1  # writable

    def test_views_and_foreign_byte_order(self, tmp_path: Path) -> None:
        base = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        views = {"turned": base.T, "strided": base[:, ::2, ::-1], "big": base.astype(">f4"), "one": base[0, 0, 1:2]}
        save_weights(tmp_path / "w", views)
        arrays, _ = load_weights(tmp_path / "w")
        for name, view in views.items():
            np.testing.assert_array_equal(arrays[name], view)
            assert arrays[name].dtype == np.dtype("=f4")

    def test_equal_arguments_give_equal_bytes_in_every_process(self, tmp_path: Path) -> None:
        code = (
            "import sys, numpy as np; from gpgpu_gl.io import save_weights; "
            "save_weights(sys.argv[1], {'b': np.ones(2, 'f4'), 'a': np.ones(3, 'i4')}, {k: k for k in 'zyxwvutsrq'})"
        )
        written = set()
        for run in range(3):  # ten metadata entries in a random order agree thrice by chance once in 10!^2
            subprocess.run([sys.executable, "-c", code, tmp_path / f"w{run}"], check=True, timeout=60)
            written.add((tmp_path / f"w{run}").read_bytes())
        assert len(written) == 1

    def test_other_programs_read_ours_and_we_theirs(self, tmp_path: Path) -> None:
        save_weights(tmp_path / "ours", some_arrays(), {"a": "b"})
        assert_same_bits(safetensors.numpy.load_file(tmp_path / "ours"), some_arrays())
        safetensors.numpy.save_file({"x": np.ones(3, np.float32)}, tmp_path / "theirs", metadata={"format": "np"})
        arrays, metadata = load_weights(tmp_path / "theirs")
        np.testing.assert_array_equal(arrays["x"], np.ones(3))
        assert metadata == {"format": "np"}

    def test_dtype_that_the_format_lacks(self, tmp_path: Path) -> None:
        with pytest.raises(DTypeError, match=r"names: <?U?.*str.* cannot be saved; the format holds bool"):
            save_weights(tmp_path / "w", {"names": np.array(["a"])})
        assert not list(tmp_path.iterdir())

    def test_type_that_numpy_lacks(self, tmp_path: Path) -> None:
        header = json.dumps({"x": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
        (tmp_path / "w").write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 4)
        with pytest.raises(FileError, match=r"w: holds values of type BF16"):
            load_weights(tmp_path / "w")


class TestCheckState:
    EXPECTED = {"conv.weight": (5, 5, 1, 16), "conv.bias": (16,), "linear.weight": (1568, 10)}

    def test_names_every_wrong_entry(self) -> None:
        found = {
            "conv.weight": np.zeros((3, 3, 1, 16)),
            "conv.bias": np.zeros(16),
            "bn.weight": np.zeros(4),
            "scale": np.zeros(()),
        }
        with pytest.raises(FileError) as caught:
            check_state(self.EXPECTED, found, "w.safetensors")
        assert str(caught.value).splitlines() == [
            "w.safetensors belongs to another architecture:",
            "  missing: linear.weight (1568, 10)",
            "  unexpected: bn.weight (4,)",
            "  unexpected: scale ()",
            "  misshapen: conv.weight (3, 3, 1, 16), expected (5, 5, 1, 16)",
        ]

    def test_equal_size_in_another_shape_is_misshapen(self) -> None:
        found = {name: np.zeros(shape) for name, shape in self.EXPECTED.items()}
        found["conv.bias"] = np.zeros((1, 16))
        with pytest.raises(FileError, match=r"misshapen: conv\.bias \(1, 16\), expected \(16,\)"):
            check_state(self.EXPECTED, found)

    def test_passes_what_fits(self) -> None:
        found = {name: np.zeros(shape) for name, shape in reversed(self.EXPECTED.items())}
        assert check_state(self.EXPECTED, found) is None
        with pytest.raises(FileError, match="missing"):
            check_state({**self.EXPECTED, "more": (1,)}, found)


class TestCheckpoint:
    INFO = {"step": 937, "lr": 0.1 + 0.2, "loss": [1e-300, math.inf], "seed": 2**64 - 1, "data": {"name": "mnist"}}

    def test_comes_back_bit_for_bit(self, tmp_path: Path) -> None:
        arrays = some_arrays() | {"nan": np.array([NAN_WITH_PAYLOAD], np.float32)}
        save_checkpoint(tmp_path / "checkpoint", arrays, self.INFO)
        found, info = load_checkpoint(tmp_path / "checkpoint")
        assert_same_bits(found, arrays)
        assert info == self.INFO

    def test_numpy_numbers_in_info(self, tmp_path: Path) -> None:
        save_checkpoint(tmp_path / "c", {}, {"a": np.float32(0.5), "b": np.int64(3), "c": np.arange(3)})
        assert load_checkpoint(tmp_path / "c") == ({}, {"a": 0.5, "b": 3, "c": [0, 1, 2]})
        with pytest.raises(TypeError, match="info cannot hold set"):
            save_checkpoint(tmp_path / "c", {}, {"a": {1}})
        assert load_checkpoint(tmp_path / "c")[1]["b"] == 3

    def test_weights_and_checkpoints_are_not_mixed_up(self, tmp_path: Path) -> None:
        save_checkpoint(tmp_path / "checkpoint", some_arrays(), {})
        save_weights(tmp_path / "weights", some_arrays())
        safetensors.numpy.save_file({"x": np.ones(3, np.float32)}, tmp_path / "theirs")
        with pytest.raises(FileError, match=r"checkpoint: holds a checkpoint 1, not weights"):
            load_weights(tmp_path / "checkpoint")
        with pytest.raises(FileError, match=r"weights: not a checkpoint that this version reads, but weights 1"):
            load_checkpoint(tmp_path / "weights")
        with pytest.raises(FileError, match=r"theirs: not a checkpoint .* but a safetensors file of another program"):
            load_checkpoint(tmp_path / "theirs")

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", "not a safetensors file: 0 bytes"),
            (b"PK\3\4" + b"\0" * 100, r"not a safetensors file: 104 bytes that start with b'PK"),
            (b"\0" * 4096, "not a safetensors file"),
            (struct.pack("<Q", 500) + b"{" + b" " * 50, "truncated: the header alone takes 508 bytes, .* has 59"),
            (struct.pack("<Q", 2) + b"{]", "truncated or damaged"),
            (struct.pack("<Q", 2) + b"{}", "another program"),
        ],
    )
    def test_foreign_file_is_named_and_explained(self, data: bytes, said: str, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(data)
        with pytest.raises(FileError, match=said) as caught:
            load_checkpoint(tmp_path / "file")
        assert str(caught.value).startswith(str(tmp_path / "file"))

    def test_missing_file_and_folder(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="none: cannot be read: No such file"):
            load_checkpoint(tmp_path / "none")
        with pytest.raises(FileError, match="cannot be read"):
            load_checkpoint(tmp_path)

    def test_cut_anywhere_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "c"
        save_checkpoint(path, {"a": np.arange(20, dtype=np.float32), "b": np.arange(3)}, {"step": 1})
        data = path.read_bytes()
        for length in range(len(data)):
            path.write_bytes(data[:length])
            with pytest.raises(FileError, match=r"^" + str(path)):
                load_checkpoint(path)

    def test_damaged_anywhere_is_refused_or_harmless(self, tmp_path: Path) -> None:
        """Each byte in turn is changed in three ways; only the spaces that fill the header up may not matter."""
        path = tmp_path / "c"
        arrays = {"a": np.arange(20, dtype=np.float32), "b": np.arange(3)}
        save_checkpoint(path, arrays, {"step": 1, "lr": 0.25})
        data = path.read_bytes()
        harmless = 0
        for at in range(len(data)):
            for flip in (0x01, 0x20, 0xFF):
                damaged = bytearray(data)
                damaged[at] ^= flip
                path.write_bytes(damaged)
                try:
                    found, info = load_checkpoint(path)
                except FileError:
                    pass
                else:
                    harmless += 1
                    assert_same_bits(found, arrays)
                    assert info == {"step": 1, "lr": 0.25}
        assert harmless < 8

    def test_random_bytes_are_refused(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        for _ in range(300):
            body = rng.bytes(int(rng.integers(0, 200)))
            head = struct.pack("<Q", int(rng.integers(0, 100))) + b"{" if rng.random() < 0.7 else b""
            (tmp_path / "c").write_bytes(head + body)
            with pytest.raises(FileError):
                load_checkpoint(tmp_path / "c")


class TestJson:
    def test_is_valid_json_of_plain_numbers(self, tmp_path: Path) -> None:
        value = {"loss": np.array([0.5, np.nan], np.float32), "n": np.int64(3), "t": (1.5, math.inf), "ok": np.bool_(1)}
        save_json(tmp_path / "metrics.json", value)
        text = (tmp_path / "metrics.json").read_text()
        assert json.loads(text) == {"loss": [0.5, None], "n": 3, "t": [1.5, None], "ok": True}
        assert "NaN" not in text
        assert "Infinity" not in text
        assert text.endswith("}\n")


class TestWholeOrNotAtAll:
    def test_interrupt_while_writing_leaves_the_earlier_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_atomic(tmp_path / "f", b"old")

        def interrupt(handle: int) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_atomic(tmp_path / "f", b"new")
        assert (tmp_path / "f").read_bytes() == b"old"
        assert [path.name for path in tmp_path.iterdir()] == ["f"]

    @pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions and links")
    def test_permissions_and_links_stay(self, tmp_path: Path) -> None:
        mask = os.umask(0o027)
        try:
            write_atomic(tmp_path / "f", b"1")
        finally:
            os.umask(mask)
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640
        (tmp_path / "f").chmod(0o604)
        (tmp_path / "link").symlink_to(tmp_path / "f")
        write_atomic(tmp_path / "link", b"2")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "f").read_bytes() == b"2"
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o604

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match=r"none.f: cannot be written: .*the folder .*none does not exist"):
            write_atomic(tmp_path / "none" / "f", b"1")

    def test_make_folder(self, tmp_path: Path) -> None:
        assert make_folder(tmp_path / "a" / "b").is_dir()
        assert make_folder(tmp_path / "a").is_dir()
        (tmp_path / "file").write_text("x")
        with pytest.raises(FileError, match="file: a file of this name is in the way"):
            make_folder(tmp_path / "file")
        with pytest.raises(FileError, match="cannot be made"):
            make_folder(tmp_path / "file" / "below")

    def test_leftovers_of_killed_runs_are_removed(self, tmp_path: Path) -> None:
        old, fresh, other = (tmp_path / name for name in (".f.abc.tmp", ".f.def.tmp", ".g.abc.tmp"))
        for path in (old, fresh, other):
            path.write_bytes(b"half")
        for path in (old, other):
            os.utime(path, (time.time() - 3600,) * 2)
        write_atomic(tmp_path / "f", b"1")
        assert sorted(path.name for path in tmp_path.iterdir()) == [".f.def.tmp", ".g.abc.tmp", "f"]

    @pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
    def test_kill_while_saving_leaves_a_whole_checkpoint(self, tmp_path: Path) -> None:
        """Killed with no chance to clean up, at ever other moments, in a loop that does nothing but save."""
        code = (
            "import sys, numpy as np; from gpgpu_gl.io import save_checkpoint\n"
            "step = int(sys.argv[2])\n"
            "while True:\n"
            "    step += 1\n"
            "    save_checkpoint(sys.argv[1], {'w': np.full(300_000, step, np.int32)}, {'step': step})\n"
            "    print(step, flush=True)\n"
        )
        path, last, caught_in_the_act = tmp_path / "checkpoint", 0, 0
        for run in range(12):
            with subprocess.Popen(
                [sys.executable, "-c", code, path, str(last)], stdout=subprocess.PIPE, text=True
            ) as process:
                assert process.stdout is not None
                reported = int(process.stdout.readline())
                time.sleep(0.0021 * run)
                process.send_signal(signal.SIGKILL)
                reported = max([reported, *(int(line) for line in process.stdout.read().split("\n")[:-1])])
            arrays, info = load_checkpoint(path)
            np.testing.assert_array_equal(arrays["w"], np.full(300_000, info["step"], np.int32))
            assert info["step"] in (reported, reported + 1)  # nothing that was reported as saved is lost
            last = info["step"]
            leftovers = list(tmp_path.glob(".checkpoint.*.tmp"))
            caught_in_the_act += bool(leftovers)
            for leftover in leftovers:
                leftover.unlink()
        assert caught_in_the_act > 0  # else this test has proved nothing


LIMITED = """
import resource, sys, numpy as np
from gpgpu_gl.errors import FileError
from gpgpu_gl.io import save_checkpoint
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    save_checkpoint(sys.argv[1], {"w": np.zeros(50_000, np.float32)}, {"step": 2})
except FileError as error:
    print(error)
"""


class TestFullDisk:
    @pytest.fixture
    def tiny_disk(self, tmp_path: Path) -> Iterator[Path]:
        disk = tmp_path / "disk"
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
        if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("needs root on Linux, allowed to mount a small disk")
        yield disk
        subprocess.run(["umount", str(disk)], check=True)

    def test_earlier_checkpoint_stays_on_a_full_disk(self, tiny_disk: Path) -> None:
        path = tiny_disk / "checkpoint"
        save_checkpoint(path, {"w": np.arange(20_000, dtype=np.float32)}, {"step": 1})
        with pytest.raises(FileError, match=r"checkpoint: cannot be written: No space left on device: 2\d{5} bytes"):
            save_checkpoint(path, {"w": np.zeros(60_000, np.float32)}, {"step": 2})
        arrays, info = load_checkpoint(path)
        assert info == {"step": 1}
        np.testing.assert_array_equal(arrays["w"], np.arange(20_000))
        assert [entry.name for entry in tiny_disk.iterdir()] == ["checkpoint"]

    @pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX limits")
    def test_earlier_checkpoint_stays_where_a_file_may_not_grow(self, tmp_path: Path) -> None:
        path = tmp_path / "checkpoint"
        save_checkpoint(path, {"w": np.arange(10, dtype=np.float32)}, {"step": 1})
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, path], capture_output=True, text=True, check=True, timeout=60
        )
        assert "checkpoint: cannot be written: File too large" in done.stdout
        assert "an earlier file of this name is as it was" in done.stdout
        assert load_checkpoint(path)[1] == {"step": 1}
        assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint"]
