"""The memory limit above which a process that compiles and runs kernels is replaced.

Slang 2026.12 leaks every program that it links, some 18 MB for each of the textbook's. Closing the session or the device frees
nothing, so the memory is only returned when the process ends.
"""

MOST_MEMORY = 1.5 * 2**30  # bytes


def is_too_large(pid: int | None = None, times: float = 1.0) -> bool:
    """Return whether a process, by default this one, uses more than `times` the memory with which it should be replaced."""
    import psutil  # a script starts its worker before it loads this

    try:
        return psutil.Process(pid).memory_info().rss > times * MOST_MEMORY
    except psutil.NoSuchProcess:
        return False
