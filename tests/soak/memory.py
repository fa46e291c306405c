"""Served beside the app at /memory: collects garbage, and writes what the server then holds to $SPLATSCOPE_SOAK_MEMORY.

Caches are bound, but some would fill only in hours. So the first request makes them small. Once they are full, nothing that is left
has a reason to grow. They are not emptied: that leaves holes which later objects fill only in part, so that a server whose caches
are still filling seems to leak.
"""

import ctypes
import gc
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import psutil
from cachetools import LRUCache

from splatscope.services import lessons, recordings
from splatscope.web.debugger import array_files
from splatscope.web.lesson_page import section_view
from splatscope.web.lesson_results import results
from splatscope.web.serving import page_document
from splatscope.web.shell.shell import Shell

# Each holds what all sections need, and little more.
SMALL = {
    "pages": (section_view, "_views", 40),
    "documents": (page_document, "_documents", 30),
    "recordings": (lessons._recordings, "_results", 5 * 2**20),
    "results": (lessons._results, "_results", 140),
    "drawn": (results, "_drawn", 60),
    "runs": (recordings._recordings, "_results", 2**16),
}


def small(holder: object, name: str, most: int) -> LRUCache:
    """Return a cache after making it so small, unless it is."""
    cache = getattr(holder, name)
    if cache.maxsize > most:
        smaller = LRUCache(most, getsizeof=cache.getsizeof)
        smaller.update(cache)
        setattr(holder, name, smaller)
    return getattr(holder, name)


filled = {name: cache.currsize / cache.maxsize for name, where in SMALL.items() for cache in [small(*where)]}
array_files.MOST_OF_ADDRESS = 2**14  # that of an address which has stored nothing yet
filled["arrays"] = max((files.currsize / files.maxsize for files in array_files._cached.values()), default=0.0)
gc.collect()
with suppress(OSError, AttributeError):  # what was freed and is kept for later is not held
    ctypes.CDLL(None).malloc_trim(0)
objects = gc.get_objects()
held = {
    "held": psutil.Process().memory_info().rss,
    "filled": filled,
    "shells": sum(isinstance(found, Shell) for found in objects),
    "blocks": sys.getallocatedblocks(),
}
del objects
Path(os.environ["SPLATSCOPE_SOAK_MEMORY"]).write_text(json.dumps(held))
