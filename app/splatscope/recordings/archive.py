"""Read arrays from untrusted .npy and .npz files. Sizes are checked before unpacking, and nothing is unpickled."""

import io
import math
import re
import zipfile
from typing import IO

import numpy as np

MOST_FILE = 32 * 2**20  # bytes of the file
MOST_UNPACKED = 192 * 2**20  # bytes
MOST_MEMBERS = 128
_KINDS = "fiubV"  # the kinds of NumPy dtypes that are allowed: numbers, bools and plain bytes


class ArchiveError(ValueError):
    """The file cannot be read; the message says why in one line."""


def read_arrays(name: str, data: bytes, most: int = MOST_UNPACKED) -> dict[str, np.ndarray]:
    """Return the arrays in a file by name; the only one in a .npy file has the name "". They have at most `most` bytes.

    Raises:
        ArchiveError: The file is too large, damaged, or contains something other than numbers.
    """
    if len(data) > MOST_FILE:
        raise ArchiveError(f"{name} has {len(data):,} bytes; up to {MOST_FILE:,} are allowed.")
    try:
        if data[:6] == b"\x93NUMPY":
            return {"": _read(name, io.BytesIO(data), len(data))}
        if data[:4] == b"PK\x03\x04":
            return _members(name, data, most)
    except ArchiveError:
        raise
    except Exception as error:  # a damaged file can make NumPy and zipfile raise almost anything
        words = re.sub(r" at 0x[0-9a-f]+", "", str(error)) or type(error).__name__  # without memory addresses of this process
        raise ArchiveError(f"{name} is damaged: {words.splitlines()[0][:120]}.") from None
    raise ArchiveError(f"{name} is neither a .npy nor a .npz file: write one with `numpy.save` or `numpy.savez`.")


def _members(name: str, data: bytes, most: int) -> dict[str, np.ndarray]:
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > most:
            raise ArchiveError(f"{name} unpacks to more than {most:,} bytes, or holds more than {MOST_MEMBERS} arrays.")
        for info in infos:
            if not info.filename.endswith(".npy"):
                raise ArchiveError(f"{name} holds “{info.filename[:40]}”, which is not an array.")
            with archive.open(info) as part:
                arrays[info.filename.removesuffix(".npy")] = _read(name, part, info.file_size)
    return arrays


def _read(name: str, part: IO[bytes], size: int) -> np.ndarray:
    version = np.lib.format.read_magic(part)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(part)
    else:
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(part)
    if dtype.hasobject or dtype.kind not in _KINDS or dtype.fields is not None or dtype.itemsize == 0:
        raise ArchiveError(f"{name} holds {str(dtype)[:40]}; only plain numbers are allowed.")
    if any(n < 0 for n in shape) or len(shape) > 8 or math.prod(shape) * dtype.itemsize > size:
        raise ArchiveError(f"{name} is cut short: its header announces {' × '.join(map(str, shape))[:60]} numbers.")
    count = math.prod(shape) * dtype.itemsize
    body = part.read(count)
    if len(body) != count:
        raise ArchiveError(f"{name} is cut short.")
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")
