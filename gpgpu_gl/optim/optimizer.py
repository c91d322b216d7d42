"""What all optimisers share: groups of parameters with their settings, state, and one pass for each update."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gpgpu_gl.dtypes import float32
from gpgpu_gl.errors import DTypeError, FileError, GpgpuError, ShapeError
from gpgpu_gl.gl.passes import Operand, Pass
from gpgpu_gl.io import check_state
from gpgpu_gl.ops.create import zeros
from gpgpu_gl.tensor import Tensor, engine, new, tensor

Group = dict[str, Any]
Values = dict[str, Callable[[], float]]


class State:
    """What an optimiser remembers of one parameter: steps taken, tensors by name, and what its pass needs."""

    __slots__ = ("step", "tensors", "uniforms")

    def __init__(self) -> None:
        self.step = 0
        self.tensors: dict[str, Tensor] = {}
        self.uniforms: Values = {}


class Optimizer:
    """Updates parameters by their gradients. Subclasses say which state they keep and which kernel makes a step.

    param_groups: dicts with "params" and the settings ("lr", ...), which may be changed between steps. State is float32
    whatever the parameter's dtype, and the arithmetic too.
    """

    kernel = ""
    samplers: Mapping[str, str] = {}  # the kernel's name for each state tensor
    operations = 0  # of the kernel's arithmetic, for each element

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        self.defaults = defaults
        self.param_groups: list[Group] = []
        self.state: dict[int, State] = {}  # by id of the parameter
        given = list(params)
        if not given:
            raise GpgpuError(f"{type(self).__name__} got no parameters")
        for group in given if isinstance(given[0], Mapping) else [{"params": given}]:
            self.add_param_group(group)

    # --- what subclasses say --------------------------------------------------------------------

    def check(self, group: Group) -> None:
        """Raises GpgpuError for settings that make no sense."""
        check_settings(self, group, lr=(0, None), weight_decay=(0, None))

    def state_names(self, group: Group) -> tuple[str, ...]:
        """Names of the state tensors, in the order in which the kernel writes them after the parameter."""
        raise NotImplementedError


    def options(self, group: Group) -> dict[str, int]:
        """The kernel's defines."""
        return {}

    def values(self, group: Group, state: State) -> Values:
        """The kernel's uniforms, as functions that are asked anew at every step (by replays too)."""
        raise NotImplementedError

    # --- groups ---------------------------------------------------------------------------------

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Adds parameters with settings of their own; those left out are the optimiser's.

        Raises GpgpuError for an unknown setting, or for a parameter that is there already or needs no gradient.
        """
        params = group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        unknown = group.keys() - self.defaults.keys() - {"params"}
        if unknown:
            raise GpgpuError(f"{type(self).__name__} has no setting {', '.join(sorted(unknown))}")
        for p in params:
            if not isinstance(p, Tensor):
                raise DTypeError(f"an optimiser updates tensors, not {type(p).__name__}")
            if p.node is not None or p.dtype.kind != "f":
                raise GpgpuError(f"an optimiser updates float tensors that were not computed; this one has shape {p.shape}")
        made = {**self.defaults, **group, "params": params}
        self.check(made)
        for p in params:
            if id(p) in self.state:
                raise GpgpuError(f"a parameter of shape {p.shape} is given to the optimiser twice")
            self.state[id(p)] = self._started(made, p)
        self.param_groups.append(made)

    def _started(self, group: Group, p: Tensor) -> State:
        """The state before the first step. Made here and not in step(), which may be recorded for replay."""
        state = State()
        state.tensors = {name: zeros(p.shape, float32) for name in self.state_names(group)}
        state.uniforms = self.values(group, state)
        state.uniforms["direction"] = lambda: -1.0 if group["maximize"] else 1.0
        return state

    # --- steps ----------------------------------------------------------------------------------

    def zero_grad(self) -> None:
        """Drops every parameter's gradient."""
        recorder = engine().recorder
        for group in self.param_groups:
            for p in group["params"]:
                if recorder is not None:
                    recorder.note_zeroed(p)
                p.grad = None

    def step(self) -> None:
        """Updates every parameter that has a gradient: one pass each."""
        for group in self.param_groups:
            due = [(p, self.state[id(p)]) for p in group["params"] if p.grad is not None]

            def count(due: list[tuple[Tensor, State]] = due) -> None:
                for _, state in due:
                    state.step += 1

            engine().host(count)
            options = self.options(group)
            names = self.state_names(group)
            for p, state in due:
                self._update(group, p, state, names, options)

    def _update(self, group: Group, p: Tensor, state: State, names: tuple[str, ...], options: dict[str, int]) -> None:
        tensors = state.tensors
        g = p.grad
        if g is None or g.shape != p.shape:
            raise ShapeError(f"a gradient of shape {getattr(g, 'shape', None)} for a parameter of shape {p.shape}")
        updated = new(p.shape, p.dtype)
        out = updated.operand
        inputs: dict[str, Operand] = {"parameter": p.operand, "gradient": g.operand}
        outputs = [out]
        fresh = []
        for name in names:
            if name not in tensors:  # a setting was changed
                tensors[name] = zeros(p.shape, float32)
            inputs[self.samplers[name]] = tensors[name].operand
            made = new(p.shape, float32)
            fresh.append(made)
            outputs.append(made.operand)
        lay = out[1]
        same = all(o[1].width == lay.width and o[1].height == lay.height for o in inputs.values())
        defines = {**options, "SAME": int(same), "PADDED": int(lay.last % 4 != 0)}
        flop = float(self.operations * p.size)
        engine().run(Pass(self.kernel, inputs, tuple(outputs), defines, state.uniforms, flop=flop))
        p.replace(updated)
        for name, made in zip(names, fresh, strict=True):
            tensors[name].replace(made)

    # --- saving ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on beside the parameters: "arrays" by name, and "info" as plain numbers for JSON.

        Parameter number i's state tensor `name` is the array "i.name".
        """
        arrays: dict[str, np.ndarray] = {}
        steps: list[int] = []
        groups: list[Group] = []
        for group in self.param_groups:
            first = len(steps)
            for p in group["params"]:
                state = self.state[id(p)]
                arrays |= {f"{len(steps)}.{name}": t.numpy() for name, t in state.tensors.items()}
                steps.append(state.step)
            settings = {name: list(v) if isinstance(v, tuple) else v for name, v in group.items() if name != "params"}
            groups.append({**settings, "params": list(range(first, len(steps)))})
        return {"arrays": arrays, "info": {"optimizer": type(self).__name__, "steps": steps, "groups": groups}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where state_dict() was taken, settings included.

        Raises FileError, before anything is changed, where it belongs to another optimiser or other parameters.
        """
        try:
            arrays, info = state["arrays"], state["info"]
            kind, steps, groups = info["optimizer"], info["steps"], info["groups"]
            saved = [len(group["params"]) for group in groups]
        except (KeyError, TypeError) as error:
            raise FileError(f"not the state of an optimiser: {error!r}") from None
        own = [len(group["params"]) for group in self.param_groups]
        if kind != type(self).__name__ or saved != own or len(steps) != sum(own):
            raise FileError(
                f"the state is that of {kind} with {saved} parameters (a number for each group), "
                f"this is {type(self).__name__} with {own}"
            )
        settings = []
        expected: dict[str, tuple[int, ...]] = {}
        params: list[Tensor] = []
        for group, found in zip(self.param_groups, groups, strict=True):
            values = {name: tuple(v) if isinstance(v, list) else v for name, v in found.items() if name != "params"}
            missing = self.defaults.keys() - values.keys()
            if missing:
                raise FileError(f"the state of {kind} lacks the settings {', '.join(sorted(missing))}")
            settings.append(values)
            for p in group["params"]:
                expected |= {f"{len(params)}.{name}": p.shape for name in self.state_names({**group, **values})}
                params.append(p)
        check_state(expected, arrays, f"the state of {kind}")
        for group, values in zip(self.param_groups, settings, strict=True):
            group.update(values)
        for i, (p, step) in enumerate(zip(params, steps, strict=True)):
            kept = self.state[id(p)]
            kept.step = int(step)
            for entry in expected:
                number, _, name = entry.partition(".")
                if int(number) == i:
                    kept.tensors.setdefault(name, zeros(p.shape)).replace(tensor(np.asarray(arrays[entry]), dtype=float32))

    def __repr__(self) -> str:
        lines = []
        for group in self.param_groups:
            settings = ", ".join(f"{name}={value}" for name, value in group.items() if name != "params")
            lines.append(f"  {len(group['params'])} parameters: {settings}")
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"


def check_settings(optimizer: Optimizer, group: Group, **ranges: tuple[float, float | None]) -> None:
    """Raises GpgpuError for a setting below its range or, where that has an end, not below that (a tuple: any of it)."""
    for name, (low, high) in ranges.items():
        values = group[name] if isinstance(group[name], tuple) else (group[name],)
        if not all(low <= v and (high is None or v < high) for v in values):
            limit = f"at least {low}" if high is None else f"from {low} to below {high}"
            raise GpgpuError(f"{type(optimizer).__name__}: {name} must be {limit}, not {group[name]}")
