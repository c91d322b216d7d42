"""Pictures with shaders of the kinds that tutorials and other programs have; they run as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpgpu_gl.pipeline.scenes import Draw, Scene, _pipeline, checks
from gpgpu_gl.pipeline.shapes import Mesh, ball, look_at, orthographic, perspective, plane, pot, separate, torus, turned
from gpgpu_gl.pipeline.texture import Texture

EYE = (2.2, 1.6, 2.6)
SIZE = (200, 150)
SOLID = {"depth_test": "less", "clear_color": (0.1, 0.1, 0.12, 1.0)}


def _named(mesh: Mesh, **names: str) -> dict[str, Any]:
    return {new: mesh[old] for new, old in names.items()}


def _camera() -> dict[str, Any]:
    return {"model": turned(20), "view": look_at(EYE), "projection": perspective()}


def _draw(vertex: str, fragment: str, state: Mapping[str, Any], **arguments: Any) -> Draw:
    return Draw(f"gallery/{vertex}.vert", f"gallery/{fragment}.frag", state, arguments)


def phong() -> Scene:
    """Phong's lighting with two lights: an array of structs among the uniforms."""
    mesh, indices = pot()
    lights = [{"position": [3, 3, 1], "color": [1, 0.95, 0.8]}, {"position": [-2, 1, 3], "color": [0.2, 0.3, 0.5]}]
    material = {
        "ambient": [0.05, 0.05, 0.08],
        "diffuse": [0.7, 0.4, 0.3],
        "specular": [0.8, 0.8, 0.8],
        "shininess": 32.0,
    }
    uniforms = _camera() | {"lights": lights, "material": material, "viewPos": EYE}
    draw = _draw(
        "phong",
        "phong",
        SOLID,
        attributes=_named(mesh, aPos="position", aNormal="normal"),
        indices=indices,
        uniforms=uniforms,
    )
    return Scene("Phong", (draw,), SIZE)


def bumps(side: int = 64) -> np.ndarray:
    """(side, side, 4) bytes: a normal map of round studs."""
    y, x = (np.mgrid[0:side, 0:side] + 0.5) / side * 2 * np.pi * 2
    n = np.stack([0.6 * np.sin(x) * np.cos(y), 0.6 * np.cos(x) * np.sin(y), np.ones_like(x)], -1)
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    return np.concatenate([np.rint((n * 0.5 + 0.5) * 255), np.full((side, side, 1), 255)], -1).astype(np.uint8)


def normal_map() -> Scene:
    """A normal map in tangent space: a matrix in an interface block."""
    mesh, indices = torus()
    uniforms = {
        "model_view": look_at(EYE) @ turned(60, 0), "projection": perspective(), "light_in_view": [2, 2, 0],
        "bumps": Texture(bumps()), "paint": Texture(checks()),
    }  # fmt: skip
    attributes = _named(mesh, position="position", normal="normal", tangent="tangent", uv="uv")
    return Scene(
        "normal map",
        (_draw("normal_map", "normal_map", SOLID, attributes=attributes, indices=indices, uniforms=uniforms),),
        SIZE,
        1,
    )


def demo() -> Scene:
    """A ring and a floor that reach beyond the view, so that clipping has something to cut."""
    ring, ring_indices = torus(16)
    floor, floor_indices = plane(6, -0.9)
    mesh = {name: np.concatenate([ring[name], floor[name] * (3 if name == "uv" else 1)]) for name in ring}
    indices = np.concatenate([ring_indices, floor_indices + len(ring["uv"])])
    uniforms = {
        "model_view": look_at((0.9, 0.5, 1.7), (0.1, -0.2, 0)) @ turned(35, 0), "projection": perspective(70),
        "light_in_view": [2, 3, 1], "bumps": Texture(bumps()), "paint": Texture(checks()),
    }  # fmt: skip
    attributes = _named(mesh, position="position", normal="normal", tangent="tangent", uv="uv")
    draw = _draw("normal_map", "normal_map", SOLID, attributes=attributes, indices=indices, uniforms=uniforms)
    return Scene("demo", (draw,), SIZE, 2)


def toon() -> Scene:
    """Few tones and an outline: branches on an array of thresholds."""
    mesh, indices = torus()
    uniforms = _camera() | {"viewPos": EYE, "sun": [1, 2, 1], "bands": [0.85, 0.5, 0.15]}
    draw = _draw(
        "phong",
        "toon",
        SOLID,
        attributes=_named(mesh, aPos="position", aNormal="normal"),
        indices=indices,
        uniforms=uniforms,
    )
    return Scene("toon", (draw,), SIZE, flips=6)


def fog() -> Scene:
    """Exponential fog over a floor, in GLSL ES 3.00."""
    mesh, indices = plane(9, -0.6)
    uniforms = {
        "u_mvp": perspective() @ look_at((0.3, 0.5, 6)),
        "u_ground": Texture(checks()),
        "u_fog": [0.6, 0.7, 0.8, 0.02],
    }
    attributes = {"a_position": mesh["position"], "a_uv": mesh["uv"] * 8}
    draw = _draw(
        "fog", "fog", {"clear_color": (0.6, 0.7, 0.8, 1)}, attributes=attributes, indices=indices, uniforms=uniforms
    )
    return Scene("fog", (draw,), SIZE, 1)


def noise() -> Scene:
    """Procedural noise from integer hashes, on a triangle without any attribute."""
    return Scene(
        "procedural noise",
        (_draw("noise", "noise", {}, attributes={}, count=3, uniforms={"time": 0.37, "octaves": 4}),),
        SIZE,
    )


def shadow() -> Scene:
    """A shadow map: the depth of a first draw is a sampler2DShadow of the next; a uniform block."""
    mesh, indices = pot()
    floor, floor_indices = plane(4, -0.75)
    sun = (-3.0, 3.2, 0.8)
    space = orthographic(2.2, 0.5, 9) @ look_at(sun)
    model = turned(20)
    both = [(mesh, indices, model), (floor, floor_indices, np.eye(4, dtype=np.float32))]
    frame = None
    for one, order, matrix in both:
        arguments: dict[str, Any] = {
            "attributes": {"aPos": one["position"]},
            "indices": order,
            "uniforms": {"lightSpace": space, "model": matrix},
        }
        draw = Draw("gallery/depth_only.vert", "gallery/depth_only.frag", {"depth_test": "less"}, arguments)
        with _pipeline(draw) as pipeline:
            frame = pipeline.run(size=(128, 128), onto=frame, **arguments).frame
    depth = frame.depth.numpy() if frame is not None else np.ones((128, 128), np.float32)
    shadow_map = Texture(depth, "linear", wrap="clamp_to_edge", kind="shadow")
    draws = []
    for one, order, matrix in both:
        camera = {"view": look_at(EYE), "projection": perspective(), "sun": [*sun, 0]}
        uniforms = {"Camera": camera, "model": matrix, "lightSpace": space, "bias": 0.02, "shadowMap": shadow_map}
        attributes = _named(one, aPos="position", aNormal="normal")
        draws.append(_draw("shadow", "shadow", SOLID, attributes=attributes, indices=order, uniforms=uniforms))
    return Scene("shadow map", tuple(draws), SIZE)


def environment() -> Scene:
    """Reflection and refraction of a cube map."""
    mesh, indices = ball()
    rng = np.random.default_rng(4)
    y, x = np.mgrid[0:32, 0:32] / 31
    faces = []
    for i in range(6):
        tint = rng.uniform(0.2, 1, 3)
        faces.append(np.stack([tint[0] * x, tint[1] * y, tint[2] * (1 - x * y) + 0.2 * (np.sin(12 * x + i) > 0)], -1))
    sky = np.clip(np.array(faces) * 255, 0, 255).astype(np.uint8)
    uniforms = _camera() | {"eye": EYE, "sky": Texture(sky, kind="cube", wrap="clamp_to_edge")}
    draw = _draw(
        "environment",
        "environment",
        SOLID,
        attributes=_named(mesh, position="position", normal="normal"),
        indices=indices,
        uniforms=uniforms,
    )
    return Scene("environment map", (draw,), SIZE)


def post() -> Scene:
    """A post effect on a picture: blur, vignette, sepia."""
    uniforms = {"screen": Texture(checks(), "linear", wrap="clamp_to_edge"), "kernel": [0.1, 0.2, 0.4, 0.2, 0.1]}
    return Scene("post effect", (_draw("noise", "post", {}, attributes={}, count=3, uniforms=uniforms),), SIZE)


def ray_march() -> Scene:
    """A scene of distance functions, marched in a loop with a break."""
    uniforms = {"resolution": SIZE, "time": 0.8}
    return Scene(
        "ray march", (_draw("noise", "ray_march", {}, attributes={}, count=3, uniforms=uniforms),), SIZE, flips=12
    )


def wireframe() -> Scene:
    """Lines along the triangles' edges by barycentrics and fwidth."""
    mesh, indices = ball(12)
    attributes = _named(separate(mesh, indices), position="position", corner="corner")
    mvp = perspective() @ look_at(EYE) @ turned(30)
    return Scene(
        "wireframe", (_draw("wireframe", "wireframe", SOLID, attributes=attributes, uniforms={"mvp": mvp}),), SIZE
    )


GALLERY: dict[str, Callable[[], Scene]] = {
    made.__name__: made
    for made in (phong, normal_map, toon, fog, noise, shadow, environment, post, ray_march, wireframe)
}
