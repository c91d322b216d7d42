"""What this machine's OpenGL is and can do, tested against NumPy, with a remedy for each thing that is wrong."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl.errors import DeviceError, GpgpuError
from gpgpu_gl.gl import remedies
from gpgpu_gl.gl.context import Device, device, raw

SelfTest = Callable[[], tuple[float, float]]

ULP = 2.0**-23  # of a float32 near 1; the bounds of functions are those of the GLSL specification, section 4.7.1


_PACKAGES = ("gpgpu-gl", "moderngl", "glcontext", "PyOpenGL", "numpy", "glfw")
_LIMITS = (
    "max_texture_size", "max_array_texture_layers", "max_draw_buffers", "max_color_attachments",
    "max_texture_image_units", "max_compute_work_group_count", "max_compute_work_group_invocations",
)  # fmt: skip


def _readback() -> tuple[float, float]:
    """Bits that clamping, flushing or conversion would change; compared as bits."""
    values = np.array([1e30, -1e30, 1e-40, -0.0, np.inf, np.nan, 2.0, 0.1], np.float32)
    got = gg.tensor(values).numpy()
    return float((got.view(np.int32) != values.view(np.int32)).sum()), 0.0


def _relative(function: Callable[[Any], Any], reference: Callable[[Any], Any], x: Any) -> float:
    x = x.astype(np.float32)
    expected = reference(x.astype(np.float64))
    return float(np.abs(function(gg.tensor(x)).numpy() / expected - 1).max())


def _sqrt() -> tuple[float, float]:
    # Specified as 1 / inversesqrt(x): 2 ULP, and 2.5 of the division.
    return _relative(gg.sqrt, np.sqrt, np.geomspace(1e-6, 1e6, 1001)), 5 * ULP


def _exp() -> tuple[float, float]:
    return _relative(gg.exp, np.exp, np.linspace(-20, 20, 1001)), (3 + 2 * 20) * ULP


def _log() -> tuple[float, float]:
    # 3 ULP outside [0.5, 2]; one more for the rounding of the result.
    return _relative(gg.log, np.log, np.geomspace(3, 1e6, 1001)), 4 * ULP


def _divide() -> tuple[float, float]:
    return _relative(lambda x: 1.0 / x, lambda x: 1.0 / x, np.geomspace(1e-6, 1e6, 1001)), 3 * ULP


def _tanh() -> tuple[float, float]:
    """Saturates without overflow: a quotient of exponentials would be NaN."""
    got = gg.tanh(gg.tensor(np.array([-1e4, 1e4, 0.0], np.float32))).numpy()
    return float(np.abs(got - [-1, 1, 0]).max()), 0.0


def _integers() -> tuple[float, float]:
    """6 % 6 = 6 was seen on real cards: quotients and remainders of small integers are exact."""
    x = np.repeat(np.arange(-128, 128, dtype=np.int32), 64)
    y = np.tile(np.arange(1, 65, dtype=np.int32), 256)
    a, b = gg.tensor(x), gg.tensor(y)
    wrong = ((a // b).numpy() != x // y) | ((a % b).numpy() != x % y)
    return float(wrong.sum()), 0.0


def _nan() -> tuple[float, float]:
    """Fast arithmetic may take it that there are no NaN: isnan, and maximum, which passes them on."""
    x = np.array([np.nan, 1.0, np.inf, -np.inf], np.float32)
    seen = gg.isnan(gg.tensor(x)).numpy()
    largest = gg.maximum(gg.tensor(x), 0.0).numpy()
    return float((seen != np.isnan(x)).sum() + (np.isnan(largest) != np.isnan(x)).sum()), 0.0


def _sum() -> tuple[float, float]:
    x = np.random.default_rng(0).random(100_003, np.float32)
    expected = x.sum(dtype=np.float64)
    # A tree of additions: half an ULP for each of its log2(100003) < 17 levels.
    return float(abs(gg.tensor(x).sum().numpy() / expected - 1)), 17 * ULP / 2


def _matmul() -> tuple[float, float]:
    generator = np.random.default_rng(1)
    a, b = (generator.standard_normal(shape, np.float32) for shape in ((33, 130), (130, 17)))
    error = np.abs((gg.tensor(a) @ gg.tensor(b)).numpy() - a.astype(np.float64) @ b)
    # Of the sum of absolute products: half an ULP for each of the 130 products and additions, in any order.
    return float((error / (np.abs(a) @ np.abs(b))).max()), 130 * ULP / 2


# (name, function): the function computes on the default device and with NumPy, and returns (largest error, its bound).
# Each runs on every path that the device offers.
SELF_TESTS: list[tuple[str, SelfTest]] = [
    ("readback", _readback),
    ("sqrt", _sqrt),
    ("exp", _exp),
    ("log", _log),
    ("divide", _divide),
    ("tanh", _tanh),
    ("integers", _integers),
    ("NaN", _nan),
    ("sum", _sum),
    ("matmul", _matmul),
]


def report(tests: Iterable[tuple[str, SelfTest]] | None = None) -> dict[str, Any]:
    """The whole report as plain values, ready for JSON.

    Keys: ok (the device starts and every self-test passes), system, packages (name to version), device (None where
    OpenGL does not start), paths (path to "works" or the reason why not), limits, self_tests, remedies, problem.
    """
    result: dict[str, Any] = {
        "ok": False,
        "system": f"{platform.platform()}, Python {platform.python_version()}",
        "packages": {name: _version(name) for name in _PACKAGES},
        "device": None,
        "paths": {},
        "limits": {},
        "self_tests": [],
        "remedies": [],
        "problem": None,
    }
    try:
        found = device()
    except DeviceError as error:
        result["problem"] = str(error)  # holds every way tried, and the remedy
        return result
    result["device"] = _describe(found)
    result["limits"] = {name: found.limits[name] for name in _LIMITS if name in found.limits}
    result["self_tests"] = _run_tests(found, SELF_TESTS if tests is None else tests)
    for path in ("compute", "fragment"):
        wrong = [test["name"] for test in result["self_tests"] if test["path"] == path and not test["ok"]]
        if path not in found.paths:
            result["paths"][path] = "not offered"
        else:
            result["paths"][path] = f"wrong: {', '.join(wrong)}" if wrong else "works"
    result["ok"] = all(test["ok"] for test in result["self_tests"])
    result["remedies"] = _remedies(found, result)
    return result


def text(report: dict[str, Any]) -> str:
    """The report as lines for a person."""
    lines = [
        f"system     {report['system']}",
        "packages   " + ", ".join(f"{name} {version}" for name, version in report["packages"].items()),
    ]
    if report["device"] is None:
        return "\n".join([*lines, "device     none", "", report["problem"]])
    lines += [f"{name:<10} {value}" for name, value in report["device"].items()]
    lines += [f"{'path ' + path:<14} {state}" for path, state in report["paths"].items()]
    lines += [f"{name:<36} {value}" for name, value in report["limits"].items()]
    for test in report["self_tests"]:
        verdict = "ok" if test["ok"] else "WRONG"
        detail = test["problem"] or f"largest error {test['error']:.3g}, bound {test['bound']:.3g}"
        lines.append(f"self-test  {test['path']:<9} {test['name']:<20} {verdict:<6} {detail}")
    lines += ["", *report["remedies"]] if report["remedies"] else []
    return "\n".join(lines)


def _describe(found: Device) -> dict[str, str]:
    gl = raw()
    return {
        "vendor": found.vendor,
        "renderer": found.renderer + (" (software)" if found.software else ""),
        "OpenGL": found.version,
        "GLSL": gl.glGetString(gl.GL_SHADING_LANGUAGE_VERSION).decode(),
        "started by": found.how,
        "path": found.path,
    }


def _run_tests(found: Device, tests: Iterable[tuple[str, SelfTest]]) -> list[dict[str, Any]]:
    """Runs every self-test on every path; an exception counts as a wrong result, and the others go on."""
    results = []
    chosen = found.path
    try:
        for path in found.paths:
            found.path = path
            for name, function in tests:
                outcome: dict[str, Any] = {"name": name, "path": path, "error": None, "bound": None, "problem": None}
                try:
                    outcome["error"], outcome["bound"] = map(float, function())
                    found.check()
                except GpgpuError as error:
                    outcome["problem"] = str(error)
                # A NaN error is a wrong result too: it is not below the bound.
                outcome["ok"] = outcome["problem"] is None and outcome["error"] <= outcome["bound"]
                results.append(outcome)
    finally:
        found.path = chosen
    return results


def _remedies(found: Device, result: dict[str, Any]) -> list[str]:
    advice = []
    if found.software and (hint := remedies.hidden_hardware()):
        advice.append(hint)
    if "compute" not in found.paths:
        advice.append(remedies.no_compute())
    wrong = [path for path in found.paths if result["paths"][path] != "works"]
    if wrong == ["compute"]:
        advice.append("The compute path of this driver is wrong: set GPGPU_GL_PATH=fragment, and update the driver.")
    elif wrong:
        advice.append(
            "This driver computes wrong results, so do not trust it: update it, or take Mesa's software renderer with "
            "LIBGL_ALWAYS_SOFTWARE=1 (or __EGL_VENDOR_LIBRARY_FILENAMES naming 50_mesa.json)."
        )
    return advice


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
