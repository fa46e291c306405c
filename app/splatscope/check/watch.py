"""`splatscope check --watch`: wait until a file that a check has read changes."""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from splatscope.check.kernels import CONFIGURATION, SUFFIXES, CheckedKernel

if TYPE_CHECKING:
    from splatscope.check.run import KernelVerdict

POLL_SECONDS = 0.5
NOT_WATCHED = ("build", "node_modules", "__pycache__")


class Changes:
    """The changes of files since a check began to read them."""

    def __init__(self, here: Path, places: Iterable[Path]) -> None:
        """Note the state of the sources and configurations in some places, before a check reads them."""
        self._here, self._places = here, tuple(places)
        self._read: dict[Path, set[Path]] = {}  # by a kernel's file, the files that it was made from in any check
        self._before = self._state()

    def add_read(self, verdicts: "Iterable[KernelVerdict]") -> None:
        """Watch the files that a check has read, too."""
        for verdict in verdicts:
            self._read.setdefault(verdict.kernel.path, set()).update(_files_of(verdict))
        self._before = state_of(self._all_read()) | self._before

    def wait(self) -> set[Path]:
        """Wait until a file has changed since the last call, or since the start, and return those that have."""
        while not (changed := changed_since(self._before, after := self._state())):
            time.sleep(POLL_SECONDS)
        self._before = after
        return changed

    def affected(self, kernels: list[CheckedKernel], changed: set[Path]) -> list[CheckedKernel]:
        """Return the kernels that were made from changed files; all if a file changed that none was made from."""
        if not changed <= self._all_read():
            return kernels
        return [kernel for kernel in kernels if changed & self._read.get(kernel.path, set())] or kernels

    def _all_read(self) -> set[Path]:
        return set().union(*self._read.values())

    def _state(self) -> dict[Path, int]:
        return state_of(watched_files(self._here, self._places, self._all_read()))


def _files_of(verdict: "KernelVerdict") -> set[Path]:
    """Return the files that a kernel was made from."""
    kernel = verdict.kernel
    inputs = {kernel.inputs.folder / kernel.inputs.file} if kernel.inputs.file else set()
    return {kernel.path, *verdict.paths.values(), *inputs}


def watched_files(here: Path, places: Iterable[Path], read: Iterable[Path]) -> set[Path]:
    """Return the files whose change is of interest: sources and configurations in some places, and those that were read."""
    files = {here / CONFIGURATION, here / "pyproject.toml", *read}
    for place in places:
        if place.is_file():
            files.add(place)
            continue
        for folder, names, leaves in os.walk(place):
            names[:] = [name for name in names if not name.startswith(".") and name not in NOT_WATCHED]
            files |= {Path(folder) / name for name in leaves if name.endswith(SUFFIXES) or name == CONFIGURATION}
    return files


def state_of(files: Iterable[Path]) -> dict[Path, int]:
    """Return when each file was changed last, in nanoseconds; files that are not there are left out."""
    times = {}
    for file in files:
        try:
            times[file] = file.stat().st_mtime_ns
        except OSError:
            continue
    return times


def changed_since(before: dict[Path, int], after: dict[Path, int]) -> set[Path]:
    """Return the files that were changed, added or removed."""
    return {file for file, _ in before.items() ^ after.items()}
