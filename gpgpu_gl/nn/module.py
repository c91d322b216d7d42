"""Module: parameters, buffers and layers under names, and what to do with all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from gpgpu_gl.dtypes import as_dtype
from gpgpu_gl.errors import DTypeError
from gpgpu_gl.io import check_state
from gpgpu_gl.tensor import Tensor, tensor

Buffer = Tensor | np.ndarray


class Parameter(Tensor):
    """A tensor that a module learns: assigned to an attribute of a module it is one of its parameters.

    data: a tensor (shared, not copied) or what tensor() takes. Raises DTypeError where gradients are asked for and the
    dtype is no float.
    """

    __slots__ = ()

    def __init__(self, data: Tensor | ArrayLike, requires_grad: bool = True) -> None:
        source = data if isinstance(data, Tensor) else tensor(data)
        if requires_grad and source.dtype.kind != "f":
            raise DTypeError(f"only float tensors have gradients; this one is {source.dtype}")
        super().__init__(source.storage, source.layout, source.dtype)
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Module:
    """A layer or a network: subclasses make their parts in __init__ and compute in forward().

    Attributes that are parameters or modules belong to it, in the order of their first assignment. Buffers are what
    register_buffer() was given: tensors, or NumPy arrays that stay on the host. training: set by train() and eval().
    """

    training = True
    _buffers: Mapping[str, bool] = {}  # name to whether it is part of the state

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; called by calling the module."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    # --- parts ----------------------------------------------------------------------------------

    def register_buffer(self, name: str, value: Buffer | None, persistent: bool = True) -> None:
        """A tensor or array that belongs to the module and is not learnt; persistent: part of state_dict()."""
        setattr(self, name, value)
        self._buffers = {**self._buffers, name: persistent}

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that are attributes of this one."""
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, each under its first name, joined by dots."""
        seen: set[int] = set()
        for name, module in self._walk(prefix):
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def _walk(self, prefix: str) -> Iterator[tuple[str, Module]]:
        yield prefix, self
        for name, child in self.named_children():
            yield from child._walk(f"{prefix}.{name}" if prefix else name)

    def children(self) -> Iterator[Module]:
        """The modules that are attributes of this one."""
        return (child for _, child in self.named_children())

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        return (module for _, module in self.named_modules())

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Every parameter of this module and those below it, each once, under its first name."""
        seen: set[int] = set()
        for name, value in self._entries():
            if isinstance(value, Parameter) and id(value) not in seen:
                seen.add(id(value))
                yield name, value

    def parameters(self) -> Iterator[Parameter]:
        """Every parameter of this module and those below it, each once."""
        return (parameter for _, parameter in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, Buffer]]:
        """Every buffer that is part of the state, of this module and those below it."""
        return ((name, value) for name, value in self._entries() if not isinstance(value, Parameter))

    def _entries(self) -> Iterator[tuple[str, Buffer]]:
        """What state_dict() holds: parameters and buffers by name, those of a shared module under each name."""
        for prefix, module in self._walk(""):
            start = f"{prefix}." if prefix else ""
            for name, value in vars(module).items():
                if isinstance(value, Parameter):
                    yield start + name, value
            for name, persistent in module._buffers.items():
                value = getattr(module, name)
                if persistent and value is not None:
                    yield start + name, value

    # --- all of them ----------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Module:
        """Sets training on this module and all below it (dropout and batch norm behave otherwise in training)."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Sets requires_grad of every parameter: False freezes the module."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def apply(self, function: Callable[[Module], Any]) -> Module:
        """Calls function with every module below this one, then with this one."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def to(self, dtype: DTypeLike) -> Module:
        """Makes every float parameter and buffer one of another float dtype; make optimisers afterwards."""
        wanted = as_dtype(dtype)
        if wanted.kind != "f":
            raise DTypeError(f"parameters are float32 or float16, not {wanted}")
        made: dict[int, Tensor] = {}
        for module in self.modules():
            for name, value in list(vars(module).items()):
                owned = isinstance(value, Parameter) or (isinstance(value, Tensor) and name in module._buffers)
                if owned and value.dtype.kind == "f" and value.dtype != wanted:
                    if id(value) not in made:
                        cast = value.detach().astype(wanted)
                        made[id(value)] = Parameter(cast, value.requires_grad) if isinstance(value, Parameter) else cast
                    setattr(module, name, made[id(value)])
        return self

    # --- state ----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, np.ndarray]:
        """Every parameter and persistent buffer by name, copied to the host: what save_weights() takes."""
        return {
            name: value.numpy() if isinstance(value, Tensor) else value.copy() for name, value in self._entries()
        }

    def load_state_dict(self, state: Mapping[str, ArrayLike | Tensor], strict: bool = True) -> None:
        """Takes over values by name, converted to the dtypes that are here.

        strict: names must be the same on both sides; otherwise only those on both sides are taken over. Raises FileError
        that names each missing, unexpected and misshapen entry, before anything is changed.
        """
        own = dict(self._entries())
        found = {name: np.asarray(value) for name, value in state.items()}
        if not strict:
            own = {name: value for name, value in own.items() if name in found}
            found = {name: found[name] for name in own}
        check_state({name: value.shape for name, value in own.items()}, found, f"the state for {type(self).__name__}")
        for name, value in own.items():
            if isinstance(value, Tensor):
                value.replace(tensor(found[name], dtype=value.dtype))
            else:
                value[...] = found[name]

    # --- text -----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the brackets of repr(), for a module without children."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self.named_children()]
        if not lines:
            return f"{type(self).__name__}({self.extra_repr()})"
        extra = [self.extra_repr()] if self.extra_repr() else []
        return f"{type(self).__name__}(\n  " + "\n  ".join(extra + lines) + "\n)"


class _Numbered(Module):
    """Modules under the names "0", "1", ..."""

    def __init__(self, *modules: Module) -> None:
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> None:
        """Adds a module at the end."""
        if not isinstance(module, Module):
            raise DTypeError(f"{type(self).__name__} holds modules, not {type(module).__name__}")
        setattr(self, str(len(self)), module)

    def __len__(self) -> int:
        return sum(1 for _ in self.children())

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    def __getitem__(self, index: int) -> Module:
        return list(self.children())[index]


class Sequential(_Numbered):
    """Modules called one after another: Sequential(a, b)(x) is b(a(x))."""

    def forward(self, x: Any) -> Any:
        for module in self.children():
            x = module(x)
        return x


class ModuleList(_Numbered):
    """A list of modules that belong to the module that holds it: ModuleList([a, b])."""

    def __init__(self, modules: Any = ()) -> None:
        super().__init__(*modules)
