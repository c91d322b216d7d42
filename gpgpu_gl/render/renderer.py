"""Draws a scene into a framebuffer: shadow maps, sky, opaque surfaces, outlines, then transparent ones from far to near."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

from gpgpu_gl.gl.raw import raw
from gpgpu_gl.render.camera import Camera
from gpgpu_gl.render.environment import prefiltered
from gpgpu_gl.render.gpu import Gpu
from gpgpu_gl.render.material import DEPTH, Material, UnlitMaterial
from gpgpu_gl.render.mesh import InstancedMesh, Lines, Mesh, Points
from gpgpu_gl.render.nodes import Node
from gpgpu_gl.render.programs import Program
from gpgpu_gl.render.state import (
    BLEND,
    CULL_FACE,
    DEPTH_TEST,
    FRAMEBUFFER_SRGB,
    POLYGON_OFFSET_FILL,
    PROGRAM_POINT_SIZE,
)
from gpgpu_gl.render.table import WHOLE, Crop
from gpgpu_gl.render.view import TONES, View, view_of, world_corners
from gpgpu_gl.tensor import Tensor

_ALPHA = (moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)
_ADD = (moderngl.SRC_ALPHA, moderngl.ONE, moderngl.ONE, moderngl.ONE)


def prepare(gpu: Gpu, root: Node, camera: Camera | None, size: tuple[int, int], crop: Crop = WHOLE) -> View:
    """A view of the scene with its shadow maps drawn."""
    view = view_of(gpu, root, camera, size, crop)
    _draw_shadows(view)
    return view


def _draw_shadows(view: View) -> None:
    ctx = view.gpu.ctx
    view.gpu.engine.settle(moderngl.TEXTURE_FETCH_BARRIER_BIT)  # as in draw()
    for index, (number, light) in enumerate(view.shadow_cameras):
        framebuffer, depth = view.gpu.shadow_map(index, light.shadow_size)  # type: ignore[attr-defined]
        framebuffer.use()
        framebuffer.clear(depth=1.0)
        ctx.disable_direct(BLEND)
        ctx.disable_direct(CULL_FACE)
        ctx.enable_direct(DEPTH_TEST)
        ctx.depth_func = "<="
        ctx.enable_direct(POLYGON_OFFSET_FILL)
        raw().glPolygonOffset(1.5, 2.0)  # moderngl's own setting would switch the offsets of points and lines on too
        for mesh in view.drawables:
            if isinstance(mesh, Mesh) and mesh.casts_shadow and not mesh.material.wireframe:
                defines = _mesh_defines(mesh) | {"DEPTH_ONLY": 1}
                for name in ("UV", "COLORS", "INSTANCE_COLORS"):
                    defines.pop(name, None)
                program = view.gpu.program("mesh_vertex", "depth_fragment", defines)
                program.set("view", view.table.view_slot(number))
                _draw_mesh(view, program, mesh)
        ctx.disable_direct(POLYGON_OFFSET_FILL)
        view.shadows.append(depth)


def _mesh_defines(mesh: Mesh) -> dict[str, int]:
    geometry, defines = mesh.geometry, {}
    if geometry.uvs is not None:
        defines["UV"] = 1
    if geometry.colors is not None and mesh.material.vertex_colors:
        defines["COLORS"] = 1
    if isinstance(mesh, InstancedMesh):
        defines["INSTANCED"] = 1
        if mesh.colors is not None:
            defines["INSTANCE_COLORS"] = 1
    if mesh.skin is not None:
        defines["SKIN"] = 1
    return defines


_UNITS = {"matrices": 0, "instances": 1, "instance_colors": 2, "joints": 3, "positions": 1, "colors": 2}
_FIRST_MAP, _FIRST_SHADOW, _ENVIRONMENT = 4, 10, 14


def _bind(view: View, program: Program, name: str, t: Tensor) -> None:
    program.bind(name, _UNITS[name])
    program.set(f"{name}_layout", view.gpu.bind_tensor(_UNITS[name], t))


def _draw_mesh(view: View, program: Program, mesh: Mesh) -> None:
    """Binds what the vertex stage reads, and draws."""
    if not mesh.geometry.indices.size or not mesh.instance_count:
        return
    program.set("node", view.table.slot(mesh))
    if isinstance(mesh, InstancedMesh):
        _bind(view, program, "instances", mesh.matrices)
        if mesh.colors is not None and "instance_colors" in program.uniforms:
            _bind(view, program, "instance_colors", mesh.colors)
    if mesh.skin is not None:
        _bind(view, program, "joints", view.joints[id(mesh)])
    _bind(view, program, "matrices", view.matrices)
    wireframe = mesh.material.wireframe and "base_color" in program.uniforms
    array = view.gpu.buffers(mesh.geometry).array(program, mesh.geometry, wireframe)
    array.render(moderngl.LINES if wireframe else moderngl.TRIANGLES, instances=mesh.instance_count)
    view.gpu.draw_calls += 1


def draw(
    view: View, framebuffer: Any, encode: bool, flipped: bool, tone: int | None = None, ids: bool = False, clamp: bool = False
) -> None:
    """Draws the view into a framebuffer.

    encode: the framebuffer stores sRGB itself (GL_FRAMEBUFFER_SRGB). flipped: the picture's first line is its top. tone: None
    for the scene's. ids: the framebuffer has four attachments: colour, normal, position with depth, and ids. clamp: light
    above 1 is cut off before samples are averaged, so that bright edges stay smooth on a display.
    """
    ctx, scene = view.gpu.ctx, view.scene
    view.defines["TONE"] = TONES[scene.tone] if tone is None else tone
    view.defines["CLAMP"] = int(clamp)
    view.defines["EXPOSED"] = int(scene.exposure != 1.0 and tone is None)
    # Before the clear: a barrier after it would have llvmpipe write the cleared picture, and then draw into it.
    view.gpu.engine.settle(moderngl.TEXTURE_FETCH_BARRIER_BIT)
    framebuffer.use()
    ctx.enable_direct(FRAMEBUFFER_SRGB) if encode else ctx.disable_direct(FRAMEBUFFER_SRGB)
    ctx.disable_direct(BLEND)
    ctx.enable_direct(PROGRAM_POINT_SIZE)
    ctx.front_face = "cw" if flipped else "ccw"
    if ids:
        framebuffer.clear(0.0, 0.0, 0.0, 0.0, depth=1.0)
    else:
        background = (0.0, 0.0, 0.0, 0.0) if scene.background is None else (*scene.background, 1.0)
        framebuffer.clear(*background, depth=1.0)
        if scene.environment is not None and scene.sky:
            _draw_sky(view)
    ctx.enable_direct(DEPTH_TEST)
    ctx.depth_func = "<="
    opaque, blended = _sorted(view)
    for drawable in opaque:
        _draw(view, drawable, ids)
    if not ids:
        for node in scene.outlined:
            for mesh in node.walk():
                if isinstance(mesh, Mesh) and id(mesh) in view.table.slots:
                    _draw_outline(view, mesh)
    if blended:
        framebuffer.depth_mask = ids
        for drawable in blended:
            if ids:
                _draw(view, drawable, True)
                continue
            ctx.enable_direct(BLEND)
            blend: Any = _ADD if getattr(drawable, "additive", False) else _ALPHA
            ctx.blend_func = blend
            if isinstance(drawable, Mesh) and drawable.material.double_sided:
                for side in ("front", "back"):  # the far side first
                    _draw(view, drawable, False, cull=side)
            else:
                _draw(view, drawable, False)
        framebuffer.depth_mask = True
        ctx.disable_direct(BLEND)


def _display(view: View) -> dict[str, int]:
    return {name: view.defines[name] for name in ("TONE", "CLAMP", "EXPOSED")}


def _sorted(view: View) -> tuple[list[Any], list[Any]]:
    """Opaque drawables as they come, and blended ones from far to near."""
    opaque: list[Any] = []
    blended: list[Any] = []
    for d in view.drawables:
        see_through = d.material.alpha_mode == "blend" if isinstance(d, Mesh) else d.opacity < 1 or d.additive
        (blended if see_through else opaque).append(d)
    if len(blended) > 1:
        forward = np.asarray(view.camera.forward)
        blended.sort(key=lambda d: -float(world_corners(view.table, d).mean(axis=0) @ forward))
    return opaque, blended


def _draw_sky(view: View) -> None:
    gpu = view.gpu
    gpu.ctx.disable_direct(DEPTH_TEST)
    gpu.ctx.disable_direct(CULL_FACE)
    program = gpu.program("cover", "sky", _display(view))
    _set(program, view.uniforms)
    _bind_environment(view, program)
    _bind(view, program, "matrices", view.matrices)
    gpu.no_attributes(program).render(moderngl.TRIANGLES, vertices=3)


def _bind_environment(view: View, program: Program) -> None:
    if view.scene.environment is not None:
        prefiltered(view.gpu, view.scene.environment).use(_ENVIRONMENT)
        view.gpu.unsample(_ENVIRONMENT)
        program.bind("environment_map", _ENVIRONMENT)


def _set(program: Program, uniforms: dict[str, Any]) -> None:
    for name, value in uniforms.items():
        program.set(name, value)


def _draw(view: View, drawable: Mesh | Points, ids: bool, cull: str | None = None) -> None:
    if isinstance(drawable, Points):
        _draw_points(view, drawable, ids)
        return
    ctx, material = view.gpu.ctx, drawable.material
    if cull is None and material.double_sided or material.wireframe:
        ctx.disable_direct(CULL_FACE)
    else:
        ctx.enable_direct(CULL_FACE)
        ctx.cull_face = cull or "back"
    program = view.gpu.program("mesh_vertex", "mesh_fragment", material_defines(view, drawable, ids))
    _set(program, view.uniforms)
    _set(program, material.uniforms())
    if material.shading == DEPTH:
        near, far = material.near, material.far  # type: ignore[attr-defined]
        program.set("depth_range", (view.camera.near if near is None else near, view.camera.far if far is None else far))
    for n, (name, texture) in enumerate(material.textures().items()):
        if name in program.uniforms:
            program.bind(name, _FIRST_MAP + n)
            view.gpu.bind_texture(_FIRST_MAP + n, texture)
    for n, depth in enumerate(view.shadows):
        depth.use(_FIRST_SHADOW + n)
        view.gpu.unsample(_FIRST_SHADOW + n)
        program.bind(f"shadow_map{n}", _FIRST_SHADOW + n)
    _bind_environment(view, program)
    if ids:
        program.set("object_id", view.ids[id(drawable)])
    _draw_mesh(view, program, drawable)


def material_defines(view: View, mesh: Mesh, ids: bool = False) -> dict[str, int]:
    """The options of the shaders that draw this mesh; unlit ones leave lights and shadows out."""
    material: Material = mesh.material
    lit = material.shading in (1, 2, 3)
    defines = {**_mesh_defines(mesh), "SHADING": material.shading, **_display(view)}
    if lit:
        defines |= view.lights
        if view.scene.environment is not None:
            defines["ENVIRONMENT"] = 1
    if "FOG" in view.defines:
        defines["FOG"] = view.defines["FOG"]
    if "UV" in defines:
        for name, texture in material.textures().items():
            defines[name.upper()] = texture.channels if name == "map" else 1
            if name == "map" and texture.srgb and (texture.tensor is not None or texture.levels[0].dtype != np.uint8):
                defines["MAP_ENCODED"] = 1
        if material.shading not in (3,):
            defines.pop("ROUGHNESS_MAP", None)
        if not any(n.endswith("MAP") for n in defines):
            del defines["UV"]
    if material.alpha_mode != "opaque":
        defines["ALPHA"] = 1 if material.alpha_mode == "blend" else 2
    if any(material.emissive):
        defines["EMISSIVE"] = 1
    if material.double_sided:
        defines["TWO_SIDED"] = 1
    if ids:
        defines["IDS"] = 1
    return defines


def _draw_outline(view: View, mesh: Mesh) -> None:
    """The back faces, pushed outwards: what shows beyond the mesh itself is its outline."""
    ctx, scene = view.gpu.ctx, view.scene
    defines = {**_mesh_defines(mesh), "SHADING": 0, "OUTLINE": 1, **_display(view)}
    for name in ("UV", "COLORS", "INSTANCE_COLORS"):
        defines.pop(name, None)
    program = view.gpu.program("mesh_vertex", "mesh_fragment", defines)
    _set(program, view.uniforms)
    _set(program, UnlitMaterial(color=scene.outline_color).uniforms())
    program.set("outline", scene.outline_width)
    ctx.enable_direct(CULL_FACE)
    ctx.cull_face = "front"
    _draw_mesh(view, program, mesh)
    ctx.cull_face = "back"


def _draw_points(view: View, points: Points, ids: bool) -> None:
    count = points.primitives
    if count == 0:
        return
    lines = isinstance(points, Lines)
    defines = {**_display(view), "ROUND": int(points.round and not lines)}
    if points.colors is not None:
        defines["COLORS"] = 1
    if "FOG" in view.defines:
        defines["FOG"] = view.defines["FOG"]
    if ids:
        defines["IDS"] = 1
    gpu = view.gpu
    gpu.ctx.disable_direct(CULL_FACE)
    program = gpu.program("lines_vertex" if lines else "points_vertex", "flat_fragment", defines)
    _set(program, view.uniforms)
    program.set("base_color", (*points.color, points.opacity))
    program.set("size", points.size)
    program.set("node", view.table.slot(points))
    if isinstance(points, Lines):
        program.set("stride", 2 if points.segments else 1)
    else:
        program.set("world_size", float(points.world_size))
    if ids:
        program.set("object_id", view.ids[id(points)])
    _bind(view, program, "positions", points.positions)
    if points.colors is not None:
        _bind(view, program, "colors", points.colors)
    _bind(view, program, "matrices", view.matrices)
    mode, vertices = (moderngl.TRIANGLES, 6 * count) if lines else (moderngl.POINTS, count)
    gpu.no_attributes(program).render(mode, vertices=vertices)
    gpu.draw_calls += 1
