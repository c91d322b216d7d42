"""The tuner: which variant of a kernel runs for a shape on this device, measured once and kept in a file."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from gpgpu_gl.gl.context import Device

V = TypeVar("V", bound=Sequence[int])

FORMAT = 1
REPEATS = 5  # the shortest of so many runs counts
TUNE_VARIABLE = "GPGPU_GL_TUNE"
FOLDER_VARIABLE = "GPGPU_GL_CACHE"


def cache_folder() -> Path:
    """Where measured choices and program binaries are kept: GPGPU_GL_CACHE, else the user's cache folder."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gpgpu_gl"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "gpgpu_gl" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))) / "gpgpu_gl"


class Tuner:
    """Choices of one device, by operator, path and shape.

    tuning: measure what is not known yet (GPGPU_GL_TUNE=1, or `gpgpu-gl tune`). Without it, and for a shape that was
    never measured, the operator's default holds.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.tuning = os.environ.get(TUNE_VARIABLE, "") not in ("", "0")
        self.forced: dict[str, Sequence[int]] = {}  # tests: one variant for an operator, whatever the shape
        self._choices: dict[str, list[int]] | None = None

    @property
    def file(self) -> Path:
        """One file for each renderer and driver version."""
        name = re.sub(r"[^A-Za-z0-9.]+", "_", f"{self.device.renderer} {self.device.version}").strip("_")
        return cache_folder() / f"tuned_{name}.json"

    @property
    def choices(self) -> dict[str, list[int]]:
        """What has been measured on this device: key to variant."""
        if self._choices is None:
            self._choices = self._load()
        return self._choices

    def pick(self, operator: str, shape: Sequence[int], variants: Sequence[V], default: V, trial: Callable[[V], object]) -> V:
        """The variant for that shape: forced, measured before, measured now when tuning, or the default.

        trial(variant) runs the operator once with a variant.
        """
        forced = self.forced.get(operator)
        if forced is not None:
            for variant in variants:
                if tuple(variant) == tuple(forced):
                    return variant
            return default
        key = f"{operator} {self.device.path} {'x'.join(map(str, shape))}"
        known = self.choices.get(key)
        if known is not None:
            for variant in variants:
                if list(variant) == known:
                    return variant
        if not self.tuning or len(variants) < 2 or self.device.engine.recorder is not None:
            return default
        best = min(variants, key=lambda variant: self._time(variant, trial))
        self.choices[key] = list(best)
        self._save()
        return best

    def _time(self, variant: V, trial: Callable[[V], object]) -> float:
        finish = self.device.ctx.finish
        trial(variant)  # compiles
        finish()
        shortest = float("inf")
        for _ in range(REPEATS):
            start = time.perf_counter()
            trial(variant)
            finish()
            shortest = min(shortest, time.perf_counter() - start)
        return shortest

    def _load(self) -> dict[str, list[int]]:
        try:
            text = self.file.read_text(encoding="utf-8")
        except OSError:
            return {}
        try:
            found = json.loads(text)
            same = (
                found["format"] == FORMAT
                and found["renderer"] == self.device.renderer
                and found["version"] == self.device.version
            )
            choices = {str(k): [int(i) for i in v] for k, v in found["choices"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            same, choices = False, {}
        if not same:
            warnings.warn(
                f"{self.file} is broken or belongs to another device and is ignored; `gpgpu-gl tune` writes it anew",
                stacklevel=2,
            )
            return {}
        return choices

    def _save(self) -> None:
        content = {
            "format": FORMAT,
            "renderer": self.device.renderer,
            "version": self.device.version,
            "choices": self.choices,
        }
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            partial = self.file.with_suffix(f".{os.getpid()}.tmp")
            partial.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")
            partial.replace(self.file)
        except OSError as error:
            warnings.warn(f"measured choices are not kept: {self.file} cannot be written ({error})", stacklevel=2)
