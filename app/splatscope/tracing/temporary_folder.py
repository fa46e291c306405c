"""A temporary folder with the same path whenever it is for the same content."""

import hashlib
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folder_for(*content: object) -> Generator[Path]:
    """Yield an empty folder for sources that only the given values determine, by their `repr`, and remove it afterwards.

    Its path is part of the key under which generated code is kept (`gpu.device.SHADER_CACHE`): a random one would never be found
    again. It is random where another process is compiling the same, or was killed while it did.
    """
    folder = Path(tempfile.gettempdir()).resolve() / f"splatscope-{hashlib.sha256(repr(content).encode()).hexdigest()[:16]}"
    try:
        folder.mkdir(0o700)
    except FileExistsError:
        folder = Path(tempfile.mkdtemp(prefix="splatscope-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
