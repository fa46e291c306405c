"""Read the arrays in an .npz file that others may have written."""

import io
import zipfile

import numpy as np


class ArchiveTooLarge(ValueError):  # noqa: N818
    """The file would unpack to more than is allowed."""


def read_arrays(data: bytes, most_bytes: int) -> dict[str, np.ndarray]:
    """Return the arrays in the bytes of an .npz file by name. It may unpack to up to `most_bytes`.

    Raises:
        ArchiveTooLarge: It would unpack to more.
        ValueError: It is damaged, or of another kind.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # Check the declared sizes before unpacking: a small file can claim to contain terabytes.
            if sum(member.file_size for member in archive.infolist()) > most_bytes:
                raise ArchiveTooLarge(f"unpacks to more than {most_bytes // 2**20} MB, which is not allowed")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            members = {name: file[name] for name in file.files}
        # A member that is no array comes as its bytes.
        return {name: array for name, array in members.items() if isinstance(array, np.ndarray)}
    except ArchiveTooLarge:
        raise
    except Exception:  # a forged file can make NumPy and zipfile raise almost anything
        raise ValueError("is damaged or of another kind") from None
