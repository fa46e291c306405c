"""Served beside the app at /memory: empties caches, collects garbage, and writes what is left to $SPLATSCOPE_SOAK_MEMORY.

What caches hold is bound by themselves, so that only what is left without them tells of a leak. The recordings and experiments of
sections are put aside in a file meanwhile: making them again would be most of a soak.
"""

import ctypes
import gc
import json
import os
import pickle
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

from splatscope.services import lessons, recordings
from splatscope.web.debugger import array_files
from splatscope.web.lesson_page import section_view
from splatscope.web.lesson_results import results
from splatscope.web.shell.shell import Shell

full = psutil.Process().memory_info().rss
for cache in (section_view._views, results._drawn, recordings._recordings._results, array_files._cached):
    cache.clear()
with tempfile.TemporaryFile() as aside:
    for cache in (lessons._recordings._results, lessons._results._results):
        pickle.dump(list(cache.items()), aside)
        cache.clear()
    gc.collect()
    with suppress(OSError, AttributeError):  # what was freed and is kept for later is not held
        ctypes.CDLL(None).malloc_trim(0)
    objects = gc.get_objects()
    held = {
        "full": full,
        "held": psutil.Process().memory_info().rss,
        "shells": sum(isinstance(found, Shell) for found in objects),
        "objects": len(objects),
    }
    del objects
    aside.seek(0)
    for cache in (lessons._recordings._results, lessons._results._results):
        cache.update(pickle.load(aside))
Path(os.environ["SPLATSCOPE_SOAK_MEMORY"]).write_text(json.dumps(held))
