"""The array files that users chose as inputs, as they were uploaded, by a hash of their bytes, so that they survive a reload."""

import hashlib
from typing import Any

from cachetools import LRUCache

from splatscope.services.drafts.array_files import ArrayFile
from splatscope.workers.visitor import address

MOST_OF_ADDRESS = 64 * 2**20  # bytes of the files of all pages at one address; the least recently used are dropped
MOST = 4 * MOST_OF_ADDRESS  # bytes of all files; then the address that holds most drops some
OVERHEAD = 1024  # bytes that a file counts for besides its own

_cached: dict[str, LRUCache[str, ArrayFile]] = {}  # by the address of the visitor who stored them


def store(file: ArrayFile) -> str:
    """Cache a file for the current visitor and return its key."""
    key = f"{'recording-' if file.is_recording else ''}{hashlib.sha256(file.data).hexdigest()}"
    _cached.setdefault(address(), LRUCache(MOST_OF_ADDRESS, _size))[key] = file
    while sum(files.currsize for files in _cached.values()) > MOST:
        largest = max(_cached, key=lambda visitor: _cached[visitor].currsize)
        _cached[largest].popitem()
        if not _cached[largest]:
            del _cached[largest]
    return key


def find(key: str) -> ArrayFile | None:
    """Return the file with this key, or None if it was dropped or the server has restarted."""
    return next((files[key] for files in _cached.values() if key in files), None)


def files_of(draft: dict[str, Any]) -> dict[str, ArrayFile]:
    """Return the files that a draft's inputs name, by their keys, without those that were dropped."""
    specs = draft.get("inputs")
    keys = {str(spec.get("array")) for spec in specs.values() if isinstance(spec, dict)} if isinstance(specs, dict) else set()
    return {key: file for key in sorted(keys) if (file := find(key)) is not None}


def _size(file: ArrayFile) -> int:
    """Return what a file counts for. One that is larger than the bound can be cached, but alone."""
    return min(len(file.data) + OVERHEAD, MOST_OF_ADDRESS)
