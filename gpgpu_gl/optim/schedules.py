"""Learning rates that change from step to step, with PyTorch's names; each is computed anew from the step's number.

A schedule sets the rates for the first step when it is made; call its step() after each of the optimiser's. (PyTorch
computes most rates from the one before, so that its rounding errors add up; ours stay exact.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpgpu_gl.errors import FileError, GpgpuError
from gpgpu_gl.optim.optimizer import Optimizer
from gpgpu_gl.tensor import engine


class Schedule:
    """Sets "lr" of every group of an optimiser to rate(its "initial_lr", number of steps taken)."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.last_epoch = 0  # PyTorch's name; counts calls of step()
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self._set()

    def rate(self, base: float, step: int) -> float:
        """The learning rate after so many steps, for a group that starts with `base`."""
        raise NotImplementedError

    def _set(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(group["initial_lr"], self.last_epoch)

    def _advance(self) -> None:
        self.last_epoch += 1
        self._set()

    def step(self) -> None:
        """Goes on to the next step's rates."""
        engine().host(self._advance)

    def get_last_lr(self) -> list[float]:
        """The rates in force, one for each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule stands, as plain numbers for JSON."""
        return {"last_epoch": self.last_epoch}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where state_dict() was taken. Raises FileError when the state is not one."""
        found = state.get("last_epoch")
        if not isinstance(found, int) or found < 0:
            raise FileError(f"not the state of a schedule: {dict(state)}; it has a last_epoch of at least 0")
        self.last_epoch = found
        self._set()


class LinearLR(Schedule):
    """From start_factor to end_factor times the rate, in equal steps; there after total_iters: a warm-up."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5
    ) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1 or total_iters < 0:
            raise GpgpuError(
                f"LinearLR from {start_factor} to {end_factor} in {total_iters} steps: factors are from 0 (the first above 0) to 1"
            )
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer)

    def rate(self, base: float, step: int) -> float:
        if step >= self.total_iters:
            return base * self.end_factor
        return base * (self.start_factor + (self.end_factor - self.start_factor) * step / self.total_iters)


class CosineAnnealingLR(Schedule):
    """From the rate down to eta_min along half a cosine of T_max steps (and up again, if it goes on).

    I. Loshchilov and F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        if T_max < 1:
            raise GpgpuError(f"CosineAnnealingLR: T_max must be at least 1, not {T_max}")
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, step: int) -> float:
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * step / self.T_max)) / 2


class StepLR(Schedule):
    """The rate times gamma after every step_size steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        if step_size < 1:
            raise GpgpuError(f"StepLR: step_size must be at least 1, not {step_size}")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def rate(self, base: float, step: int) -> float:
        return base * self.gamma ** (step // self.step_size)


class SequentialLR(Schedule):
    """One schedule after another: schedules[i] from step milestones[i - 1] on, counted from there."""

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[Schedule], milestones: Sequence[int]) -> None:
        if len(schedulers) != len(milestones) + 1 or list(milestones) != sorted(milestones):
            raise GpgpuError(
                f"SequentialLR of {len(schedulers)} schedules needs one milestone fewer, in rising order, not {list(milestones)}"
            )
        if any(schedule.optimizer is not optimizer for schedule in schedulers):
            raise GpgpuError("SequentialLR: all schedules must be of the optimiser that it is given")
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        super().__init__(optimizer)

    def rate(self, base: float, step: int) -> float:
        number = sum(1 for milestone in self.milestones if step >= milestone)
        start = self.milestones[number - 1] if number else 0
        return self.schedulers[number].rate(base, step - start)


def warmup_cosine(optimizer: Optimizer, warmup_steps: int, total_steps: int, eta_min: float = 0.0) -> Schedule:
    """A warm-up, then a half cosine: step i of the warm-up has (i + 1) / warmup_steps of the rate, and the rate falls to
    eta_min at total_steps. Raises GpgpuError unless 0 <= warmup_steps < total_steps.
    """
    if not 0 <= warmup_steps < total_steps:
        raise GpgpuError(f"a warm-up of {warmup_steps} steps does not fit {total_steps} steps")
    if warmup_steps == 0:
        return CosineAnnealingLR(optimizer, total_steps, eta_min)
    warmup = LinearLR(optimizer, 1 / warmup_steps, 1.0, warmup_steps - 1)
    return SequentialLR(optimizer, [warmup, CosineAnnealingLR(optimizer, total_steps - warmup_steps, eta_min)], [warmup_steps])
