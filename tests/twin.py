"""The NumPy twin of the small CNN, under the name that tests know it by."""

from gpgpu_gl.numpy_cnn import *  # noqa: F403
