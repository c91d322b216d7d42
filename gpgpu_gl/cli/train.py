"""gpgpu-gl train: trains the small CNN and shows how it goes."""

from __future__ import annotations

import argparse
import dataclasses
import time
from pathlib import Path

from gpgpu_gl.train import Config, Run

DEFAULTS = Config()
PROFILED = 5  # a step that is replayed and that nothing compiles in any more


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gpgpu-gl train`."""
    parser.add_argument(
        "--data", default=DEFAULTS.data, metavar="mnist|fashion-mnist|DIR", help="data set, or a folder of IDX files"
    )
    parser.add_argument(
        "--epochs", type=_positive, default=DEFAULTS.epochs, help=f"passes over the training images (default {DEFAULTS.epochs})"
    )
    parser.add_argument("--steps", type=_positive, help="stop after so many steps")
    parser.add_argument(
        "--batch-size", type=_positive, default=DEFAULTS.batch_size, help=f"images a step (default {DEFAULTS.batch_size})"
    )
    parser.add_argument("--lr", type=float, default=DEFAULTS.lr, help=f"highest learning rate of Adam (default {DEFAULTS.lr})")
    parser.add_argument(
        "--warmup", type=_count, default=DEFAULTS.warmup, help=f"steps of rising learning rate (default {DEFAULTS.warmup})"
    )
    parser.add_argument("--path", choices=("auto", "fragment", "compute"), default=DEFAULTS.path, help="how passes run")
    parser.add_argument("--seed", type=_count, default=DEFAULTS.seed, help="of the weights and the order of the images")
    parser.add_argument("--out", default=DEFAULTS.out, metavar="DIR", help=f"where files go (default {DEFAULTS.out})")
    parser.add_argument("--profile", action="store_true", help=f"time every pass of step {PROFILED}; trace.json opens in Perfetto")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in DIR")


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{value} is negative")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than 1")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Trains; returns 0, also after Ctrl-C (the run is saved and can be resumed)."""
    started = time.perf_counter()
    names = [f.name for f in dataclasses.fields(Config)]
    training = Run(Config(**{name: getattr(arguments, name) for name in names}), started)
    if arguments.profile:
        training.profile_step = PROFILED
    if arguments.resume:
        training.resume()
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console()
    device, parameters = training.device, sum(p.size for p in training.model.parameters())
    console.print(f"Device: {device.renderer}, OpenGL {device.version}, path {device.path}", highlight=False)
    console.print(
        f"Training {parameters:,} parameters on {len(training.dataset.train_images):,} images of {training.dataset.name}"
        + (f", from step {training.step}" if training.step else ""),
        highlight=False,
    )
    columns = (
        TextColumn("epoch {task.fields[epoch]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.0f} images/s  loss {task.fields[loss]:.4f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        per_epoch = len(training.batches)
        task = progress.add_task("", total=training.steps, completed=training.step, epoch=1, rate=0.0, loss=float("nan"))
        shown = {"pace": 0.0, "loss": 0.0}

        def on_step(step: int, steps: int, loss: float, rate: float) -> None:
            # Smoothed over some twenty steps, so that the figures can be read; seconds an image, not images a second, since
            # the last two steps of an epoch are read together.
            for name, value in (("pace", 1 / rate), ("loss", loss)):
                shown[name] = shown[name] * 0.95 + value * 0.05 if shown[name] else value
            progress.update(task, completed=step, epoch=(step - 1) // per_epoch + 1, rate=1 / shown["pace"], loss=shown["loss"])

        def on_epoch(epoch: int, accuracy: float, seconds: float) -> None:
            progress.console.print(
                f"epoch {epoch}: test accuracy {accuracy:.2%}, loss {shown['loss']:.4f}, {seconds:.1f} s", highlight=False
            )

        metrics = training.train(on_step, on_epoch)
    if training.profiled is not None:
        print(training.profiled.table())
    if training.step < training.steps:
        console.print(f"Stopped at step {training.step} of {training.steps}; go on with --resume.", highlight=False)
    accuracy = metrics["test_accuracy"][-1:]
    console.print(
        (f"Test accuracy {accuracy[0]:.2%}. " if accuracy else "")
        + f"First step after {metrics['first_step_s']:.2f} s, then {metrics['step_ms_median']:.1f} ms a step. "
        + f"Files: {Path(training.out)}/",
        highlight=False,
    )
    return 0
