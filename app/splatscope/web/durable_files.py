"""Files that outlive the server's process: with them, pages go on after a restart.

Each file has a key, a secret of the browsers that may take up what it holds. Its name is the key's hash. The folder is readable to
the server's user alone (`platformdirs.user_state_path`). Files are written in a thread and replaced as a whole. Those that nobody
has written or held for `KEPT_HOURS`, and the oldest of too many, are removed.
"""

import asyncio
import hashlib
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import platformdirs

log = logging.getLogger(__name__)

Content = TypeVar("Content")

EVERY = 1.0  # seconds between two times that changes are written
KEPT_HOURS = 12.0


class DurableFiles(Generic[Content]):
    """Files of one kind.

    Attributes:
        are_written: Whether the last file could be written. False on a full disk, or where the user has no folder.
    """

    def __init__(
        self,
        kind: str,
        encode: Callable[[Content], bytes],
        most: int,
        most_bytes: int,
        held: Callable[[], Collection[str]] = tuple,
    ):
        """Use the folder `kind`.

        Args:
            kind: The folder's name.
            encode: Returns a file for a content. Called in a thread.
            most: How many files there may be.
            most_bytes: How large they may be together.
            held: Returns the keys of files that are in use, and so count as written now. Called on the event loop.
        """
        self.are_written = True
        self._kind, self._encode, self._most, self._most_bytes, self._held = kind, encode, most, most_bytes, held
        self._due: dict[str, Callable[[], Content]] = {}  # by key
        self._writing: asyncio.Task[None] | None = None
        self._lock = threading.Lock()  # while files are written
        self._taken = 0  # how often contents were taken
        self._written: dict[str, int] = {}  # by key, the number of the newest content written since the thread's last return

    def save(self, key: str, content: Callable[[], Content]) -> None:
        """Write a file soon, with what `content` then returns on the event loop. Without an event loop, write none."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._due[key] = content
        if self._writing is None or self._writing.done():
            self._writing = loop.create_task(self._write_due())

    def read(self, key: str) -> bytes | None:
        """Return a file as it was written last; None if there is none."""
        try:
            return self._path(key).read_bytes()
        except OSError:
            return None

    def __contains__(self, key: str) -> bool:
        """Return whether there is a file with this key."""
        with suppress(OSError):
            return self._path(key).is_file()
        return False

    def flush(self) -> None:
        """Write now what is due, since the server stops."""
        self._write(self._take_due(), self._held())

    async def _write_due(self) -> None:
        while self._due:
            await asyncio.to_thread(self._write, self._take_due(), self._held())
            self._written.clear()
            await asyncio.sleep(EVERY)

    def _take_due(self) -> dict[str, tuple[int, Content]]:
        """Return what is due by key, numbered in the order in which it is taken."""
        due, self._due = self._due, {}
        self._taken += 1
        return {key: (self._taken, content()) for key, content in due.items()}

    def _write(self, contents: dict[str, tuple[int, Content]], held: Collection[str]) -> None:
        failures: list[Exception] = []
        with self._lock:
            for key, (number, content) in contents.items():
                if number < self._written.get(key, 0):  # `flush` was faster than the thread
                    continue
                try:
                    self._replace(self._path(key), self._encode(content))
                    self._written[key] = number
                except Exception as error:  # one content must not cost the others
                    failures.append(error)
            try:
                self._remove_old(held)
            except OSError as error:
                failures.append(error)
        if failures and self.are_written:
            what = "; ".join(dict.fromkeys(f"{type(error).__name__}: {error}" for error in failures))
            log.warning("What pages need after a restart of the server cannot be stored: %s", what)
        self.are_written = not failures

    def _replace(self, file: Path, data: bytes) -> None:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        try:
            with open(handle, "wb") as new:
                new.write(data)
            os.replace(name, file)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def _remove_old(self, held: Collection[str]) -> None:
        """Remove what is too old, and the oldest of what is too much."""
        for key in held:
            with suppress(FileNotFoundError):
                os.utime(self._path(key))
        files, total, oldest = [], 0, time.time() - 3600 * KEPT_HOURS
        for entry in os.scandir(self._folder()) if self._folder().is_dir() else ():
            with suppress(FileNotFoundError):  # another server has just removed it
                files.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
        for number, (written, size, path) in enumerate(sorted(files, reverse=True)):
            total += size
            if number >= self._most or total > self._most_bytes or written < oldest:
                Path(path).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder() / hashlib.sha256(key.encode()).hexdigest()

    def _folder(self) -> Path:
        """Return the folder. Raises OSError if the user has no home."""
        try:
            return platformdirs.user_state_path("splatscope") / self._kind
        except RuntimeError as error:
            raise OSError(str(error)) from None
