"""A renderer that shares its context with the tensors: scenes, cameras, lights, materials, pictures.

    import gpgpu_gl as gg
    scene = gg.render.Scene([gg.render.Mesh(gg.render.shapes.teapot())])
    gg.render.image(scene, 800, 600).save("teapot.png")
"""

from gpgpu_gl.render import post, shapes, transform
from gpgpu_gl.render.app import App, show
from gpgpu_gl.render.camera import Camera, OrthographicCamera, PerspectiveCamera
from gpgpu_gl.render.environment import Environment
from gpgpu_gl.render.geometry import Geometry
from gpgpu_gl.render.gpu import release
from gpgpu_gl.render.image import Picture, buffers, depth, image, picture, tensor
from gpgpu_gl.render.light import AmbientLight, DirectionalLight, Light, PointLight, SpotLight
from gpgpu_gl.render.load import load
from gpgpu_gl.render.material import (
    DepthMaterial,
    LambertMaterial,
    Material,
    NormalMaterial,
    PhongMaterial,
    StandardMaterial,
    UnlitMaterial,
    WireframeMaterial,
)
from gpgpu_gl.render.mesh import InstancedMesh, Lines, Mesh, Points, Skin
from gpgpu_gl.render.movie import save_frames
from gpgpu_gl.render.nodes import Fog, Group, Node, Scene, turn
from gpgpu_gl.render.paint import paint
from gpgpu_gl.render.pick import Hit, pick
from gpgpu_gl.render.texture import Texture
from gpgpu_gl.render.window import Window
