"""The pictures that readers have trained here, by a hash of their content, so that sections can follow a pixel."""

import numpy as np
from cachetools import LRUCache

from splatscope.splat.parameters import FIELDS
from splatscope.textbook.pixel import TrainedPicture

MOST = 64 * 2**20  # bytes of all pictures that are held: the one that was used least recently goes first
LARGEST = 16 * 2**20  # bytes of one
HEAD = 12  # bytes of the three numbers that a picture from a browser begins with


class PictureGoneError(ValueError):
    """The server does not hold the picture any more."""


def _bytes(picture: TrainedPicture) -> int:
    return picture.raw.nbytes + picture.target.nbytes


_held: LRUCache[str, TrainedPicture] = LRUCache(MOST, _bytes)


def hold(picture: TrainedPicture) -> str:
    """Hold a picture and return its name; "" for one that is too large."""
    if _bytes(picture) > LARGEST:
        return ""
    _held[picture.name] = picture
    return picture.name


def read(data: bytes) -> TrainedPicture:
    """Return a picture that a browser has trained, from the bytes that it sends (`browser_training.ts`).

    Args:
        data: Width, height and number N of Gaussians, as uint32; raw values of the direct model, (9, N) float32; the target's red,
            green and blue, (height, width, 3) uint8. All little-endian.

    Raises:
        ValueError: It is no such picture.
    """
    head = np.frombuffer(data[:HEAD], "<u4").tolist() if len(data) >= HEAD else [0, 0, 0]
    width, height, count = head
    pixels = HEAD + 4 * FIELDS * count
    if not all(head) or len(data) != pixels + 3 * width * height:
        raise ValueError("This is no trained picture.")
    raw = np.frombuffer(data[HEAD:pixels], "<f4").reshape(FIELDS, count)
    if not np.isfinite(raw).all():
        raise ValueError("This picture has Gaussians without a place or a size: train it again.")
    return TrainedPicture(raw, np.frombuffer(data[pixels:], np.uint8).reshape(height, width, 3))


def find(name: str) -> TrainedPicture:
    """Return the picture of this name. Raises PictureGoneError."""
    if name not in _held:
        raise PictureGoneError("The server no longer has this picture. Train it again, or go back to this section's example.")
    return _held[name]
