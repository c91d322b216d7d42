"""gpgpu-gl doctor: what it reports, and that a device which computes wrong results is not called healthy."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gpgpu_gl import cli, doctor
from gpgpu_gl.errors import DeviceError, ShaderError
from gpgpu_gl.gl import remedies
from gpgpu_gl.gl.context import Device

pytestmark = pytest.mark.gl33


def test_a_healthy_device(device: Device) -> None:
    before = device.path
    seen = []

    def exact() -> tuple[float, float]:
        seen.append(device.path)
        return 0.0, 1e-6

    report = doctor.report([("exact", exact)])
    assert report["ok"]
    assert seen == list(device.paths)
    assert device.path == before
    assert report["device"]["vendor"] == device.vendor
    assert device.renderer in report["device"]["renderer"]
    assert report["limits"]["max_texture_size"] == device.max_texture_size
    assert report["paths"]["fragment"] == "works"
    assert (report["paths"]["compute"] == "works") == ("compute" in device.paths)
    text = doctor.text(report)
    assert device.renderer in text
    assert "exact" in text
    assert "WRONG" not in text
    json.dumps(report)


@pytest.mark.parametrize(("error", "bound"), [(0.5, 1e-6), (math.nan, 1e-6), (math.inf, 1e-6)])
def test_a_lying_device_is_refused(device: Device, error: float, bound: float) -> None:
    report = doctor.report([("sqrt", lambda: (error, bound)), ("sum", lambda: (0.0, 0.0))])
    assert not report["ok"]
    assert report["paths"]["fragment"] == "wrong: sqrt"
    assert "WRONG" in doctor.text(report)
    assert any("do not trust it" in line or "GPGPU_GL_PATH=fragment" in line for line in report["remedies"])


def test_only_the_compute_path_wrong_leads_to_the_other(device: Device) -> None:
    if "compute" not in device.paths:
        pytest.skip("no compute path")
    report = doctor.report([("sqrt", lambda: (float(device.path == "compute"), 0.0))])
    assert report["paths"] == {"compute": "wrong: sqrt", "fragment": "works"}
    assert any("GPGPU_GL_PATH=fragment" in line for line in report["remedies"])


def test_a_self_test_that_raises_is_wrong_and_the_others_go_on(device: Device) -> None:
    def raises() -> tuple[float, float]:
        raise ShaderError("kernels/x.glsl:3: no such thing")

    report = doctor.report([("x", raises), ("y", lambda: (0.0, 0.0))])
    assert not report["ok"]
    assert [test["ok"] for test in report["self_tests"]] == [False, True] * len(device.paths)
    assert "kernels/x.glsl:3" in doctor.text(report)


def test_without_opengl_the_problem_and_its_remedy_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> Device:
        raise DeviceError("OpenGL 3.3 could not be started. Tried: everything\n" + remedies.no_opengl())

    monkeypatch.setattr(doctor, "device", none)
    assert cli.main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert "Tried: everything" in printed
    assert remedies.no_opengl() in printed


def test_the_command_prints_json(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    status = cli.main(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert (status == 0) == report["ok"]
    assert report["device"]["vendor"] == device.vendor


def test_wrong_arguments_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["no-such-command"])
    assert caught.value.code == 2
    assert "doctor" in capsys.readouterr().err


def test_an_error_of_ours_is_a_message_and_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise DeviceError("the reason")

    monkeypatch.setattr(doctor, "report", fails)
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().err == "gpgpu-gl doctor: the reason\n"


@pytest.mark.parametrize(
    ("devices", "words"),
    [
        (["/dev/nvidiactl"], "NVIDIA_DRIVER_CAPABILITIES"),
        (["/dev/dri/renderD128"], "usermod -aG render"),
        ([], ""),
    ],
)
def test_a_graphics_card_that_is_not_used_has_a_reason(
    monkeypatch: pytest.MonkeyPatch, devices: list[str], words: str
) -> None:
    monkeypatch.delenv("LIBGL_ALWAYS_SOFTWARE", raising=False)
    monkeypatch.setattr(remedies.sys, "platform", "linux")
    monkeypatch.setattr(remedies.os.path, "exists", lambda path: path in devices)
    monkeypatch.setattr(remedies.glob, "glob", lambda pattern: [d for d in devices if Path(d).match(pattern)])
    monkeypatch.setattr(remedies.os, "access", lambda path, mode: False)
    assert words in remedies.hidden_hardware()
    assert bool(words) == bool(remedies.hidden_hardware())
    monkeypatch.setenv("LIBGL_ALWAYS_SOFTWARE", "1")
    assert remedies.hidden_hardware() == ""
