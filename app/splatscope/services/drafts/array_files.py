"""Files with arrays that a reader chose as inputs. They are decoded where inputs are filled, inside the sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from splatscope.recordings.archive import ArchiveError, read_arrays
from splatscope.recordings.untrusted import open_file
from splatscope.splat.files.images import ImageError, read_picture

MOST_EDGE = 2048  # pixels along an edge of a picture; a larger one is scaled down
MOST_UNPACKED = 64 * 2**20  # bytes of all arrays in one file
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF")  # how their files begin


@dataclass(frozen=True)
class ArrayFile:
    """A file as it was uploaded: arrays, a picture, or a recording, whose inputs it then stands for.

    Attributes:
        name: The file's name.
        data: Its bytes.
        is_recording: Whether it is a recording. Its arrays are then in the kernel's layout, rather than numbers to be converted.
    """

    name: str
    data: bytes
    is_recording: bool = False

    def array(self, name: str) -> np.ndarray:
        """Return the array for an input: the one with its name, or else the only one. A picture is (height, width, 3) uint8.

        Raises:
            ArchiveError: The file cannot be read, or there are several arrays, and none has that name.
        """
        arrays, _ = _contents(self)
        if name in arrays:
            return arrays[name]
        if len(arrays) != 1 or self.is_recording:
            names = ", ".join(list(arrays)[:6]) or "nothing"
            raise ArchiveError(f"{self.name} holds {names[:120]}: one of its arrays must have the buffer's name, {name}.")
        return next(iter(arrays.values()))

    def words(self, name: str) -> str:
        """Return a description of the array for an input, for the page. Raises ArchiveError."""
        array, note = self.array(name), _contents(self)[1]
        if self.data.startswith(PICTURES):
            return f"{array.shape[1]:,} × {array.shape[0]:,}{f', {note}' if note else ''}"
        return f"{array.dtype}, {' × '.join(f'{n:,}' for n in array.shape) or 'one number'}"


ArrayFiles = Mapping[str, ArrayFile]
"""Files by the key that an input's specification has as its `array`."""


@lru_cache(maxsize=1)
def _contents(file: ArrayFile) -> tuple[dict[str, np.ndarray], str]:
    """Return a file's arrays by name, and a note on how a picture was changed."""
    if file.is_recording:
        return open_file(file.name, file.data).job.inputs, ""
    if file.data.startswith(PICTURES):
        try:
            picture = read_picture(file.data, file.name, MOST_EDGE)
        except ImageError as error:
            raise ArchiveError(str(error)) from None
        return {"": picture.pixels}, picture.note
    arrays = read_arrays(file.name, file.data, MOST_UNPACKED)
    if not all(array.dtype.kind in "fiub" for array in arrays.values()):
        raise ArchiveError(f"{file.name} holds something other than numbers: save plain numeric arrays.")
    return arrays, ""
