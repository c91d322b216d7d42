"""Runs the benchmark on every path and writes its rows as a table, as JSON and as a plot."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpgpu_gl.bench import network, workloads
from gpgpu_gl.bench.ceilings import Ceilings, measure
from gpgpu_gl.bench.timing import median_ms
from gpgpu_gl.profile import profile
from gpgpu_gl.tensor import device

Row = dict[str, Any]


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def table(quick: bool) -> list[workloads.Workload]:
    """The rows to time."""
    sizes = (256, 512) if quick else (256, 512, 1024, 2048)
    rows = [workloads.matmul(n, n, n) for n in sizes]
    if not quick:
        rows += [workloads.matmul(4096, 64, 4096), workloads.matmul(128, 128, 128, batch=64)]
    rows += workloads.convolution(14, 128, 16, 32, 5)
    if not quick:
        squares = workloads.convolution(28, 32, 32, 64, 3)
        rows += [*squares, *(workloads.in_pairs(squares, 28) if device().path == "compute" else ())]
    return [*rows, workloads.elementwise(), *workloads.row_operators(), *network.workloads()]


def run(quick: bool, report: Callable[[str], None] = print) -> dict[str, Any]:
    """Measures everything; `report` gets a line for each row as it comes. Returns header and rows."""
    seconds = 0.25 if quick else 1.0
    first = device()
    threads = cores()
    has_torch = importlib.util.find_spec("torch") is not None
    header: dict[str, Any] = {
        "renderer": first.renderer,
        "gl_version": first.version,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "moderngl": importlib.metadata.version("moderngl"),
        "cores": threads,
    }
    if has_torch:
        import torch

        torch.set_num_threads(threads)
        header["torch"] = torch.__version__
    references = _references(table(quick), has_torch, seconds, report)
    rows: list[Row] = []
    header["ceilings"] = {}
    for path in first.paths:
        device(path)
        ceilings = measure(seconds)
        header["ceilings"][path] = asdict(ceilings)
        report(f"{path}: {_ceiling_text(ceilings)}")
        for workload in table(quick):
            row = _row(workload, path, ceilings, references.get(workload.name, {}), seconds)
            rows.append(row)
            report(_text(row))
        rows += _network_rows(path, quick, report)
    device("auto")
    return {"header": header, "rows": rows}


def _references(
    rows: list[workloads.Workload], has_torch: bool, seconds: float, report: Callable[[str], None]
) -> dict[str, dict[str, float]]:
    """Times of NumPy and PyTorch by workload, in ms."""
    found: dict[str, dict[str, float]] = {}
    for workload in rows:
        if workload.numpy is None and workload.torch is None:
            continue
        times = found[workload.name] = {}
        if workload.numpy is not None:
            times["numpy"] = median_ms(workload.numpy(), lambda: None, seconds)
        if has_torch and workload.torch is not None:
            times["torch"] = median_ms(workload.torch(), lambda: None, seconds)
        report(f"{workload.name}: " + ", ".join(f"{name} {ms:.2f} ms" for name, ms in times.items()))
    return found


def roofline_ms(flop: float, fetches: float, written: float, ceilings: Ceilings) -> float:
    """Time that operations, texel fetches and written bytes take at the device's ceilings, one after another.

    A row's `roofline_fraction` is this over its measured time: how near the kernel, with the fetches that it makes, comes to
    what the device allows; `ceiling_fraction` asks the same of the work that any kernel must do. The three add up because on
    llvmpipe the same cores do all of it. Hardware overlaps them, so that there a fraction may pass 1; anywhere it may
    where a ceiling's own kernel is slower than the device (fetches that hit a nearer cache, or whose addresses are cheaper).
    """
    return (flop / ceilings.gflops + fetches / ceilings.gfetches + written / ceilings.written) / 1e6


def _row(workload: workloads.Workload, path: str, ceilings: Ceilings, reference: dict[str, float], seconds: float) -> Row:
    ours = workload.ours()
    ms = median_ms(ours, device().ctx.finish, seconds)
    with profile() as counted:
        ours()
    fetches = sum(e.fetches or 0 for e in counted.entries)
    written = sum(e.bytes_written for e in counted.entries)
    gflops = workload.flop / ms / 1e6
    gbytes = (workload.read + workload.written) / ms / 1e6
    moved = workload.read / ceilings.read + workload.written / ceilings.written
    bound = max(workload.flop / ceilings.gflops, moved) / 1e6
    return {
        "workload": workload.name,
        "path": path,
        "ms": ms,
        "gflops": gflops,
        "gbytes": gbytes,
        "ceiling_fraction": bound / ms,
        "fetches": fetches,
        "roofline_fraction": roofline_ms(workload.flop, fetches, written, ceilings) / ms,
        "vs_numpy": ms / reference["numpy"] if "numpy" in reference else None,
        "vs_torch": ms / reference["torch"] if "torch" in reference else None,
    }


def _network_rows(path: str, quick: bool, report: Callable[[str], None]) -> list[Row]:
    """What is measured of the network besides its workloads."""
    rows: list[Row] = []
    overhead = network.replay_overhead()
    ms, ratio = overhead["replayed_ms"], overhead["ratio"]
    rows.append({"workload": "replayed pass 8x8", "path": path, "ms": ms, "vs_bare_moderngl": ratio})
    memory = network.texture_memory()
    used, needed = memory["used"], memory["needed"]
    rows.append({"workload": "CNN step texture memory", "path": path, "bytes": used, "vs_needed": used / needed})
    if not quick:
        for kind, s in network.first_step_s(path).items():
            rows.append({"workload": f"first training step, {kind} caches", "path": path, "ms": s * 1e3})
    for row in rows:
        report(_text(row))
    return rows


def _ceiling_text(c: Ceilings) -> str:
    return (
        f"ceilings {c.gflops:.1f} GFLOP/s ({c.looped_gflops:.1f} in a loop), {c.gfetches:.2f} G texels/s, "
        f"reading {c.read:.1f} GB/s, writing {c.written:.1f} GB/s, "
        f"launch {c.launch_ms * 1e3:.0f} us, upload {c.upload:.1f} GB/s, readback {c.readback:.1f} GB/s"
    )


def _text(row: Row) -> str:
    parts = [f"{row['path']:<9}{row['workload']:<52}"]
    if "ms" in row:
        parts.append(f"{row['ms']:>10.3f} ms")
    if row.get("gflops"):
        parts.append(f"{row['gflops']:>8.1f} GFLOP/s {row['gbytes']:>6.1f} GB/s {row['ceiling_fraction']:>6.0%} of the ceiling")
        parts.append(f" {row['fetches'] / 1e6:>7.2f} M fetches, {row['roofline_fraction']:>4.0%} of the roofline")
    for name in ("vs_numpy", "vs_torch", "vs_bare_moderngl", "vs_needed"):
        if row.get(name) is not None:
            parts.append(f"  {row[name]:.2f} x {name[3:].replace('_', ' ')}")
    return "".join(parts)


def save(result: dict[str, Any], path: Path) -> None:
    """Writes header and rows as JSON, and a plot beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    plot(result, path.with_suffix(".png"))


def plot(result: dict[str, Any], path: Path) -> None:
    """Bars of the fraction of the ceiling that each workload reaches, by path; a line marks that of the roofline."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [r for r in result["rows"] if r.get("ceiling_fraction") is not None]
    names = list(dict.fromkeys(r["workload"] for r in rows))
    paths = list(dict.fromkeys(r["path"] for r in rows))
    figure, axes = pyplot.subplots(figsize=(9, 0.32 * len(names) + 1.6), layout="constrained")
    height = 0.8 / len(paths)
    for i, name in enumerate(paths):
        values = {r["workload"]: r["ceiling_fraction"] for r in rows if r["path"] == name}
        places = [j + i * height for j in range(len(names))]
        axes.barh(places, [values.get(n, 0) for n in names], height, label=name)
        near = {r["workload"]: r["roofline_fraction"] for r in rows if r["path"] == name and "roofline_fraction" in r}
        marked = [(near[n], y) for n, y in zip(names, places, strict=True) if n in near]
        if marked:
            label = None if i else "of the roofline, with the fetches that are made"
            shares, heights = zip(*marked, strict=True)
            axes.scatter(shares, heights, s=40, marker="|", color="black", label=label, zorder=3)
    axes.set_yticks([j + height * (len(paths) - 1) / 2 for j in range(len(names))], names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("fraction of the device's own ceiling (arithmetic or memory, whichever binds)")
    axes.set_title(f"{result['header']['renderer']}, {result['header']['cores']} cores", fontsize=10)
    figure.legend(loc="outside lower center", ncols=3)  # in a corner of the axes it would hide marks
    figure.savefig(path, dpi=90)
    pyplot.close(figure)
