"""A temporary folder with the same path whenever it is for the same content."""

import hashlib
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

LEFT_BEHIND = 3600.0  # seconds: no process compiles that long, so the one that made the folder was killed


@contextmanager
def folder_for(*content: object) -> Generator[Path]:
    """Yield an empty folder for sources that only the given values determine, by their `repr`, and remove it afterwards.

    Its path is part of the key under which generated code is kept (`gpu.device.SHADER_CACHE`): a random one would never be found
    again. It is random where another process is compiling the same, or was killed within the last hour while it did.
    """
    digest = hashlib.sha256(repr(content).encode()).hexdigest()[:16]
    folder = taken = Path(tempfile.gettempdir()).resolve() / f"splatscope-{digest}"
    try:
        folder.mkdir(0o700)
    except FileExistsError:
        folder = Path(tempfile.mkdtemp(prefix="splatscope-")).resolve()
        with suppress(FileNotFoundError):  # the other process has ended meanwhile
            if folder.stat().st_mtime - taken.stat().st_mtime > LEFT_BEHIND:
                shutil.rmtree(taken, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
