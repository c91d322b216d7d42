"""Data sets, their batches, and pictures of any kind made into network input."""

from gpgpu_gl.data.batches import Batches, normalise
from gpgpu_gl.data.dataset import Dataset, load

__all__ = ["Batches", "Dataset", "load", "normalise"]
