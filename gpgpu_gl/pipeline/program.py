"""Users' programs: compiled with their own line numbers in the messages, and fed with uniforms and textures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.errors import DTypeError, GpgpuError, ShaderError, ShapeError
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.gl.source import Source, explain
from gpgpu_gl.pipeline.texture import Bound, Texture
from gpgpu_gl.tensor import Tensor

_INTEGERS = {5124, 35667, 35668, 35669}  # int, ivec2 to ivec4
_UNSIGNED = {5125, 36294, 36295, 36296}
_BOOLS = {35670, 35671, 35672, 35673}
_MATRICES = {
    35674: (2, 2),
    35675: (3, 3),
    35676: (4, 4),
    35685: (2, 3),
    35686: (2, 4),
    35687: (3, 2),
    35688: (3, 4),
    35689: (4, 2),
    35690: (4, 3),
}
_SAMPLERS = {*range(35677, 35683), *range(36288, 36293), *range(36297, 36312), 36289, 36293}
_SIZES = {
    first + i: i + 1 if i else 1  # a scalar, then its vectors of 2 to 4
    for kinds in ((5126, 35664), (5124, 35667), (5125, 36294), (35670, 35671))
    for first, i in ((kinds[0], 0), *((kinds[1] - 1, n) for n in (1, 2, 3)))
}


def build(ctx: moderngl.Context, stages: Mapping[str, Source], **options: Any) -> Any:
    """A linked program of {"vertex": ..., "fragment": ...}. Raises ShaderError with file:line of the user's file."""
    make: Any = ctx.program
    try:
        return make(**{f"{stage}_shader": loaded.text for stage, loaded in stages.items()}, **options)
    except moderngl.Error as error:
        log = str(error)
        stage = next((s for s in stages if re.search(rf"{s}_shader", log)), next(iter(stages)))
        raise ShaderError(f"the {stage} shader does not compile or link:\n" + explain(log, stages[stage])) from None


def _type(uniform: Any) -> int:
    return uniform.gl_type


def flatten(uniforms: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Names as OpenGL has them: {"light": {"color": c}} is light.color, {"lights": [{...}]} lights[0]...."""
    for name, value in uniforms.items():
        full = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from flatten(value, f"{full}.")
        elif isinstance(value, (list, tuple)) and value and all(isinstance(v, Mapping) for v in value):
            for i, one in enumerate(value):
                yield from flatten(one, f"{full}[{i}].")
        elif isinstance(value, (list, tuple)) and value and all(isinstance(v, Texture) for v in value):
            for i, one in enumerate(value):
                yield f"{full}[{i}]", one
        else:
            yield full, value


class Uniforms:
    """The caller's uniforms and textures, made ready for any of the programs of one run; release() frees them."""

    def __init__(self, ctx: moderngl.Context, uniforms: Mapping[str, Any], declared: set[str]) -> None:
        self.ctx = ctx
        self.values = dict(flatten(uniforms))
        for name in self.values:
            root = re.split(r"[.\[]", name)[0]
            if root not in declared:
                raise GpgpuError(
                    f"uniform {name!r} is declared by neither shader; they declare {', '.join(sorted(declared)) or 'none'}"
                )
        self.bound: dict[str, Bound] = {}
        self.buffers: list[Any] = []
        self.units: list[tuple[int, Bound]] = []

    def apply(self, program: Any, first_unit: int = 0) -> int:
        """Sets what the program has; textures go to units from first_unit on. Returns the next free unit.

        Raises GpgpuError for a sampler without a texture, ShapeError for a value of the wrong size.
        """
        unit = first_unit
        self.units = []
        for name in program:
            member: Any = program[name]
            if type(member) is moderngl.UniformBlock:
                self._block(program, name, member)
            elif type(member) is moderngl.Uniform and not name.startswith("em_"):
                if _type(member) in _SAMPLERS:
                    units = list(range(unit, unit + member.array_length))
                    for i, at in enumerate(units):
                        self._texture(name if member.array_length == 1 else f"{name}[{i}]", at)
                    member.value = units[0] if len(units) == 1 else units
                    unit += len(units)
                elif name in self.values:
                    member.write(_bytes(name, self.values[name], _type(member), member.array_length))
        return unit

    def _texture(self, name: str, unit: int) -> None:
        if name not in self.bound:
            value = self.values.get(name)
            if value is None:  # an array of samplers may be given as a list
                root, _, number = name.removesuffix("]").partition("[")
                listed = self.values.get(root)
                if number and isinstance(listed, (list, tuple)) and int(number) < len(listed):
                    value = listed[int(number)]
            if value is None:
                raise GpgpuError(f"sampler {name} has no texture; give uniforms={{{name!r}: Texture(image)}}")
            texture = value if isinstance(value, Texture) else Texture(value)
            self.bound[name] = Bound(self.ctx, texture)
        self.bound[name].use(unit)
        self.units.append((unit, self.bound[name]))

    def unbind(self) -> None:
        """Leaves no sampler object on the units: they would change how passes read their tensors."""
        for unit, _ in self.units:
            raw().glBindSampler(unit, 0)
        self.units = []

    def _block(self, program: Any, name: str, block: Any) -> None:
        """Packs the members of a uniform block by the offsets that this program gives them."""
        gl = raw()
        data = bytearray(block.size)
        glo, index = program.glo, block.index
        count = np.zeros(1, np.int32)
        gl.glGetActiveUniformBlockiv(glo, index, gl.GL_UNIFORM_BLOCK_ACTIVE_UNIFORMS, count)
        members = np.zeros(int(count[0]), np.int32)
        gl.glGetActiveUniformBlockiv(glo, index, gl.GL_UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES, members)
        for member in members:
            full, length, kind = gl.glGetActiveUniform(glo, int(member))
            full = full.decode() if isinstance(full, bytes) else str(full)
            short = re.sub(r"\[0\]$", "", full)
            value = next(
                (
                    self.values[key]
                    for key in (short, short.removeprefix(f"{name}."), f"{name}.{short}")
                    if key in self.values
                ),
                None,
            )
            if value is None:
                continue
            facts = {}
            for fact in ("OFFSET", "ARRAY_STRIDE", "MATRIX_STRIDE", "IS_ROW_MAJOR"):
                out = np.zeros(1, np.int32)
                gl.glGetActiveUniformsiv(glo, 1, np.array([member], np.uint32), getattr(gl, f"GL_UNIFORM_{fact}"), out)
                facts[fact] = int(out[0])
            _pack(data, short, value, int(kind), int(length), facts)
        buffer = self.ctx.buffer(bytes(data))
        self.buffers.append(buffer)
        block.binding = len(self.buffers) - 1
        buffer.bind_to_uniform_block(len(self.buffers) - 1)

    def release(self) -> None:
        """Frees textures, samplers and buffers."""
        self.unbind()
        for bound in self.bound.values():
            bound.release()
        for buffer in self.buffers:
            buffer.release()
        self.bound.clear()
        self.buffers.clear()


def _elements(name: str, value: Any, kind: int, length: int) -> np.ndarray:
    """The value as (length, components) or, column by column, (length, columns, rows). Matrices are given as written:
    value[row][column]."""
    data = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
    dtype = np.int32 if kind in _INTEGERS | _BOOLS else np.uint32 if kind in _UNSIGNED else np.float32
    if data.dtype.kind not in "fiub":
        raise DTypeError(f"uniform {name} holds numbers; the value is {value!r}")
    if kind in _INTEGERS | _UNSIGNED and not np.array_equal(data, np.trunc(data)):
        raise DTypeError(f"uniform {name} is an integer in the shader; the value is {value!r}")
    data = data.astype(dtype)
    if kind in _MATRICES:
        columns, rows = _MATRICES[kind]
        if data.size != length * rows * columns or data.shape[-2:] != (rows, columns):
            raise ShapeError(
                f"uniform {name} is {length} x a matrix of {rows} rows and {columns} columns; the value has shape {data.shape}"
            )
        return np.ascontiguousarray(data.reshape(length, rows, columns).swapaxes(1, 2))
    size = _SIZES.get(kind, 0)
    if data.size == size * length or (data.size % max(size, 1) == 0 and data.size > size * length):
        return np.ascontiguousarray(data.reshape(-1, size)[:length])
    raise ShapeError(f"uniform {name} holds {length} x {size} numbers; the value has shape {data.shape}")


def _bytes(name: str, value: Any, kind: int, length: int) -> bytes:
    return _elements(name, value, kind, length).tobytes()


def _pack(data: bytearray, name: str, value: Any, kind: int, length: int, facts: Mapping[str, int]) -> None:
    elements = _elements(name, value, kind, length)
    if elements.ndim == 3 and facts["IS_ROW_MAJOR"]:
        elements = np.ascontiguousarray(elements.swapaxes(1, 2))
    for i in range(length):
        start = facts["OFFSET"] + i * facts["ARRAY_STRIDE"]
        for j, part in enumerate(elements[i] if elements.ndim == 3 else elements[i][None]):
            at = start + j * facts["MATRIX_STRIDE"]
            data[at : at + part.nbytes] = part.tobytes()
