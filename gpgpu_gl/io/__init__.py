"""Files of a run: weights, checkpoints, metrics; each written whole or not at all."""

from gpgpu_gl.io.atomic import make_folder, save_json, write_atomic
from gpgpu_gl.io.state import check_state, load_checkpoint, load_weights, save_checkpoint, save_weights

__all__ = [
    "check_state",
    "load_checkpoint",
    "load_weights",
    "make_folder",
    "save_checkpoint",
    "save_json",
    "save_weights",
    "write_atomic",
]
