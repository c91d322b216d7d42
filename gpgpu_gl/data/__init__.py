"""Data sets, their batches, and pictures of any kind made into network input."""

from gpgpu_gl.data.batches import Batches, normalise
from gpgpu_gl.data.dataset import Dataset, load
from gpgpu_gl.data.digit import prepare_digit
from gpgpu_gl.data.picture import prepare_plain

__all__ = ["Batches", "Dataset", "load", "normalise", "prepare_digit", "prepare_plain"]
