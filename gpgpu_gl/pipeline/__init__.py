"""The graphics pipeline, emulated: unmodified shaders through explicit stages, each stage's result a tensor.

from gpgpu_gl.pipeline import Pipeline
p = Pipeline(vertex="phong.vert", fragment="phong.frag", depth_test="less", cull="back")
trace = p.run({"position": P, "normal": N}, indices=I, uniforms={"mvp": M}, size=(640, 480))
trace.color, trace.depth                 # tensors
hw = p.run_hardware({"position": P, "normal": N}, indices=I, uniforms={"mvp": M}, size=(640, 480))
"""

from gpgpu_gl.pipeline.cost import Clocks, Cost
from gpgpu_gl.pipeline.history import Event
from gpgpu_gl.pipeline.merge import Frame
from gpgpu_gl.pipeline.pipeline import Pipeline
from gpgpu_gl.pipeline.probe import Profile, probe
from gpgpu_gl.pipeline.state import Blend, State, Stencil
from gpgpu_gl.pipeline.texture import Texture
from gpgpu_gl.pipeline.trace import Trace

__all__ = [
    "Blend",
    "Clocks",
    "Cost",
    "Event",
    "Frame",
    "Pipeline",
    "Profile",
    "State",
    "Stencil",
    "Texture",
    "Trace",
    "probe",
]
