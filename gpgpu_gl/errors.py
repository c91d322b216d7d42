"""The errors that the library raises: each names the thing, the limit and the remedy."""


class GpgpuError(Exception):
    """Base of every error raised on purpose by gpgpu_gl."""


class ShapeError(GpgpuError, ValueError):
    """Shapes, axes or indices that do not fit; the message holds the shapes and the rule."""


class DTypeError(GpgpuError, TypeError):
    """A dtype that an operator or the device does not support."""


class DeviceError(GpgpuError, RuntimeError):
    """OpenGL cannot be started, lacks something, or reported an error."""


class ContextLost(DeviceError):
    """The OpenGL context was reset or lost; its textures are gone."""


class OutOfTextureMemory(GpgpuError, MemoryError):
    """A texture does not fit the device's limits or the pool's byte cap."""


class ShaderError(GpgpuError):
    """A shader that cannot be loaded or compiled; the message holds file:line."""


class FileError(GpgpuError, ValueError):
    """A file that is missing, truncated or of the wrong kind; the message names it."""


class NonFiniteLoss(GpgpuError, ArithmeticError):
    """Training reached a NaN or infinite loss; the last good checkpoint is kept."""
