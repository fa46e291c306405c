"""The pictures that readers have trained, by a name that changes with the content, so that sections can follow one of their pixels.

Only so many are held. A reader's browser keeps its own picture too, and sends it again if it is asked to.
"""

from cachetools import LRUCache

from splatscope.textbook.pixel import TrainedPicture

MOST = 64 * 2**20  # bytes
_held: LRUCache[str, TrainedPicture] = LRUCache(MOST, lambda picture: picture.raw.nbytes + picture.target.nbytes)


class PictureGoneError(ValueError):
    """The server does not hold the picture any more."""


def hold(picture: TrainedPicture) -> str:
    """Hold a picture and return its name. Raises ValueError if it is larger than all that can be held."""
    _held[picture.name] = picture
    return picture.name


def find(name: str) -> TrainedPicture:
    """Return the picture of this name. Raises PictureGoneError."""
    if name not in _held:
        raise PictureGoneError("The server no longer has this picture. Train again, or follow the book's own picture.")
    return _held[name]
