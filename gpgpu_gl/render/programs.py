"""Programs of the renderer: a vertex and a fragment file of shaders/render/, with defines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import moderngl

from gpgpu_gl.errors import ShaderError
from gpgpu_gl.gl import programs, source

Defines = Mapping[str, int]


class Program(programs.Program):
    """A linked program that remembers its uniforms; `uniforms` holds its attributes' names, too."""

    def __init__(self, ctx: moderngl.Context, vertex: str, fragment: str, defines: Defines) -> None:
        self.kernel = f"render/{vertex}+{fragment}"
        self.path = "render"
        self.detail = ""
        self.local = (1, 1)
        stages = stage_sources(vertex, fragment, defines)
        try:
            self.program: Any = ctx.program(vertex_shader=stages["vertex"].text, fragment_shader=stages["fragment"].text)
        except moderngl.Error as error:
            raise ShaderError(explained(str(error), vertex, fragment, stages)) from None
        self.vao: Any = None
        self.uniforms = {name: self.program[name] for name in self.program}
        self.values: dict[str, Any] = {}
        self.units: dict[str, int] = {}


def explained(log: str, vertex: str, fragment: str, stages: Mapping[str, source.Source]) -> str:
    """The driver's log with file:line of the stage that it is about."""
    stage = "vertex" if "vertex_shader" in log[:400] else "fragment"
    return f"the shaders {vertex} and {fragment} do not compile:\n" + source.explain(log, stages[stage])


def stage_sources(vertex: str, fragment: str, defines: Defines, dialect: str = "330") -> dict[str, source.Source]:
    """The text of both stages. vertex: a file of shaders/render/ or "cover", the triangle over the whole target."""
    first = "main/cover.glsl" if vertex == "cover" else f"render/{vertex}.glsl"
    return {
        "vertex": source.load(first, {} if vertex == "cover" else dict(defines), dialect),
        "fragment": source.load(f"render/{fragment}.glsl", dict(defines), dialect),
    }


def build_cases() -> Iterator[tuple[str, dict[str, int], str, str]]:
    """Shaders to validate: (file, defines, stage, dialect), every option of the renderer at least once."""
    full = {"UV": 1, "COLORS": 1, "SHADOWS": 2, "LIGHTS": 3}
    for light, (kind, ranged, shadow) in enumerate(((0, 0, 0), (1, 1, -1), (2, 0, 1))):
        full |= {f"LIGHT{light}_KIND": kind, f"LIGHT{light}_RANGED": ranged, f"LIGHT{light}_SHADOW": shadow}
    maps = {"MAP": 4, "NORMAL_MAP": 1, "EMISSIVE_MAP": 1, "ROUGHNESS_MAP": 1, "OCCLUSION_MAP": 1}
    mesh: list[dict[str, int]] = [{"SHADING": n} for n in range(6)]
    shown = {"TONE": 2, "ENCODE": 1, "EXPOSED": 1, "CLAMP": 1, "EMISSIVE": 1, "TWO_SIDED": 1}
    mesh += [{**full, **maps, **shown, "SHADING": 3, "ENVIRONMENT": 1, "FOG": 1, "ALPHA": 1}]
    mesh += [{**full, "SHADING": 2, "MAP": 1, "MAP_ENCODED": 1, "FOG": 2, "ALPHA": 2, "TONE": 1, "IDS": 1}]
    mesh += [{"SHADING": 1, "INSTANCED": 1, "INSTANCE_COLORS": 1, "ENVIRONMENT": 1}, {"SHADING": 0, "OUTLINE": 1}]
    mesh += [{"SHADING": 1, "SKIN": 1}]
    pairs: list[tuple[str, str, dict[str, int]]] = [("mesh_vertex", "mesh_fragment", d) for d in mesh]
    pairs += [("mesh_vertex", "depth_fragment", {"DEPTH_ONLY": 1, **d}) for d in ({}, {"SKIN": 1}, {"INSTANCED": 1})]
    for vertex in ("points_vertex", "lines_vertex"):
        pairs += [(vertex, "flat_fragment", d) for d in ({}, {"COLORS": 1, "ROUND": 1, "FOG": 1}, {"IDS": 1, "FOG": 2})]
    pairs += [("cover", "sky", {"TONE": 2}), ("cover", "present", {"FLIP": 1, "ENCODE": 1})]
    pairs += [("cover", "present", {"CHANNELS": n}) for n in (1, 3, 4)]
    pairs += [("cover", "overlay", {}), ("cover", "prefilter", {})]
    for vertex, fragment, defines in pairs:
        for dialect in ("330", "es300"):
            if vertex != "cover":
                yield f"render/{vertex}.glsl", defines, "vertex", dialect
            yield f"render/{fragment}.glsl", defines, "fragment", dialect
