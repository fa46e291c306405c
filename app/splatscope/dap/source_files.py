"""Match the sources of a recording with files on the disk, by which an editor knows them."""

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from splatscope.dap.protocol import RequestError


class SourceFiles:
    """The recorded sources. One that is on the disk as it was recorded has a path, and every other one a number.

    Attributes:
        texts: Their texts, by name.
        paths: The files on the disk that have the same text, by name.
    """

    def __init__(self, texts: dict[str, str], folders: Iterable[Path]) -> None:
        self.texts = texts
        self._names = list(texts)
        self.paths: dict[str, Path] = {}
        for name, text in texts.items():
            for folder in folders:
                file = Path(os.path.normpath(folder / name))  # as the client spells it, which may lead over links
                if _has_text(file, text):
                    self.paths[name] = file
                    break

    def described(self, name: str) -> dict[str, Any]:
        """Return a source as the protocol describes it."""
        if name in self.paths:
            return {"name": name, "path": str(self.paths[name])}
        return {"name": name, "sourceReference": self._number_of(name), "origin": "from the recording"}

    def named(self, path: str, number: int) -> str:
        """Return the name of the source that a client means. Raises RequestError if there is none."""
        if 0 < number <= len(self._names):
            return self._names[number - 1]
        if path:
            file = Path(path.replace("\0", "")).resolve()
            for name, own in self.paths.items():
                if own.resolve() == file:
                    return name
            alike = [name for name in self._names if PurePosixPath(name).name == file.name]
            if len(alike) == 1:
                return alike[0]
        raise RequestError(f"{path or f'Source {number}'} is no source of this recording.")

    def text(self, number: int) -> str:
        """Return the text of a source by its number. Raises RequestError if there is none."""
        if not 0 < number <= len(self._names):
            raise RequestError(f"There is no source {number} in this recording.")
        return self.texts[self._names[number - 1]]

    def _number_of(self, name: str) -> int:
        return self._names.index(name) + 1


def _has_text(file: Path, text: str) -> bool:
    """Return whether a file has a text. A recording may name any file, so no more is read than the text can have."""
    try:
        return file.is_file() and file.stat().st_size <= 4 * len(text) and file.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False
