"""SGD, Adam, AdamW and RMSprop with PyTorch's semantics and defaults."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.optim.optimizer import Group, Optimizer, State, Values, check_settings


class SGD(Optimizer):
    """Gradient descent: p -= lr * b, b = momentum * b + (1 - dampening) * g (b = g at a parameter's first step).

    nesterov: p -= lr * (g + momentum * b). weight_decay * p is added to g. maximize: goes up. Raises GpgpuError for
    settings that make no sense.
    """

    kernel = "sgd"
    operations = 5
    samplers = {"momentum_buffer": "velocity"}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, group: Group) -> None:
        check_settings(self, group, lr=(0, None), momentum=(0, None), weight_decay=(0, None))
        if group["nesterov"] and (group["momentum"] == 0 or group["dampening"] != 0):
            raise GpgpuError("SGD: nesterov needs a momentum and no dampening")

    def state_names(self, group: Group) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def options(self, group: Group) -> dict[str, int]:
        return {"MOMENTUM": int(group["momentum"] != 0), "NESTEROV": int(group["nesterov"])}

    def values(self, group: Group, state: State) -> Values:
        return {
            "lr": lambda: group["lr"],
            "decay": lambda: group["weight_decay"],
            "momentum": lambda: group["momentum"],
            "fresh": lambda: 1.0 if state.step == 1 else 1.0 - group["dampening"],
        }


class Adam(Optimizer):
    """p -= lr * m / (sqrt(v) + eps), m and v being running means of g and g * g, corrected for their start at 0.

    D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015. weight_decay * p is added to g.
    amsgrad: v is the largest so far. maximize: goes up. Raises GpgpuError for settings that make no sense.
    """

    kernel = "adam"
    operations = 17
    samplers = {"exp_avg": "mean", "exp_avg_sq": "square", "max_exp_avg_sq": "peak"}
    decoupled = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": tuple(betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, group: Group) -> None:
        check_settings(self, group, lr=(0, None), betas=(0, 1), eps=(0, None), weight_decay=(0, None))

    def state_names(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if group["amsgrad"] else 2]

    def options(self, group: Group) -> dict[str, int]:
        return {"AMSGRAD": int(group["amsgrad"])}

    def values(self, group: Group, state: State) -> Values:
        decoupled = self.decoupled
        return {
            "decay": lambda: 0.0 if decoupled else group["weight_decay"],
            "shrink": lambda: 1.0 - group["lr"] * group["weight_decay"] if decoupled else 1.0,
            "mean_share": lambda: 1.0 - group["betas"][0],
            "square_share": lambda: 1.0 - group["betas"][1],
            "rate": lambda: group["lr"] / (1.0 - group["betas"][0] ** state.step),
            "root": lambda: math.sqrt(1.0 - group["betas"][1] ** state.step),
            "eps": lambda: group["eps"],
        }


class AdamW(Adam):
    """Adam with decoupled weight decay: p is multiplied by 1 - lr * weight_decay first.

    I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", ICLR 2019.
    """

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class RMSprop(Optimizer):
    """p -= lr * g / (sqrt(v) + eps), v being a running mean of g * g; with momentum the quotients are run together.

    centered: the square of a running mean of g is taken off v. weight_decay * p is added to g. maximize: goes up.
    T. Tieleman and G. Hinton, "Lecture 6.5", 2012. Raises GpgpuError for settings that make no sense.
    """

    kernel = "rmsprop"
    operations = 12
    samplers = {"square_avg": "square", "grad_avg": "mean", "momentum_buffer": "velocity"}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, group: Group) -> None:
        above = (0, None)
        check_settings(self, group, lr=above, alpha=above, eps=above, weight_decay=above, momentum=above)

    def state_names(self, group: Group) -> tuple[str, ...]:
        centered = ("grad_avg",) if group["centered"] else ()
        return ("square_avg", *centered, *(("momentum_buffer",) if group["momentum"] else ()))

    def options(self, group: Group) -> dict[str, int]:
        return {"CENTERED": int(group["centered"]), "MOMENTUM": int(group["momentum"] != 0)}

    def values(self, group: Group, state: State) -> Values:
        return {
            "lr": lambda: group["lr"],
            "decay": lambda: group["weight_decay"],
            "share": lambda: 1.0 - group["alpha"],
            "eps": lambda: group["eps"],
            "momentum": lambda: group["momentum"],
        }
