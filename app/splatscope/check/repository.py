"""What of a machine's files a check reads: those of a repository, but no hidden ones, and none that a link leads out to."""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

MOST_TEXT = 2**22  # bytes in one source or configuration
MOST_BYTES = 2**28  # bytes of all files that one kernel reads
MOST_NAMES = 20_000  # names of files that a kernel's texts may contain
OUTSIDE = "it is outside of the repository, or hidden: --trusted reads it"
# What may name a file: any string, since a macro may stand for it; an include in angle brackets; a module.
_NAMES = re.compile(r'"([^"\n]{1,250})"|#[ \t]*include[ \t]*<([^>\n]{1,250})>|\b(?:import|__include|implementing)\s+([\w.]{1,250})')


class Repository:
    """The files that may be read: all below a root, the folder with `.git` or the current folder, except for hidden ones.

    Args:
        here: The current folder.
        places: Files and folders that the caller names. What is in them is not hidden, wherever they are.
        is_open: Whether everything on the machine may be read.
    """

    def __init__(self, here: Path, places: Iterable[Path] = (), is_open: bool = True) -> None:
        self._here, self.is_open = resolved(here), is_open
        self._places = [place if place.is_dir() else place.parent for place in map(resolved, places)]

    def root_of(self, path: Path) -> Path:
        """Return the root for a resolved file: that of the current folder if the file is in it, else that of the file's folder."""
        top = _top(self._here)
        return top if path.is_relative_to(top) else _top(path.parent)

    def refuse(self, path: Path) -> str:
        """Return a clause that says why a path is not read; "" if it is."""
        if self.is_open:
            return ""
        try:
            path = resolved(path)
        except ValueError:
            return "it is not a path"
        root = self.root_of(path)
        if any(part == ".git" for part in path.relative_to(root).parts) or not self._is_inside(path):
            return OUTSIDE
        base = next((place for place in self._places if path.is_relative_to(place)), root)
        return OUTSIDE if any(part.startswith(".") for part in path.relative_to(base).parts) else ""

    def _is_inside(self, path: Path) -> bool:
        return any(path.is_relative_to(place) for place in (_top(self._here), *map(_top, self._places)))

    def contents(self, path: Path, most: int = MOST_TEXT) -> bytes:
        """Return the contents of a file.

        Raises:
            ValueError: It cannot be read, or has more than `most` bytes; the message says why.
        """
        if why := self.refuse(path):
            raise ValueError(f"{path} is not read: {why}.")
        try:
            if not path.is_file():  # opening a pipe or a device would wait, or never end
                os.stat(path)
                raise ValueError(f"{path} is not a file.")
            with path.open("rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}.") from None
        if len(data) > most:
            raise ValueError(f"{path} has more than {most:,} bytes.")
        return data

    def text(self, path: Path) -> str:
        """Return the text of a file in UTF-8, with line breaks as `Path.read_text` gives them. Raises ValueError."""
        try:
            return self.contents(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not a text file: name a file with Slang source.") from None

    def named_in(self, texts: Mapping[Path, str], folders: Iterable[Path]) -> dict[Path, bytes]:
        """Return the files that texts name, directly or through each other, by path.

        This is a superset of what a compiler opens, since nothing is parsed.

        Args:
            texts: Texts by the paths of their files.
            folders: Folders in which names are looked up, after that of the file that names them.

        Raises:
            ValueError: They are too many or too large.
        """
        files: dict[Path, bytes] = {}
        pending, tried, left = list(texts.items()), set[Path](), MOST_BYTES
        while pending:
            file, text = pending.pop()
            for folder in (file.parent, *folders):
                for name in {name for match in _NAMES.finditer(text) for name in _names(match)}:
                    path = Path(os.path.normpath(folder / name)) if "\0" not in name else folder
                    if path in tried or path in texts:
                        continue
                    tried.add(path)
                    if len(tried) > MOST_NAMES:
                        raise ValueError(f"{file} names more than {MOST_NAMES:,} files: --trusted reads them.")
                    data = self._read_if_present(path, left)
                    if data is None:
                        continue
                    left -= len(data)
                    files[path] = data
                    if len(data) <= MOST_TEXT and b"\0" not in data:
                        pending.append((path, data.decode("utf-8", errors="replace")))
        return files

    def _read_if_present(self, path: Path, left: int) -> bytes | None:
        """Return what is in a file of the repository; None if there is none. Nothing outside is even looked for."""
        try:
            if not self._is_inside(path) or not path.is_file() or self.refuse(path):
                return None
        except OSError:  # a name that is too long
            return None
        return self.contents(path, left)


def _names(match: re.Match) -> list[str]:
    quoted, angled, module = match.groups()
    if module is None:
        stem = quoted or angled
        return [stem, f"{stem}.slang"] if quoted and "." not in stem.rpartition("/")[2] else [stem]
    stem = module.removesuffix(".slang").replace(".", "/")
    return [stem, f"{stem}.slang", f"{stem.replace('_', '-')}.slang"]


def resolved(path: Path) -> Path:
    """Return a path without links. Unlike `Path.resolve`, it takes links in a circle. Raises ValueError for a zero byte."""
    return Path(os.path.realpath(path))


@cache
def _top(folder: Path) -> Path:
    """Return the nearest folder at or above this one that holds `.git`; this one if there is none."""
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
