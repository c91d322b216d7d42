"""Shuffled batches of images as network input, in an order that the seed alone decides."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpgpu_gl.errors import FileError, ShapeError


def normalise(images: np.ndarray) -> np.ndarray:
    """Bytes as network input: (N, H, W) or (N, H, W, C) uint8 to (N, H, W, C) float32 from 0 to 1.

    Training, testing and prediction all come through here. Black stays exactly 0, the value that "same" padding adds,
    so that a digit's surroundings go on beyond the picture's edge.
    """
    if images.dtype != np.uint8 or images.ndim not in (3, 4):
        raise ShapeError(
            f"images are (N, H, W) or (N, H, W, C) of uint8, got shape {images.shape} of {images.dtype.name}"
        )
    if images.ndim == 3:
        images = images[..., np.newaxis]
    return images.astype(np.float32) / np.float32(255)


def epoch_order(count: int, seed: int, epoch: int) -> np.ndarray:
    """A permutation of 0 to count - 1, (count,) int64, the same on every machine and with every NumPy.

    Sorting the raw words of Philox4x64 gives that: NumPy promises to keep a bit generator's words, but not what
    Generator.permutation makes of them.
    """
    words = np.random.Philox(key=np.array([seed, epoch], dtype=np.uint64)).random_raw(count)
    return np.argsort(words, kind="stable")


class Batches:
    """An endless supply of shuffled batches, one epoch for each `for` loop over it.

    images: (N, H, W) or (N, H, W, C) uint8; labels: (N,) integers; seed: 0 to 2**64 - 1
    Yields (images (B, H, W, C) float32 as normalise() makes them, labels (B,) int32). The last batch of an epoch may be
    smaller, unless drop_last leaves it out. A loop that was left early, or a state that was loaded, goes on
    with the next batch of the same epoch.
    """

    def __init__(self, images: np.ndarray, labels: np.ndarray, batch_size: int, seed: int = 0, drop_last: bool = False):
        if len(images) != len(labels):
            raise ShapeError(f"{len(images)} images with {len(labels)} labels: each image needs one label")
        if batch_size < 1 or batch_size > len(images):
            raise ShapeError(f"batch size {batch_size} with {len(images)} images: it must be from 1 to {len(images)}")
        if not 0 <= seed < 2**64:
            raise ShapeError(f"seed {seed}: it must be from 0 to 2**64 - 1")
        self.images, self.labels = images, labels
        self.batch_size, self.seed, self.drop_last = int(batch_size), int(seed), bool(drop_last)
        self.epoch = 0  # the epoch that the next batch belongs to
        self.position = 0  # how many images of that epoch's order were handed out

    def __len__(self) -> int:
        """Batches in a whole epoch."""
        return -(-self._end // self.batch_size)

    @property
    def _end(self) -> int:
        count = len(self.images)
        return count - count % self.batch_size if self.drop_last else count

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        order = epoch_order(len(self.images), self.seed, self.epoch)
        epoch = self.epoch
        while self.epoch == epoch:
            chosen = order[self.position : min(self.position + self.batch_size, self._end)]
            # moved on before the batch is handed out: a state saved after training on it starts with the next
            self.position += len(chosen)
            if self.position >= self._end:
                self.epoch, self.position = self.epoch + 1, 0
            yield normalise(self.images[chosen]), self.labels[chosen].astype(np.int32)

    def state_dict(self) -> dict[str, Any]:
        """Where the order stands, as plain numbers for JSON; with the settings that the order depends on."""
        return {
            "seed": self.seed,
            "epoch": self.epoch,
            "position": self.position,
            "count": len(self.images),
            "batch_size": self.batch_size,
            "drop_last": self.drop_last,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where state_dict() was taken; the seed is taken over.

        Raises FileError when the state is not one, or belongs to another data set or batch size.
        """
        own = self.state_dict()
        missing = own.keys() - state.keys()
        if missing:
            raise FileError(f"not a state of Batches: {', '.join(sorted(missing))} missing")
        for name in ("count", "batch_size", "drop_last"):
            if state[name] != own[name]:
                raise FileError(f"the saved order has {name} {state[name]}, this run has {own[name]}: use the same")
        epoch, position, seed = state["epoch"], state["position"], state["seed"]
        whole = all(isinstance(value, int) and value >= 0 for value in (epoch, position, seed))
        if not whole or position >= self._end or position % self.batch_size or seed >= 2**64 or epoch >= 2**64:
            raise FileError(f"not a state of Batches: seed {seed}, epoch {epoch}, position {position}")
        self.seed, self.epoch, self.position = seed, epoch, position
