"""Materials: how a surface answers to light. Colours are linear numbers, or sRGB as names and hex strings."""

from __future__ import annotations

from typing import Any

from gpgpu_gl.errors import GpgpuError
from gpgpu_gl.render.color import Color, linear
from gpgpu_gl.render.texture import Texture, as_texture

UNLIT, LAMBERT, PHONG, STANDARD, NORMALS, DEPTH = range(6)
ALPHA_MODES = ("opaque", "blend", "mask")


class Material:
    """Base of all materials.

    color, map: the base colour and its texture, multiplied; vertex colours of the geometry are multiplied in unless
    vertex_colors is False. opacity: below 1 the surface is blended. alpha_mode: "opaque", "blend", or "mask" (cut off
    below alpha_cutoff). double_sided: drawn from behind, too. wireframe: the triangles' edges only.
    emissive, emissive_map: light of its own. normal_map: bumps, in tangent space with y up, as glTF's.
    """

    shading = UNLIT

    def __init__(
        self,
        color: Color = 1.0,
        map: Any = None,  # noqa: A002
        opacity: float = 1.0,
        alpha_mode: str | None = None,
        alpha_cutoff: float = 0.5,
        double_sided: bool = False,
        wireframe: bool = False,
        vertex_colors: bool = True,
        emissive: Color = 0.0,
        emissive_map: Any = None,
        normal_map: Any = None,
        normal_scale: float = 1.0,
        name: str = "",
    ) -> None:
        self.name = name
        self.color = linear(color)
        self.map = as_texture(map)
        self.opacity = float(opacity)
        self.alpha_mode = alpha_mode if alpha_mode is not None else "blend" if opacity < 1 else "opaque"
        if self.alpha_mode not in ALPHA_MODES:
            raise GpgpuError(f"alpha_mode {alpha_mode!r} is unknown: use one of {', '.join(ALPHA_MODES)}")
        self.alpha_cutoff = float(alpha_cutoff)
        self.double_sided = double_sided
        self.wireframe = wireframe
        self.vertex_colors = vertex_colors
        self.emissive = linear(emissive)
        self.emissive_map = as_texture(emissive_map)
        self.normal_map = as_texture(normal_map, srgb=False)
        self.normal_scale = float(normal_scale)

    def textures(self) -> dict[str, Texture]:
        """The textures that there are, by the sampler's name."""
        given = {"map": self.map, "normal_map": self.normal_map, "emissive_map": self.emissive_map}
        return {name: texture for name, texture in given.items() if texture is not None}

    def uniforms(self) -> dict[str, Any]:
        """The material's numbers, by the uniform's name."""
        return {
            "base_color": (*self.color, self.opacity),
            "alpha_cutoff": self.alpha_cutoff,
            "emissive": self.emissive,
            "normal_scale": self.normal_scale,
        }


class UnlitMaterial(Material):
    """The base colour as it is, whatever the light."""


class WireframeMaterial(Material):
    """The edges of the triangles in one colour."""

    def __init__(self, **material: Any) -> None:
        super().__init__(**{"wireframe": True, **material})


class LambertMaterial(Material):
    """Matt: light by the cosine of its angle (J. Lambert, 1760)."""

    shading = LAMBERT


class PhongMaterial(Material):
    """Matt with a highlight (J. Blinn, 1977). specular: its colour; shininess: its exponent."""

    shading = PHONG

    def __init__(self, color: Color = 1.0, specular: Color = 0.3, shininess: float = 40.0, **material: Any) -> None:
        super().__init__(color, **material)
        self.specular = linear(specular)
        self.shininess = float(shininess)

    def uniforms(self) -> dict[str, Any]:
        return super().uniforms() | {"specular": self.specular, "shininess": self.shininess}


class StandardMaterial(Material):
    """Metallic-roughness, as glTF 2.0. roughness_map: green is roughness, blue metallic; occlusion_map: red."""

    shading = STANDARD

    def __init__(
        self,
        color: Color = 1.0,
        metallic: float = 0.0,
        roughness: float = 0.5,
        roughness_map: Any = None,
        occlusion_map: Any = None,
        **material: Any,
    ) -> None:
        super().__init__(color, **material)
        self.metallic, self.roughness = float(metallic), float(roughness)
        self.roughness_map = as_texture(roughness_map, srgb=False)
        self.occlusion_map = as_texture(occlusion_map, srgb=False)

    def textures(self) -> dict[str, Texture]:
        more = {"roughness_map": self.roughness_map, "occlusion_map": self.occlusion_map}
        return super().textures() | {name: texture for name, texture in more.items() if texture is not None}

    def uniforms(self) -> dict[str, Any]:
        return super().uniforms() | {"metallic": self.metallic, "roughness": self.roughness}


class NormalMaterial(Material):
    """Shows the normal in the world: red x, green y, blue z, from -1 to 1."""

    shading = NORMALS


class DepthMaterial(Material):
    """Shows the distance along the view: white at `near`, black at `far` (of the camera by default)."""

    shading = DEPTH

    def __init__(self, near: float | None = None, far: float | None = None, **material: Any) -> None:
        super().__init__(**material)
        self.near, self.far = near, far
