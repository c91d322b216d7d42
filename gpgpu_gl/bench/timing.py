"""Timing: medians of repeated runs, each waited for."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def median_ms(run: Callable[[], Any], finish: Callable[[], Any], seconds: float = 0.6, least: int = 5, most: int = 200) -> float:
    """The median time of one run in ms. run: the work; finish: waits until it is done.

    Runs once unmeasured (compilation), then for about `seconds`, but at least `least` and at most `most` times.
    """
    run()
    finish()
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < least or (time.perf_counter() - begin < seconds and len(times) < most):
        start = time.perf_counter()
        run()
        finish()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)
