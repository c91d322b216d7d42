"""Tensor: an n-dimensional array whose elements lie in a texture."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from gpgpu_gl.dtypes import FORMATS, as_dtype
from gpgpu_gl.errors import DTypeError, GpgpuError, ShapeError
from gpgpu_gl.gl.context import Device, device
from gpgpu_gl.gl.passes import Engine
from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.gl.readback import Readback
from gpgpu_gl.layout import LANES, Layout, with_width

if TYPE_CHECKING:
    from gpgpu_gl.gl.recorder import Recorder
    from gpgpu_gl.op import Node


def engine() -> Engine:
    """The default device's engine."""
    return device().engine


_watch: list[list[weakref.ref[Tensor]]] = []
_recorders: list[Recorder] = []


@contextmanager
def watched() -> Iterator[Callable[[], list[Tensor]]]:
    """A function that lists the tensors made inside the block that are still alive."""
    made: list[weakref.ref[Tensor]] = []
    _watch.append(made)
    try:
        yield lambda: [t for ref in made if (t := ref()) is not None]
    finally:
        _watch.remove(made)


@contextmanager
def reads_noted(recorder: Recorder) -> Iterator[None]:
    """The recorder hears of each tensor whose texture is asked for inside the block."""
    _recorders.append(recorder)
    try:
        yield
    finally:
        _recorders.remove(recorder)


class Tensor:
    """An array on the device: float32, float16 (computed in float32), int32 or bool, row-major, last axis packed.

    requires_grad: backward() adds to .grad of this tensor. node: how it was computed, where that was recorded.
    Operators are bound to this class in gpgpu_gl/bind.py.
    """

    __slots__ = (
        "shape", "dtype", "_layout", "_storage", "_pending", "requires_grad", "grad", "node", "transpose_of", "__weakref__",
    )  # fmt: skip
    __array_priority__ = 1000

    def __init__(self, storage: Storage | None, lay: Layout, dtype: np.dtype, pending: Callable[[], Tensor] | None = None) -> None:
        self.shape = lay.shape
        self.dtype = dtype
        self._layout = lay
        self._storage = storage
        self._pending = pending
        self.requires_grad = False
        self.grad: Tensor | None = None
        self.node: Node | None = None
        if _watch:
            _watch[-1].append(weakref.ref(self))
        self.transpose_of: Tensor | None = None  # the tensor whose last two axes this one swaps; matmul reads that

    if TYPE_CHECKING:  # bound in gpgpu_gl/bind.py; declared here for type checkers and editors

        def __getattr__(self, name: str) -> Any: ...
        def _unary(self) -> Tensor: ...
        def _binary(self, other: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]

        __neg__ = __abs__ = __invert__ = _unary
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _binary
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _binary
        __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __xor__ = __getitem__ = _binary

    # --- storage --------------------------------------------------------------------------------

    @property
    def storage(self) -> Storage:
        """The texture on loan; a pending view is computed at first use."""
        if self._storage is None:
            made = self._pending() if self._pending is not None else None
            if made is None:
                raise GpgpuError("this tensor's texture has been released")
            self._storage, self._layout, self._pending = made.storage, made.layout, None
        if _recorders:
            _recorders[-1].note_read(self, self._storage, self._layout)
        return self._storage

    @property
    def layout(self) -> Layout:
        """Where the elements lie in the texture."""
        if self._storage is None:
            _ = self.storage
        return self._layout

    @property
    def operand(self) -> tuple[Storage, Layout]:
        """Storage and layout, as passes take them."""
        storage = self.storage
        return storage, self._layout

    @property
    def texture(self) -> Any:
        """The moderngl texture itself, no copy: width x height RGBA texels as `layout` says."""
        return self.storage.texture

    def viewed(self, shape: tuple[int, ...]) -> Tensor:
        """The same texture seen as another shape whose rows of texels line up with this one's."""
        storage = self.storage
        return Tensor(storage, with_width(shape, storage.width, storage.height), self.dtype)

    def alias(self, requires_grad: bool = False) -> Tensor:
        """A new tensor on the same texture. With requires_grad it still belongs to the graph of this one."""
        made = Tensor(self.storage, self.layout, self.dtype)
        if requires_grad:
            if self.dtype.kind != "f":
                raise DTypeError(f"only float tensors have gradients; this one is {self.dtype}")
            if self.tracked:
                from gpgpu_gl.bind import identity

                made = identity(self)
            made.requires_grad = True
        return made

    def detach(self) -> Tensor:
        """The same values, outside the graph."""
        return Tensor(self.storage, self.layout, self.dtype)

    def replace(self, other: Tensor) -> None:
        """Takes over other's values, which must have this shape and dtype: how parameters and state are updated."""
        if other.shape != self.shape or other.dtype != self.dtype:
            raise ShapeError(
                f"a tensor of shape {self.shape}, {self.dtype} cannot be replaced by one of shape {other.shape}, {other.dtype}"
            )
        recorder = engine().recorder
        if recorder is not None:
            recorder.note_replaced(self, self.storage)
        self._storage, self._layout, self._pending = other.storage, other.layout, None

    def defer(self, values: Callable[[], Tensor]) -> None:
        """replace(values()), once this tensor's values are asked for; at once while a call is recorded."""
        if engine().recorder is not None:
            self.replace(values())
        else:
            self._storage, self._pending = None, lambda: engine().unrecorded(values)

    def exchange(self, storage: Storage) -> None:
        """Lies in another texture of the same size from now on."""
        self._storage = storage

    def on(self, storage: Storage) -> Tensor:
        """A tensor of this shape and dtype that lies in `storage`, a texture of the same size."""
        return Tensor(storage, self.layout, self.dtype)

    # --- facts ----------------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        n = 1
        for side in self.shape:
            n *= side
        return n

    @property
    def tracked(self) -> bool:
        """Whether a backward pass can reach this tensor."""
        return self.requires_grad or self.node is not None

    @property
    def device(self) -> Device:
        return device()

    def __len__(self) -> int:
        if not self.shape:
            raise ShapeError("a scalar tensor has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        body = np.array2string(self.numpy(), separator=", ", threshold=100, prefix="tensor(")
        extra = ", requires_grad=True" if self.requires_grad else ""
        return f"tensor({body}, dtype={self.dtype}{extra})"

    # --- to the host ----------------------------------------------------------------------------

    def numpy(self) -> np.ndarray:
        """A copy on the host, of this tensor's shape and dtype; waits for the passes that compute it."""
        lay = self.layout
        if self.size == 0:
            return np.zeros(self.shape, self.dtype)
        return self._unpacked(engine().read(self.storage), lay)

    def _unpacked(self, data: bytes, lay: Layout) -> np.ndarray:
        """A texture's bytes as an array of this tensor's shape and dtype."""
        flat = np.frombuffer(data, FORMATS[self.dtype].channel)
        rows = flat[: lay.texels * LANES].reshape(lay.rows, lay.columns * LANES)[:, : lay.last]
        values = rows.reshape(self.shape)
        return values != 0 if self.dtype == np.bool_ else values.copy()

    def fetch(self) -> Callable[[], np.ndarray]:
        """Starts copying to the host without waiting; the function returned gives what numpy() would."""
        if self.size == 0:
            return self.numpy
        recorder = engine().recorder
        if recorder is not None:
            recorder.refuse("reading a tensor's value (fetch())")
        lay, under_way = self.layout, Readback(engine(), self.storage)
        return lambda: self._unpacked(under_way.bytes(), lay)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a tensor lies on the device: it cannot be seen as a NumPy array without a copy")
        found = self.numpy()
        return found if dtype is None else found.astype(dtype)

    def item(self) -> float | int | bool:
        """The only element as a Python number. Raises ShapeError where there are several."""
        if self.size != 1:
            raise ShapeError(f"item() needs a tensor of one element; this one has shape {self.shape}")
        return self.numpy().reshape(()).item()

    def tolist(self) -> Any:
        return self.numpy().tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __index__(self) -> int:
        if self.dtype != np.int32:
            raise DTypeError(f"only an int32 tensor of one element can be an index; this one is {self.dtype}")
        return int(self.item())


def new(shape: tuple[int, ...], dtype: np.dtype) -> Tensor:
    """A tensor whose contents are undefined, for a pass to write."""
    storage, lay = engine().empty(shape, dtype)
    return Tensor(storage, lay, dtype)


def tensor(data: ArrayLike | Tensor, dtype: DTypeLike | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of `data`: a number, nested lists, a NumPy array of any strides, or a tensor.

    dtype: float32, float16, int32 or bool; by default that of the data, with float64 as float32 and other integers as
    int32. Raises DTypeError for other kinds, and for integers that int32 cannot hold; ShapeError for lists of unequal sides.
    """
    if isinstance(data, Tensor):
        made = data.detach() if dtype is None else data.detach().astype(as_dtype(dtype))
        made = made.copy() if made.storage is data.storage else made
    else:
        try:
            array = np.asarray(data)
        except ValueError as error:
            raise ShapeError(f"nested lists need equal sides at each depth: {error}") from None
        made = _upload(_host_array(array, dtype))
    if requires_grad:
        if made.dtype.kind != "f":
            raise DTypeError(f"only float tensors have gradients; this one is {made.dtype}")
        made.requires_grad = True
    return made


def _host_array(array: np.ndarray, dtype: DTypeLike | None) -> np.ndarray:
    """The array in the dtype that it will have on the device."""
    if dtype is None:
        kinds = {"b": np.bool_, "i": np.int32, "u": np.int32, "f": np.float32}
        wanted = kinds.get(array.dtype.kind)
        if wanted is None:
            raise DTypeError(f"an array of dtype {array.dtype} cannot be a tensor; convert it to float32 first")
        target = array.dtype if array.dtype == np.float16 else np.dtype(wanted)
    else:
        target = as_dtype(dtype)
    if target == np.int32 and array.dtype != np.int32 and array.size and array.dtype.kind in "iuf":
        low, high = array.min(), array.max()
        if not (-(2**31) <= low and high < 2**31):
            raise DTypeError(f"values from {low} to {high} do not fit int32 (-2**31 to 2**31 - 1)")
    with np.errstate(over="ignore"):
        return array.astype(target, copy=False)


def _upload(array: np.ndarray) -> Tensor:
    made = new(array.shape, array.dtype)
    if array.size:
        lay = made.layout
        channel = FORMATS[array.dtype].channel
        rows = array.reshape(lay.rows, lay.last)
        whole = lay.width * lay.height == lay.texels and lay.last % LANES == 0
        if whole and channel == array.dtype:
            data = np.ascontiguousarray(rows)
        else:
            flat = np.zeros(lay.width * lay.height * LANES, channel)
            padded = flat[: lay.texels * LANES].reshape(lay.rows, lay.columns * LANES)
            padded[:, : lay.last] = rows * np.uint8(255) if array.dtype == np.bool_ else rows
            data = flat
        engine().upload(made.storage, data)
    return made


def from_texture(texture: Any, dtype: DTypeLike | None = None) -> Tensor:
    """The caller's moderngl texture as a tensor of shape (height, width, 4), no copy.

    The texture must have four channels of floats ('f4', 'f2'), of int32 ('i4') or normalised bytes ('f1', seen as
    bool masks only where dtype=bool is asked for). Its filter is set to nearest. Raises DTypeError otherwise.
    """
    known = {"f4": np.float32, "f2": np.float16, "i4": np.int32}
    if texture.components != 4 or texture.dtype not in known | {"f1": 0}:
        raise DTypeError(
            f"a texture of {texture.components} channels of '{texture.dtype}' cannot be a tensor; "
            "it needs 4 channels of 'f4', 'f2' or 'i4'"
        )
    if texture.dtype == "f1" and (dtype is None or as_dtype(dtype) != np.bool_):
        raise DTypeError("a texture of normalised bytes can be a tensor of dtype bool only; render to 'f4' or 'f2'")
    found = np.dtype(known.get(texture.dtype, np.bool_))
    width, height = texture.size
    with device().hosted_state():
        texture.filter = (0x2600, 0x2600)
        texture.repeat_x = texture.repeat_y = False
    storage = Storage(texture, (width, height, found, 0), None)
    return Tensor(storage, with_width((height, width, LANES), width, height), found)
