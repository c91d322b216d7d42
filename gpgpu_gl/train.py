"""Training the small CNN: one run, its files, and how it goes on after a stop."""

from __future__ import annotations

import math
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpgpu_gl import optim
from gpgpu_gl.capture import compile as compile_
from gpgpu_gl.data import Batches, load, normalise
from gpgpu_gl.errors import FileError, NonFiniteLoss
from gpgpu_gl.gl.context import device
from gpgpu_gl.io import check_state, load_checkpoint, save_checkpoint, save_json, save_weights
from gpgpu_gl.model import SmallCNN
from gpgpu_gl.op import no_grad
from gpgpu_gl.ops.losses import cross_entropy
from gpgpu_gl.ops.random import default_generator, manual_seed
from gpgpu_gl.profile import Profile, profile
from gpgpu_gl.tensor import Tensor, tensor

EVALUATION_BATCH = 500
CHECKPOINT_SECONDS = 60.0  # between checkpoints inside an epoch


@dataclass(frozen=True)
class Config:
    """What a run does.

    steps: stop after so many of the steps that `epochs` take (None: after all; more lengthen the schedule). warmup: steps
    of rising learning rate, at most half of them. The default rises slowly, so that runs that round differently, on
    another path or in NumPy, stay together for longer than their first 100 steps.
    """

    data: str = "mnist"
    epochs: int = 5
    steps: int | None = None
    batch_size: int = 128
    lr: float = 1.5e-3
    warmup: int = 400
    path: str = "auto"
    seed: int = 0
    out: str = "runs/mnist"


# What a resumed run must have in common with the run that wrote the checkpoint.
FIXED = ("data", "epochs", "steps", "batch_size", "lr", "warmup", "seed")


@dataclass
class History:
    """What a run has measured so far."""

    train_loss: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)
    step_ms: list[float] = field(default_factory=list)
    epoch_s: list[float] = field(default_factory=list)
    first_step_s: float = math.nan


class Run:
    """One training run. Call `train`; `on_step(step, steps, loss, images_per_s)` and `on_epoch(epoch, accuracy, s)` report."""

    def __init__(self, config: Config, started: float | None = None) -> None:
        self.started = time.perf_counter() if started is None else started
        self.config = config
        self.out = Path(config.out)
        self.dataset = load(config.data)
        self.history = History()
        # The images are unpacked while OpenGL starts and the first programs compile.
        with ThreadPoolExecutor(1) as beside:
            unpacked = beside.submit(lambda: self.dataset.train_images)
            self.device = device(config.path)
            self.image_shape = self.dataset.image_shape
            manual_seed(config.seed)
            height, width, channels = self.image_shape
            self.model = SmallCNN(height, width, channels, classes=len(self.dataset.class_names))
            for p in self.model.parameters():
                _ = p.storage  # computes its starting values
                self.device.engine.ahead.get_ready()  # train_step will be recorded
            images = unpacked.result()
        self.batches = Batches(images, self.dataset.train_labels, config.batch_size, seed=config.seed)
        total = max(config.epochs * len(self.batches), config.steps or 0)
        self.steps = config.steps or total
        self.optimizer = optim.Adam(self.model.parameters(), lr=config.lr)
        self.schedule = optim.warmup_cosine(self.optimizer, min(config.warmup, total // 2), total)
        self.compiled = compile_(self.train_step)
        self.compiled_logits = compile_(self.logits)
        self.profile_step: int | None = None
        self.profiled: Profile | None = None
        self.step = 0
        self.predictions: np.ndarray | None = None
        self.probabilities: np.ndarray | None = None

    # --- training -------------------------------------------------------------------------------

    def train_step(self, images: Tensor, labels: Tensor) -> Tensor:
        """One update; returns the loss, still on the device."""
        loss = cross_entropy(self.model(images), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def logits(self, images: Tensor) -> Tensor:
        """What the network makes of images, for no gradient."""
        with no_grad():
            return self.model(images)

    def train(
        self,
        on_step: Callable[[int, int, float, float], None] = lambda *_: None,
        on_epoch: Callable[[int, float, float], None] = lambda *_: None,
    ) -> dict[str, Any]:
        """Trains to the end, or until Ctrl-C, then saves; returns the metrics.

        Raises NonFiniteLoss at a NaN or infinite loss; the checkpoint before it stays.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        with stop_on_signal() as stopped:
            while self.step < self.steps and not stopped():
                epoch, start = self.batches.epoch, time.perf_counter()
                self.train_epoch(on_step, stopped)
                if self.batches.epoch > epoch or self.step >= self.steps:
                    self.history.epoch_s.append(time.perf_counter() - start)
                    self.history.test_accuracy.append(self.evaluate())
                    on_epoch(epoch + 1, self.history.test_accuracy[-1], self.history.epoch_s[-1])
                    self.save_checkpoint()
        return self.save()

    def train_epoch(self, on_step: Callable[[int, int, float, float], None], stopped: Callable[[], bool]) -> None:
        """Steps to the end of the epoch or of the run, or until stopped.

        A step's loss is read while the next step is under way, so that neither waits for the other.
        """
        saved = self._lap = time.perf_counter()
        waiting: tuple[Callable[[], np.ndarray], int] | None = None
        issued = self.step
        for images, labels in self.batches:
            loss = self.profiled_step(tensor(images), tensor(labels), issued + 1)
            self.schedule.step()
            issued += 1
            if waiting is not None:
                self.finish_step(*waiting, on_step)
            waiting = (loss.fetch(), len(labels))
            ending = issued >= self.steps or stopped()
            due = time.perf_counter() - saved > CHECKPOINT_SECONDS
            if ending or due or self.step == 0:  # the first step is shown at once
                self.finish_step(*waiting, on_step)
                waiting = None
            if due:
                self.save_checkpoint()
                saved = time.perf_counter()
            if ending:
                return
        if waiting is not None:
            self.finish_step(*waiting, on_step)

    def profiled_step(self, images: Tensor, labels: Tensor, number: int) -> Tensor:
        """The compiled step; step number `profile_step` under the profiler, whose trace goes to `out`."""
        if number != self.profile_step:
            return self.compiled(images, labels)
        with profile() as self.profiled:
            loss = self.compiled(images, labels)
        self.profiled.save(self.out / "trace.json")
        return loss

    def finish_step(
        self, fetched: Callable[[], np.ndarray], count: int, on_step: Callable[[int, int, float, float], None]
    ) -> None:
        """Counts a step and checks its loss."""
        loss = float(fetched())
        self.step += 1
        if not math.isfinite(loss):
            kept = self.out / "checkpoint"
            where = f"the checkpoint {kept} from before it is kept" if kept.exists() else "no checkpoint was written yet"
            raise NonFiniteLoss(f"the loss is {loss} at step {self.step}; {where}. Try a lower --lr or a longer --warmup")
        now = time.perf_counter()
        if math.isnan(self.history.first_step_s):
            self.history.first_step_s = now - self.started
        seconds, self._lap = now - self._lap, now
        self.history.train_loss.append(loss)
        self.history.step_ms.append(seconds * 1e3)
        on_step(self.step, self.steps, loss, count / seconds)

    def predict(self, images: np.ndarray) -> np.ndarray:
        """Logits of uint8 images, (N, classes)."""
        starts = range(0, len(images), EVALUATION_BATCH)
        parts = [self.compiled_logits(normalise(images[i : i + EVALUATION_BATCH])).numpy() for i in starts]
        return np.concatenate(parts)

    def evaluate(self) -> float:
        """The share of test images that the network gets right; keeps its predictions for the pictures."""
        logits = self.predict(self.dataset.test_images)
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        self.probabilities = shifted / shifted.sum(axis=1, keepdims=True)
        self.predictions = logits.argmax(axis=1)
        return float((self.predictions == self.dataset.test_labels).mean())

    # --- files ----------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Writes weights, checkpoint, metrics and pictures; returns the metrics."""
        self.save_checkpoint()
        metadata = {
            "image_shape": "x".join(map(str, self.image_shape)),
            "data": self.dataset.name,
            "class_names": "\n".join(self.dataset.class_names),
        }
        save_weights(self.out / "weights.safetensors", self.weights(), metadata)
        metrics = self.metrics()
        save_json(self.out / "metrics.json", metrics)
        self.save_pictures()
        return metrics

    def weights(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(value) for name, value in self.model.state_dict().items()}

    def metrics(self) -> dict[str, Any]:
        past = self.history
        return {
            "device": self.device.renderer,
            "path": self.device.path,
            "parameters": sum(p.size for p in self.model.parameters()),
            "steps": self.step,
            "step_ms_median": statistics.median(past.step_ms[1:] or past.step_ms) if past.step_ms else None,
            "first_step_s": past.first_step_s,
            "epoch_s": past.epoch_s,
            "train_loss": past.train_loss,
            "test_accuracy": past.test_accuracy,
            "config": asdict(self.config),
        }

    def save_pictures(self) -> None:
        """Loss and accuracy, the first layer's filters and, after an evaluation, confusion and mistakes."""
        from gpgpu_gl import report

        past, truth = self.history, self.dataset.test_labels
        per_epoch = len(self.batches)
        report.curves(self.out / "curves.png", past.train_loss, past.test_accuracy, steps_per_epoch=per_epoch)
        report.filters(self.out / "filters.png", self.weights()["conv1.weight"])
        if self.predictions is not None and self.probabilities is not None:
            classes = len(self.dataset.class_names)
            matrix = np.zeros((classes, classes), np.int64)
            np.add.at(matrix, (truth, self.predictions), 1)
            report.confusion(self.out / "confusion.png", matrix, self.dataset.class_names)
            report.mistakes(
                self.out / "mistakes.png",
                self.dataset.test_images,
                truth,
                self.predictions,
                self.probabilities,
                self.dataset.class_names,
            )

    def save_checkpoint(self) -> None:
        """Everything that the next step depends on, whole or not at all."""
        state = self.optimizer.state_dict()
        arrays = {f"model.{name}": value for name, value in self.weights().items()}
        arrays |= {f"optimizer.{name}": np.asarray(value) for name, value in state["arrays"].items()}
        for name, value in arrays.items():
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                raise NonFiniteLoss(f"{name} is not finite after step {self.step}; the checkpoint before it is kept")
        info = {
            "config": asdict(self.config),
            "step": self.step,
            "optimizer": state["info"],
            "schedule": self.schedule.state_dict(),
            "batches": self.batches.state_dict(),
            "generator": default_generator().state_dict(),
            "history": asdict(self.history),
        }
        save_checkpoint(self.out / "checkpoint", arrays, info)

    def resume(self) -> None:
        """Goes on where the checkpoint in `out` stands. Raises FileError where it belongs to another run."""
        path = self.out / "checkpoint"
        arrays, info = load_checkpoint(path)
        wanted = asdict(self.config)
        try:
            differ = [
                f"--{name.replace('_', '-')} {info['config'][name]} (now {wanted[name]})"
                for name in FIXED
                if info["config"][name] != wanted[name]
            ]
            if differ:
                raise FileError(f"{path} was written with {', '.join(differ)}: resume with the same options")
            weights = {n[6:]: a for n, a in arrays.items() if n.startswith("model.")}
            check_state({n: a.shape for n, a in self.weights().items()}, weights, str(path))
            self.model.load_state_dict(weights)
            state = {n[10:]: a for n, a in arrays.items() if n.startswith("optimizer.")}
            self.optimizer.load_state_dict({"arrays": state, "info": info["optimizer"]})
            self.schedule.load_state_dict(info["schedule"])
            self.batches.load_state_dict(info["batches"])
            default_generator().load_state_dict(info["generator"])
            self.history = History(**info["history"])
            self.step = int(info["step"])
        except (KeyError, TypeError) as error:
            raise FileError(f"{path}: not a checkpoint of this version ({error!r})") from None


@contextmanager
def stop_on_signal() -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C (or a termination request) came; the step under way is finished first."""
    came: list[int] = []

    def handler(number: int, frame: Any) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            before[number] = signal.signal(number, handler)
        except ValueError:  # not in the main thread: whoever runs us deals with signals
            break
    try:
        yield lambda: bool(came)
    finally:
        for number, old in before.items():
            signal.signal(number, old)
