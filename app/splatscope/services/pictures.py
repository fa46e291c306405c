"""The pictures that were trained on this server, by a name that changes with the content: sections can follow a pixel of them."""

from cachetools import LRUCache

from splatscope.textbook.pixel import TrainedPicture

MOST = 64 * 2**20  # bytes of all pictures that are held: the one that was used least recently goes first
LARGEST = 16 * 2**20  # bytes of one


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


def find(name: str) -> TrainedPicture:
    """Return the picture of this name. Raises PictureGoneError."""
    if name not in _held:
        raise PictureGoneError("The server no longer has this picture. Train it again, or go back to this section's example.")
    return _held[name]
