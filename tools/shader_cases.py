"""Every program that the library builds, found by running the library without building its kernels or running them.

Kernels, passes and copies are replaced by stand-ins, so that what remains is which programs are asked for: by every row
of the tests' table of cases on both paths, with every variant that the tuner may choose; by training; by the demos and
the scenes of the pipeline. What these compute is zeros, and some is kept in caches: only for a process of its own.
"""

from __future__ import annotations

import io
import itertools
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import gpgpu_gl as gg
from gpgpu_gl import nn, optim
from gpgpu_gl.bench import ceilings
from gpgpu_gl.errors import OutOfTextureMemory
from gpgpu_gl.gl import source
from gpgpu_gl.gl.passes import Engine
from gpgpu_gl.gl.pool import Storage
from gpgpu_gl.gl.programs import Key, Programs
from gpgpu_gl.gl.recorder import CaptureError
from gpgpu_gl.gl.source import Source
from gpgpu_gl.gl.tune import Tuner
from gpgpu_gl.model import SmallCNN
from gpgpu_gl.optim.clip import AT_ONCE
from gpgpu_gl.pipeline import expand
from gpgpu_gl.pipeline.gallery import GALLERY
from gpgpu_gl.pipeline.models import model_scene
from gpgpu_gl.pipeline.pipeline import Pipeline
from gpgpu_gl.pipeline.scenes import scenes
from gpgpu_gl.pipeline.wrap import Shader, link, wrapped
from gpgpu_gl.render import transform
from gpgpu_gl.tensor import engine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # which is no package

from cases import CASES
from harness import LETTERS, Case, Run, largest_side, relaid
from test_render_demos import CASES as DEMOS
from test_render_transform import CASES as TRANSFORMS

CHECKOUT = Path(__file__).parents[1]
SMALL = 400  # elements of a tensor whose run is taken to be small


class _Unbuilt:
    """Stands in for a program."""

    program: Any
    current = None

    def __init__(self) -> None:
        self.program = self

    def bind(self, name: str, unit: int) -> None:
        pass


@dataclass
class Found:
    """keys: of the kernels' programs. pairs: users' vertex and fragment shaders by file, and whether they draw points."""

    keys: dict[Key, None] = field(default_factory=dict)
    pairs: dict[tuple[str, str], tuple[Shader, Shader, bool]] = field(default_factory=dict)


@contextmanager
def collected(path: str) -> Iterator[Found]:
    """What is asked for meanwhile on that path; no kernel is built, no pass is run, and all that is read is zeros."""
    found = Found()

    def get(self: Programs, kernel: str, defines: tuple[tuple[str, str | int], ...], path: str) -> _Unbuilt:
        found.keys[kernel, path, defines] = None
        return _Unbuilt()

    def pick(self: Tuner, operator: str, shape: Any, variants: Any, default: Any, trial: Callable[[Any], object]) -> Any:
        if engine().recorder is None:
            for variant in variants:
                trial(variant)
        return default

    def read(self: Engine, storage: Storage) -> bytes:
        return bytes(storage.nbytes)

    make = Pipeline.__init__

    def started(self: Pipeline, vertex: Any, fragment: Any, **state: Any) -> None:
        make(self, vertex, fragment, **state)
        pair = self.vertex, self.fragment, self.state.primitive == "points"
        found.pairs[self.vertex.file, self.fragment.file] = pair

    gg.device()  # starts OpenGL as usual: nothing but making textures goes there
    with ExitStack() as replaced:
        for kind, name, value in (
            (gg.Device, "path", path),
            (Programs, "get", get),
            (Tuner, "pick", pick),
            (Engine, "read", read),
            (Engine, "upload", lambda self, storage, data: None),
            (Engine, "issue", lambda self, command: None),
            (Pipeline, "__init__", started),
            (expand, "_total", lambda ends: ends.size),  # of zeros there would be nothing to go on with
        ):
            replaced.enter_context(patch.object(kind, name, value))
        yield found


def collect_programs() -> Found:
    """All that any part of the library asks for, on both paths."""
    every = Found()
    for path in ("compute", "fragment"):
        with collected(path) as found:
            for case in CASES:
                _operator(case)
            _training()
            _transforms()
            _demos()
            for scene in (*scenes(), *(make() for make in GALLERY.values())):
                scene.emulate()
            _model()
            ceilings.measure(0.0)
        every.keys |= found.keys
        every.pairs |= found.pairs
    every.keys |= _other_devices(every.keys)
    return every


def _other_devices(keys: dict[Key, None]) -> dict[Key, None]:
    """One program of each kernel as devices of the other kind (software or not) read and write textures."""
    one = {(kernel, path): defines for kernel, path, defines in keys}
    return {
        (kernel, path, tuple((name, 1 - int(value) if name in ("FETCH_LOD", "LOOPED") else value) for name, value in defines)): None
        for (kernel, path), defines in one.items()
    }


# --- operators


def _operator(case: Case) -> None:
    """Forward, gradient and second derivative of one row, captured too, in its dtypes and on folded textures."""
    rng = np.random.default_rng(0)
    for run in case.runs:
        arrays = case.draw(rng, run)
        _differentiated(case, run, arrays)
        if all(array.size <= SMALL for array in arrays):
            tensors = [gg.tensor(array) for array in arrays]
            # What follows an operator becomes its epilogue. Some read how long their result is and refuse to be recorded.
            with suppress(CaptureError):
                gg.compile(lambda *xs: case.call(*xs, **run.options) * 2.0)(*tensors)  # noqa: B023  (called here and now)
            case.call(*map(relaid, arrays), **run.options)
            for side in (10, 16):
                # Too small a texture for some: they are folded in another run.
                with largest_side(side), suppress(OutOfTextureMemory):
                    _differentiated(case, run, arrays, second=False)
    run = next((r for r in case.runs if all(1 < np.prod(s, dtype=int) < 100 for s in r.shapes)), case.runs[0])
    arrays = case.draw(rng, run)
    free = [i for i, array in enumerate(arrays) if array.dtype.kind == "f"]
    for letters in itertools.product(case.dtypes, repeat=min(len(free), 2)):
        kinds = dict(zip(free, (*letters, *letters[-1:] * len(free)), strict=False))  # a third is like the second
        cast = [a.astype(LETTERS[kinds[i]]) if i in kinds else a for i, a in enumerate(arrays)]
        _differentiated(case, run, cast, second=len(set(letters)) == 1)
    if case.scalars:
        for letter, number, side in itertools.product(case.dtypes, (3, 2.5, True), (0, 1)):
            mixed: list[Any] = [gg.tensor(a.astype(LETTERS[letter])) for a in arrays]
            mixed[side] = number
            case.call(*mixed, **run.options)


def _differentiated(case: Case, run: Run, arrays: Sequence[np.ndarray], second: bool = True) -> None:
    wanted = [i for i in case.grad if i < len(arrays) and arrays[i].dtype.kind == "f"]
    tensors = [gg.tensor(array, requires_grad=i in wanted) for i, array in enumerate(arrays)]
    out = case.call(*tensors, **run.options)
    if not wanted or out.dtype.kind != "f":
        return
    start = gg.tensor(np.zeros(out.shape, out.dtype), requires_grad=True)
    firsts = gg.gradients(out, [tensors[i] for i in wanted], gradient=start, create_graph=True)
    if case.second and second:
        slopes = gg.sum(gg.stack([first.sum() for first in firsts if first is not None]))
        gg.gradients(slopes, [*(tensors[i] for i in wanted), start])


# --- training

OPTIMIZERS: list[tuple[type[optim.Optimizer], dict[str, Any]]] = [
    (optim.SGD, {}),
    (optim.SGD, {"momentum": 0.9}),
    (optim.SGD, {"momentum": 0.9, "nesterov": True}),
    *((kind, {"amsgrad": amsgrad}) for kind in (optim.Adam, optim.AdamW) for amsgrad in (False, True)),
    *((optim.RMSprop, {"centered": c, "momentum": m}) for c in (False, True) for m in (0.0, 0.9)),
]


def _training() -> None:
    """Steps of every optimiser, clipping, and the training and use of small networks, captured and not."""
    for kind, options in OPTIMIZERS:
        for dtype in ("float32", "float16"):
            parameter = nn.Parameter(gg.zeros((3, 5), dtype=dtype))
            parameter.grad = gg.zeros((3, 5), dtype=dtype)
            kind([parameter], **options).step()
    for count in range(1, 2 * AT_ONCE + 1):
        parameters = [nn.Parameter(gg.zeros((3, 5))) for _ in range(count)]
        for parameter in parameters:
            parameter.grad = gg.zeros((3, 5))
        optim.clip_grad_norm_(parameters, 1.0)
    for shape, model in (((28, 28, 1), SmallCNN()), ((8, 9, 3), SmallCNN(8, 9, 3, 4)), ((6, 6, 3), _network())):
        images, labels = gg.zeros((4, *shape)), gg.zeros((4,), dtype="int32")
        optimizer = optim.Adam(model.parameters())

        def step(
            x: gg.Tensor, y: gg.Tensor, model: nn.Module = model, optimizer: optim.Optimizer = optimizer
        ) -> gg.Tensor:
            optimizer.zero_grad()
            loss = gg.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        for train in (step, gg.compile(step)):
            train(images, labels)
        model.eval()
        with gg.no_grad():
            for use in (model, gg.compile(model)):
                use(images)


def _network() -> nn.Module:
    """A network with the layers that SmallCNN lacks."""
    layers = [
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GELU(), nn.AvgPool2d(2), nn.Dropout(0.5), nn.Flatten(),
        nn.LayerNorm(72), nn.Linear(72, 5), nn.Tanh(),
    ]  # fmt: skip
    return nn.Sequential(*layers)


# --- pictures


def _transforms() -> None:
    for name, (_, make) in TRANSFORMS.items():
        tensors = [gg.tensor(argument, requires_grad=True) for argument in make(3)]
        getattr(transform, name)(*tensors).sum().backward()


def _demos() -> None:
    """Every demo that draws, small."""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        for name, options in DEMOS.items():
            main = runpy.run_path(str(CHECKOUT / "demos" / f"{name}.py"))["main"]
            main(["--headless", *options, "--size", "48x32", "--out", str(Path(folder) / f"{name}.png")])


def _model() -> None:
    """A model from a file, through the pipeline."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.obj"
        path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        model_scene(path).emulate()


def stages_of(vertex: Shader, fragment: Shader, points: bool) -> Iterator[tuple[str, str, Source]]:
    """(stage, version, source) of a user's shaders, and of the fragment shader as the emulator runs it."""
    root = source.shader_root()
    for stage, shader, loaded in (
        ("vertex", vertex, vertex.source()),
        ("fragment", fragment, fragment.source()),
        ("fragment", fragment, wrapped(fragment, link(vertex, fragment), points)),
    ):
        path = Path(shader.file)
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else shader.file
        places = tuple((name if file == shader.file else file, line) for file, line in loaded.lines)
        yield stage, shader.interface.version + " es" * shader.interface.es, Source(loaded.text, places)
