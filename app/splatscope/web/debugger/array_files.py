"""The array files that users chose as inputs, as they were uploaded, by a hash of their bytes, so that they survive a reload."""

import hashlib
from typing import Any

from cachetools import LRUCache

from splatscope.services.drafts.array_files import ArrayFile

MAX_CACHED = 64 * 2**20  # bytes of the files of all pages; the least recently used are dropped

# The size of a file counts as at most MAX_CACHED, so that a larger one can be cached on its own.
_cached: LRUCache[str, ArrayFile] = LRUCache(MAX_CACHED, getsizeof=lambda file: min(len(file.data), MAX_CACHED))


def store(file: ArrayFile) -> str:
    """Cache a file and return its key."""
    key = f"{'recording-' if file.is_recording else ''}{hashlib.sha256(file.data).hexdigest()}"
    _cached[key] = file
    return key


def find(key: str) -> ArrayFile | None:
    """Return the file with this key, or None if it was dropped or the server has restarted."""
    return _cached.get(key)


def files_of(draft: dict[str, Any]) -> dict[str, ArrayFile]:
    """Return the files that a draft's inputs name, by their keys, without those that were dropped."""
    specs = draft.get("inputs")
    keys = {str(spec.get("array")) for spec in specs.values() if isinstance(spec, dict)} if isinstance(specs, dict) else set()
    return {key: file for key in sorted(keys) if (file := find(key)) is not None}
