"""How much memory a process that compiles and runs kernels may hold before another takes its place.

Slang 2026.12 keeps each program that it has linked, some 18 MB of the textbook's, until the process ends: neither the program's
session nor the device gives any of it back when it is closed.
"""

import psutil

MOST_MEMORY = 1.5 * 2**30  # bytes


def is_too_large(pid: int | None = None) -> bool:
    """Return whether a process, by default this one, holds so much that it should be replaced once it is idle."""
    try:
        return psutil.Process(pid).memory_info().rss > MOST_MEMORY
    except psutil.NoSuchProcess:
        return False
