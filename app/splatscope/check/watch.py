"""`splatscope check --watch`: wait until a file that a check has read changes."""

import os
from collections.abc import Iterable
from pathlib import Path

from splatscope.check.kernels import CONFIGURATION, SUFFIXES

POLL_SECONDS = 0.5
NOT_WATCHED = ("build", "node_modules", "__pycache__")


def watched_files(here: Path, places: Iterable[Path], read: Iterable[Path]) -> set[Path]:
    """Return the files whose change is of interest: sources and configurations in some places, and those that were read."""
    found = {here / CONFIGURATION, here / "pyproject.toml", *read}
    for place in places:
        if place.is_file():
            found.add(place)
            continue
        for folder, names, files in os.walk(place):
            names[:] = [name for name in names if not name.startswith(".") and name not in NOT_WATCHED]
            found |= {Path(folder) / name for name in files if name.endswith(SUFFIXES) or name == CONFIGURATION}
    return found


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
