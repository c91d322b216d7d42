"""The pipeline: two shaders and a state, run stage by stage on tensors or at once on the hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpgpu_gl.errors import ShapeError
from gpgpu_gl.gl import source
from gpgpu_gl.gl.context import device
from gpgpu_gl.gl.raw import raw
from gpgpu_gl.pipeline.assemble import assemble
from gpgpu_gl.pipeline.bins import bin_primitives
from gpgpu_gl.pipeline.clip import clip
from gpgpu_gl.pipeline.coverage import rasterise
from gpgpu_gl.pipeline.cull import cull
from gpgpu_gl.pipeline.divide import divide
from gpgpu_gl.pipeline.early import allowed, early_depth, survivors
from gpgpu_gl.pipeline.edges import find_edges
from gpgpu_gl.pipeline.fetch import fetch
from gpgpu_gl.pipeline.fragment import shade_fragments
from gpgpu_gl.pipeline.hardware import draw
from gpgpu_gl.pipeline.interpolate import interpolate, place_fragments
from gpgpu_gl.pipeline.merge import Frame, merge
from gpgpu_gl.pipeline.offset import polygon_offset
from gpgpu_gl.pipeline.probe import Profile, probe
from gpgpu_gl.pipeline.program import Uniforms, build
from gpgpu_gl.pipeline.quads import find_quads
from gpgpu_gl.pipeline.setup import anchor, find_planes
from gpgpu_gl.pipeline.state import State, check_size
from gpgpu_gl.pipeline.target import own_targets
from gpgpu_gl.pipeline.trace import Trace
from gpgpu_gl.pipeline.vertex import shade_vertices, varyings
from gpgpu_gl.pipeline.viewport import viewport
from gpgpu_gl.pipeline.wrap import check_supported, link, outputs, read, wrapped


class Pipeline:
    """A vertex and a fragment shader with the state between and after them. Immutable.

    vertex, fragment: paths of GLSL files, or their text; version 330 or 300 es and newer, as they are. The other
    keywords are the fields of `State`, such as depth_test="less", cull="back", blend=Blend(...), samples=4.
    Raises ShaderError with file:line where a shader does not compile or the two do not fit; GpgpuError for a state.
    """

    def __init__(self, vertex: str | Path, fragment: str | Path, **state: Any) -> None:
        self.state = State.of(**state)
        self.vertex, self.fragment = read(vertex, "vertex"), read(fragment, "fragment")
        check_supported(self.fragment)
        self.link = link(self.vertex, self.fragment)
        self.outputs = outputs(self.fragment)
        self.declared = {v.name for s in (self.vertex, self.fragment) for v in s.interface.of("uniform")}
        self.declared |= {v.block for s in (self.vertex, self.fragment) for v in s.interface.of("uniform") if v.block}
        self.device = device()
        self._programs: dict[str, Any] = {}
        with self.device.hosted_state():
            self._program("hardware").release()
        self._programs.clear()

    def with_state(self, **changes: Any) -> Pipeline:
        """The same shaders with some of the state changed."""
        made = object.__new__(Pipeline)
        made.__dict__.update(self.__dict__, _programs={})
        State.of(**changes)  # an unknown name is an error
        made.state = replace(self.state, **changes)
        return made

    def _program(self, name: str) -> Any:
        """A program of this pipeline, compiled at first use: "vertex", "fragment", "counted" or "hardware"."""
        if name not in self._programs:
            ctx = self.device.ctx
            points = self.state.primitive == "points"
            if name == "vertex":
                captured = varyings(self.vertex, self.link)
                made = build(ctx, {"vertex": self.vertex.source()}, varyings=captured)
            elif name in ("fragment", "counted"):
                dialect = "es300" if self.fragment.interface.es else "330"
                cover = source.load("main/cover.glsl", {}, dialect)
                stages = {"vertex": cover, "fragment": wrapped(self.fragment, self.link, points, name == "counted")}
                made = build(ctx, stages, fragment_outputs=self._locations())
            else:
                stages = {"vertex": self.vertex.source(), "fragment": self.fragment.source()}
                made = build(ctx, stages, fragment_outputs=self._locations())
            self._programs[name] = made
        return self._programs[name]

    def _locations(self) -> dict[str, int]:
        plain = {v.name: v.location for v in self.fragment.interface.of("out")}
        return {
            name: at for name, at, _ in self.outputs if plain.get(name.split("[")[0], -1) < 0 and not name.endswith("]")
        }

    def _kinds(self) -> list[str]:
        """ "float" or "int" for every location up to the highest, "none" where nothing is written."""
        found = {at: "int" if kind != "float" else "float" for _, at, kind in self.outputs}
        return [found.get(at, "none") for at in range(max(found, default=-1) + 1)]

    def release(self) -> None:
        """Frees the programs; the next run compiles them anew."""
        raw().glUseProgram(0)  # a program in use would outlive its release
        for program in self._programs.values():
            program.release()
        self._programs.clear()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    # --- the emulator

    def run(
        self,
        attributes: Mapping[str, Any],
        indices: Any = None,
        uniforms: Mapping[str, Any] | None = None,
        size: tuple[int, int] = (640, 480),
        instances: int = 1,
        instance_attributes: Mapping[str, Any] | None = None,
        count: int | None = None,
        onto: Frame | None = None,
        profile: Profile | None = None,
        branches: bool = False,
    ) -> Trace:
        """Draws through every stage of the emulator and returns what each one made.

        attributes: name to an array or tensor with a row for each vertex; instance_attributes: with a row for each
        instance. indices: vertex numbers of any shape, read in order. count: vertices, where there are no attributes.
        uniforms: numbers, arrays and matrices as
        they are written (value[row][column]), nested dictionaries for structs and blocks, a Texture, an image array or
        a tensor for samplers. size: (width, height). onto: the frame to draw over; without it the targets are cleared.
        profile: how to rasterise, by default as this device does. branches: note which ifs of the fragment shader each
        fragment took, for `Trace.cost`. Raises GpgpuError and its kinds for bad input.
        """
        state, size = self.state, check_size(size)
        profile = profile or probe(self.device)
        _check_onto(onto, state, size, len(self._kinds()))
        with self.device.hosted_state(), own_targets(self.device.ctx):
            bound = Uniforms(self.device.ctx, uniforms or {}, self.declared)
            try:
                program = self._program("vertex")
                bound.apply(program)
                fetched = fetch(program, state, attributes, indices, instances, instance_attributes, count)
                planes = state.clip_distances
                if profile.clips_unasked and "gl_ClipDistance" in self.vertex.interface.words:
                    planes = 8  # those that the shader does not write cut nothing
                vertices = shade_vertices(self.device.ctx, program, self.vertex, self.link, fetched, planes)
                bound.unbind()
                assembled = assemble(fetched, state)
                clipped = clip(vertices, assembled, replace(state, clip_distances=planes), self.link.floats)
                ndc = divide(clipped.vertices.positions)
                window = viewport(ndc, state, size)
                trace = Trace(self, size, profile, fetched, vertices, assembled, clipped, ndc, window)
                trace.uniforms = bound.values
                self._rasterise(trace)
                trace.counted = branches
                self._shade(trace, bound, onto)
            finally:
                bound.release()
        return trace

    def _rasterise(self, trace: Trace) -> None:
        """Culling, edges, binning, coverage, quads."""
        state, profile, window = self.state, trace.profile, trace.window_position
        bits = profile.subpixel_bits
        primitives = trace.clipped.primitives
        if state.primitive == "triangles":
            primitives = cull(primitives, window, state, bits)
        trace.culled = len(trace.clipped.primitives) - len(primitives)
        trace.primitives = primitives
        sizes = trace.clipped.vertices.sizes
        trace.edges = find_edges(primitives, window, sizes, state, profile)
        trace.pairs = bin_primitives(trace.edges, trace.size, bits)
        trace.coverage = rasterise(trace.pairs, trace.edges, profile, state.samples)
        trace.quads_found = find_quads(trace.coverage, trace.pairs, primitives, state.samples)
        planes = find_planes(primitives, window, sizes, state, bits)
        if state.primitive == "triangles":
            planes = polygon_offset(planes, primitives, window, state)
        trace.planes = anchor(planes, trace.pairs, primitives, window, state, profile)

    def _shade(self, trace: Trace, bound: Uniforms, onto: Frame | None) -> None:
        """Interpolation, fragment shading, per-fragment operations."""
        state, quads = self.state, trace.quads_found
        points = state.primitive == "points"
        coord, weights = trace.fragcoord, trace.barycentric = place_fragments(quads, trace.planes, points)
        if allowed(state, self.fragment.interface.words, trace.pairs):
            trace.early = early_depth(state, trace.size, trace.pairs, quads, coord, onto)
            quads, trace.places = survivors(quads, trace.early)
            if len(quads) < len(trace.quads_found):
                coord, weights = place_fragments(quads, trace.planes, points)
        trace.quads_shaded = quads
        primitives, vertices = trace.primitives, trace.clipped.vertices
        inputs = {"em_coord": coord, "em_weights": weights, "em_quads": quads.table, "em_primitives": primitives.table}
        for name, slots, values in (
            ("em_float_slots", self.link.floats, vertices.float_table),
            ("em_int_slots", self.link.ints, vertices.int_table),
        ):
            if values is not None:
                inputs[name] = interpolate(quads, weights, primitives, values, slots, trace.planes, points, trace.profile)
        trace.slots = inputs
        program = self._program("counted" if trace.counted else "fragment")
        cover = self.device.ctx.vertex_array(program, [])
        flip = float(trace.size[1]) if "origin_upper_left" in self.fragment.interface.words else 0.0
        try:
            trace.shaded, trace.alive = shade_fragments(program, cover, bound, quads, inputs, self._kinds(), flip)
        finally:
            cover.release()
        trace.onto = onto
        trace.frame = merge(trace, "gl_FragDepth" in self.fragment.interface.words)

    # --- the hardware

    def run_hardware(
        self,
        attributes: Mapping[str, Any],
        indices: Any = None,
        uniforms: Mapping[str, Any] | None = None,
        size: tuple[int, int] = (640, 480),
        instances: int = 1,
        instance_attributes: Mapping[str, Any] | None = None,
        count: int | None = None,
        onto: Frame | None = None,
        statistics: dict[str, int] | None = None,
    ) -> Frame:
        """The same draw by the device's own rasteriser; takes what says what to draw, as `run` does.

        statistics: filled with OpenGL's pipeline statistics of the draw, by the names that `Cost` has, where the
        device counts them.
        """
        state, size = self.state, check_size(size)
        _check_onto(onto, state, size, len(self._kinds()))
        with self.device.hosted_state(), own_targets(self.device.ctx):
            bound = Uniforms(self.device.ctx, uniforms or {}, self.declared)
            try:
                program = self._program("hardware")
                fetched = fetch(program, state, attributes, indices, instances, instance_attributes, count)
                return draw(self.device.ctx, program, state, fetched, bound, size, self._kinds(), onto, statistics)
            finally:
                bound.release()


def _check_onto(onto: Frame | None, state: State, size: tuple[int, int], targets: int) -> None:
    if onto is None:
        return
    if state.samples != 1:
        raise ShapeError("onto= continues a frame of one sample; a multisample frame was resolved already")
    if onto.depth.shape != (size[1], size[0]) or len(onto.colors) != targets:
        raise ShapeError(
            f"onto= has {len(onto.colors)} targets of shape {onto.depth.shape}; this draw has {targets} of {(size[1], size[0])}"
        )
