"""What a run leaves behind: every stage's result, as tensors, and questions to ask of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.ops.shape import getitem
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.bins import Pairs
from gpgpu_gl.pipeline.clip import Clipped
from gpgpu_gl.pipeline.cost import Clocks, Cost, count_cost
from gpgpu_gl.pipeline.edges import Edges
from gpgpu_gl.pipeline.fetch import Fetched
from gpgpu_gl.pipeline.history import Event, pixel_history
from gpgpu_gl.pipeline.merge import Frame
from gpgpu_gl.pipeline.probe import Profile
from gpgpu_gl.pipeline.quads import Quads
from gpgpu_gl.pipeline.setup import Planes
from gpgpu_gl.pipeline.vertex import Vertices
from gpgpu_gl.tensor import Tensor

if TYPE_CHECKING:
    from gpgpu_gl.pipeline.pipeline import Pipeline


class Trace:
    """The results of all stages of one draw. Rows of pictures go up: row 0 is at the bottom, as in OpenGL.

    window_position: (vertices, 4) x, y, depth, 1/w of all vertices, the corners of primitives that were cut at the end.
    ndc: (vertices, 4) the same before the viewport transform.
    """

    primitives: Primitives
    edges: Edges
    planes: Planes
    pairs: Pairs
    coverage: Tensor
    quads_found: Quads
    quads_shaded: Quads
    early: Tensor | None
    places: Tensor | None
    fragcoord: Tensor
    barycentric: Tensor
    slots: dict[str, Tensor]
    shaded: list[Tensor]
    alive: Tensor
    frame: Frame
    onto: Frame | None
    culled: int = 0
    counted: bool = False
    uniforms: dict[str, Any]

    def __init__(
        self,
        pipeline: Pipeline,
        size: tuple[int, int],
        profile: Profile,
        fetched: Fetched,
        vertices: Vertices,
        assembled: Primitives,
        clipped: Clipped,
        ndc: Tensor,
        window: Tensor,
    ) -> None:
        self.pipeline, self.state, self.size, self.profile = pipeline, pipeline.state, size, profile
        self.fetched, self.vertices, self.assembled, self.clipped = fetched, vertices, assembled, clipped
        self.ndc, self.window_position = ndc, window
        self.early, self.places = None, None

    # --- frames

    @property
    def color(self) -> Tensor:
        """(H, W, 4) the first colour target, linear values."""
        return self.frame.colors[0]

    @property
    def colors(self) -> list[Tensor]:
        """(H, W, 4) every colour target by location."""
        return self.frame.colors

    @property
    def depth(self) -> Tensor:
        """(H, W) depths."""
        return self.frame.depth

    @property
    def stencil(self) -> Tensor:
        """(H, W) int32 stencil values."""
        return self.frame.stencil

    @property
    def overdraw(self) -> Tensor:
        """(H, W) how many fragments came to the tests at each pixel (with multisampling, samples)."""
        if self.frame.counts is None:
            raise GpgpuError("the hardware's frame has no count of fragments")
        return getitem(self.frame.counts, (..., 0))

    # --- stages

    @property
    def clip_position(self) -> Tensor:
        """(vertices, 4) gl_Position as the vertex shader wrote it."""
        return self.vertices.positions

    @cached_property
    def window(self) -> np.ndarray:
        """window_position on the host."""
        return self.window_position.numpy()

    @property
    def source(self) -> np.ndarray:
        """(primitives,) the primitive before clipping, on the host."""
        return self.primitives.source

    @property
    def front(self) -> np.ndarray:
        """(primitives,) bool: front facing, on the host."""
        return self.primitives.front

    @cached_property
    def place(self) -> np.ndarray:
        """(quads,) the place of each quad among those that were shaded, -1 for the others, on the host."""
        return np.arange(len(self.quads_found)) if self.places is None else self.places.numpy()

    @property
    def triangles(self) -> Tensor:
        """(primitives, corners) int32 rows of window_position, after clipping and culling."""
        return getitem(self.primitives.table, (slice(None), slice(0, self.primitives.sides)))

    @property
    def primitive_id(self) -> Tensor:
        """(primitives,) int32 gl_PrimitiveID of what is left after clipping and culling."""
        return getitem(self.primitives.table, (slice(None), 4))

    @property
    def quads(self) -> Tensor:
        """(quads, 4) int32: x and y of the lower left pixel, primitive, pair of tile and primitive."""
        return self.quads_found.table

    @property
    def fragments(self) -> Tensor:
        """(2 rows, 2 columns, 4) x, y, depth, 1/w of the packed fragments, helpers included."""
        return self.fragcoord

    @property
    def dropped(self) -> int:
        """Primitives that were dropped for a position that is no finite number."""
        return self.clipped.dropped

    def input(self, name: str) -> Tensor:
        """(fragments, 4 * texels) a fragment shader input of the shaded fragments, packed as `quads_shaded` says.

        Raises GpgpuError for unknown ones.
        """
        for key, place in self.pipeline.link.names:
            if key == name:
                kind, first, count = place.split(":")
                slots = self.slots["em_float_slots" if kind == "f" else "em_int_slots"]
                return slots[:, 4 * int(first) : 4 * (int(first) + int(count))]
        raise GpgpuError(
            f"the fragment shader has no input {name!r}; it has {', '.join(k for k, _ in self.pipeline.link.names) or 'none'}"
        )

    def pixel(self, x: int, y: int) -> list[Event]:
        """Every fragment that touched pixel (x, y), in order, with its inputs and the verdict of the tests.

        y counts up from the bottom. Raises ShapeError outside the target.
        """
        return pixel_history(self, x, y)

    def cost(self, lanes: int = 32, clocks: Clocks | None = None) -> Cost:
        """What the draw would cost on a machine of `lanes` lanes in step: invocations, waste and clocks by stage."""
        return count_cost(self, lanes, clocks or Clocks())

    def covered(self) -> np.ndarray:
        """(fragments by quad, 4, samples) which samples of each quad's pixels are covered."""
        mask = self.quads_found.mask
        return (mask[:, None, :] >> np.arange(4, dtype=mask.dtype)[None, :, None]) & 1 != 0

    def packed(self, values: Any) -> np.ndarray:
        """(quads, 4, ...) from a packed (2 rows, 2 columns, ...) tensor or array: the pixels of each quad row by row."""
        data = values.numpy() if isinstance(values, Tensor) else np.asarray(values)
        return self._by_quad(data, self.quads_found)

    def packed_shaded(self, values: Any) -> np.ndarray:
        """As `packed`, for what is packed by the quads that were shaded; 0 for those that the early test kept out."""
        data = values.numpy() if isinstance(values, Tensor) else np.asarray(values)
        found = self._by_quad(data, self.quads_shaded)
        if self.early is None:
            return found
        out = np.zeros((len(self.quads_found), *found.shape[1:]), found.dtype)
        out[self.place >= 0] = found
        return out

    def packed_input(self, name: str) -> np.ndarray:
        """(quads, 4, components) a fragment shader input; 0 where a quad was not shaded."""
        return self.packed_shaded(self.input(name).numpy().reshape(*self.quads_shaded.shape, -1))

    def living(self) -> tuple[np.ndarray, np.ndarray]:
        """(quads, 4) whether each fragment was not discarded, and (quads, 4) its depth."""
        if self.early is not None:
            z = self.packed(self.fragcoord)[..., 2]
            return np.ones(z.shape, bool), z
        alive = self.packed(self.alive)
        return alive[..., 0] > 0, alive[..., 1]

    def _by_quad(self, data: np.ndarray, q: Quads) -> np.ndarray:
        data = data.reshape(q.rows, 2, q.columns, 2, *data.shape[2:]).swapaxes(1, 2)
        return data.reshape(q.rows * q.columns, 4, *data.shape[4:])[: len(q)]
