"""Random primitives, and a bare rasteriser to draw them one at a time, for the tests of the emulated pipeline."""

import moderngl
import numpy as np
from pipeline_twin import setup

from gpgpu_gl.gl.raw import raw
from gpgpu_gl.pipeline.assemble import Primitives
from gpgpu_gl.pipeline.bins import bin_primitives
from gpgpu_gl.pipeline.clip import clip
from gpgpu_gl.pipeline.coverage import rasterise
from gpgpu_gl.pipeline.cull import cull
from gpgpu_gl.pipeline.divide import divide
from gpgpu_gl.pipeline.edges import find_edges
from gpgpu_gl.pipeline.probe import probe
from gpgpu_gl.pipeline.state import State
from gpgpu_gl.pipeline.vertex import Vertices
from gpgpu_gl.pipeline.viewport import viewport
from gpgpu_gl.tensor import tensor

CORNERS = {"points": 1, "lines": 2, "triangles": 3}
KINDS = ("in view", "any w", "on centres and edges", "huge", "sliver", "crossing planes", "tiny", "scaled", "no area")

VERTEX = "#version 330\nin vec4 p; void main() { gl_Position = p; }"
FRAGMENT = "#version 330\nout vec4 o; void main() { o = vec4(1.0); }"
# A sum of the mask of covered samples, over the samples: every subset of four samples gives another number.
SAMPLES = "#version 400\nout vec4 o; void main() { o = vec4(float(gl_SampleMaskIn[0])); }"


def random_primitive(rng, kind, n, size):
    """(n, 4) float32 clip positions of one primitive of a kind from KINDS."""
    w, h = size
    flat = lambda xy: np.c_[xy, np.zeros(n), np.ones(n)]  # noqa: E731
    if kind == "in view":
        p = np.c_[rng.uniform(-1, 1, (n, 3)), np.ones(n)]
    elif kind == "any w":
        p = rng.uniform(-2, 2, (n, 4))
    elif kind == "on centres and edges":
        p = flat(np.round(rng.uniform(0, 1, (n, 2)) * (w, h) * 2) / 2 / (w, h) * 2 - 1)
    elif kind == "huge":
        p = np.c_[rng.uniform(-200, 200, (n, 2)), rng.uniform(-2, 2, n), rng.uniform(-1, 2, n)]
    elif kind == "sliver":
        xy = rng.uniform(-1, 1, (n, 2))
        xy[-1] = xy[0] + (xy[min(1, n - 1)] - xy[0]) * rng.uniform(0, 1) + rng.uniform(-1, 1, 2) * 1e-3
        p = flat(xy)
    elif kind == "crossing planes":
        p = np.c_[rng.uniform(-3, 3, (n, 3)), rng.uniform(0.1, 3, n)]
    elif kind == "tiny":
        p = flat(rng.uniform(-1, 1, (1, 2)) + rng.uniform(-4, 4, (n, 2)) / (w, h))
    elif kind == "scaled":
        p = np.c_[rng.uniform(-1.2, 1.2, (n, 3)), rng.uniform(0.5, 1.5, n)] * rng.uniform(0.1, 10)
    else:
        xy = rng.uniform(-1, 1, (n, 2))
        xy[-1] = xy[0]
        p = flat(xy)
    return p.astype(np.float32)


def random_primitives(seed, count, mode, size):
    """(count, corners, 4) primitives of all kinds in turn."""
    rng = np.random.default_rng(seed)
    return np.stack([random_primitive(rng, KINDS[i % len(KINDS)], CORNERS[mode], size) for i in range(count)])


def all_of(n, corners=3):
    """n primitives whose corners are vertices of their own."""
    rows = np.arange(n * corners).reshape(n, corners)
    return Primitives.of(rows, rows[:, -1], np.arange(n))


def window_of(kind, count=90, mode="triangles", size=(64, 48)):
    """(n, corners, 4) float32 window positions of random primitives of one kind, the primitives, and a row for a vertex."""
    clip_positions = random_primitives(11, len(KINDS) * count, mode, size)[kind :: len(KINDS)].reshape(-1, 4)
    clip_positions[:, 3] = np.abs(clip_positions[:, 3]) + 0.5
    window = viewport(divide(tensor(clip_positions)), State(), size)
    sides = CORNERS[mode]
    return window.numpy().reshape(-1, sides, 4), all_of(len(clip_positions) // sides, sides), window


def check_edges(found, corners, profile, empty=False):
    """Edges against those of (n, 3 or 4, 2) snapped corners, bit for bit; returns the twin's c. empty: (n,) no inside."""
    n = corners.shape[1]
    c, dx, dy = setup.polygon_edges(corners, profile)
    nothing = np.broadcast_to(empty, len(c))
    c[nothing], dx[nothing], dy[nothing] = -1, 0, 0
    low, high, x, y, boxes = (t.numpy() for t in (found.c_low, found.c_high, found.dx, found.dy, found.boxes))
    wide = (high.astype(np.int64) << 32) | low.view(np.uint32)
    np.testing.assert_array_equal(wide[:, :n], c)
    np.testing.assert_array_equal(x[:, :n], dx)
    np.testing.assert_array_equal(y[:, :n], dy)
    assert not wide[:, n:].any()
    expected = np.concatenate([corners.min(1), corners.max(1)], 1)
    np.testing.assert_array_equal(boxes[~nothing], expected[~nothing])  # a figure that is empty has no box to speak of
    return c


def settle():
    """Makes the driver let go of the last program: Mesa keeps one that was released until the next pass."""
    raw().glUseProgram(0)
    (tensor([1.0]) + 1.0).numpy()


class Rasteriser:
    """Draws one primitive at a time; a context manager that frees its objects."""

    def __init__(self, ctx, mode, size, samples=1, sizes=1.0):
        n = CORNERS[mode]
        self.ctx, self.size, self.samples = ctx, size, samples
        self.mode = {"points": moderngl.POINTS, "lines": moderngl.LINES, "triangles": moderngl.TRIANGLES}[mode]
        self.program = ctx.program(vertex_shader=VERTEX, fragment_shader=SAMPLES if samples > 1 else FRAGMENT)
        self.buffer = ctx.buffer(reserve=n * 16)
        self.vao = ctx.vertex_array(self.program, [(self.buffer, "4f", "p")])
        self.plain = ctx.simple_framebuffer(size, 4, dtype="f4")
        self.many = (
            ctx.framebuffer([ctx.renderbuffer(size, 4, samples=samples, dtype="f4")]) if samples > 1 else self.plain
        )
        ctx.point_size = sizes

    def __call__(self, corners):
        """(H, W) how much each pixel got."""
        self.buffer.write(corners.tobytes())
        self.many.use()
        self.many.clear()
        self.vao.render(self.mode)
        if self.samples > 1:
            self.ctx.copy_framebuffer(self.plain, self.many)
        data = self.plain.read(components=1, dtype="f4")
        return np.frombuffer(data, np.float32).reshape(self.size[1], self.size[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ctx.point_size = 1.0
        self.ctx.detect_framebuffer(0).use()
        for framebuffer in {id(f): f for f in (self.many, self.plain)}.values():
            for attachment in framebuffer.color_attachments:
                attachment.release()
            if framebuffer.depth_attachment is not None:
                framebuffer.depth_attachment.release()
            framebuffer.release()
        for thing in (self.vao, self.buffer, self.program):
            thing.release()
        settle()


def emulated(positions, mode, size, samples=1, point_size=1.0):
    """(count, samples, H, W) how often each primitive covers each sample, and Clipped."""
    count, n, _ = positions.shape
    vertices = Vertices(tensor(positions.reshape(-1, 4)))
    numbers = np.arange(count)
    state, profile = State(mode=mode, samples=samples, point_size=point_size), probe()
    given = Primitives.of(np.arange(count * n).reshape(count, n), numbers * n, numbers)
    clipped = clip(vertices, given, state)
    window, primitives = viewport(divide(clipped.vertices.positions), state, size), clipped.primitives
    if mode == "triangles":
        primitives = cull(primitives, window, state, profile.subpixel_bits)
    source = primitives.source
    edges = find_edges(primitives, window, None, state, profile)
    pairs = bin_primitives(edges, size, profile.subpixel_bits)
    words = rasterise(pairs, edges, profile, samples).numpy()
    canvas = np.zeros((count, samples, pairs.up * 8, pairs.across * 8), np.uint8)
    bits = unpacked(words, samples)
    for i in range(len(pairs)):
        x, y = pairs.x[i] * 8, pairs.y[i] * 8
        canvas[source[pairs.primitive[i]], :, y : y + 8, x : x + 8] += bits[i]
    owners = None
    if samples > 1:  # for each sample the mask of its own piece of the primitive, as the hardware's shader sees it
        masks = (bits * (1 << np.arange(samples, dtype=np.uint8))[:, None, None]).sum(1, dtype=np.int64)
        owners = np.zeros((count, pairs.up * 8, pairs.across * 8))
        for i in range(len(pairs)):
            x, y = pairs.x[i] * 8, pairs.y[i] * 8
            owners[source[pairs.primitive[i]], y : y + 8, x : x + 8] += masks[i] * bits[i].sum(0) / samples
        owners = owners[:, : size[1], : size[0]]
    return canvas[:, :, : size[1], : size[0]], owners


def unpacked(words, samples):
    """(pairs, samples, 8, 8) uint8 from coverage words, by the description of their bits in coverage.py."""
    out = np.zeros((len(words), samples, 8, 8), np.uint8)
    unsigned = words.view(np.uint32)
    for y in range(8):
        for x in range(8):
            quad, pixel = (y // 2) * 4 + x // 2, (y % 2) * 2 + x % 2
            for s in range(samples):
                out[:, s, y, x] = unsigned[:, 2 * s + quad // 8] >> np.uint32(4 * (quad % 8) + pixel) & 1
    return out
