"""Limits on what this process may use from here on, and the end of its privileges."""

import ctypes
import struct

from splatscope.workers.sandbox.system_calls import capset


def drop_capabilities() -> None:
    """Make root a user like others, who happens to own root's files. Raises OSError."""
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0), 8)
    capset(header, ctypes.create_string_buffer(24))


def limit_resources(memory: int, file_size: int, open_files: int, seconds: int) -> None:
    """Limit this process. Call it before `landlock.restrict_files`, which may hide how much memory it has.

    Args:
        memory: Bytes of addresses beyond those it has now; 0 for no limit.
        file_size: Bytes of a file that it writes.
        open_files: Files open at a time.
        seconds: Processor time.
    """
    import resource  # not on Windows

    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_NOFILE: open_files,
        resource.RLIMIT_CPU: seconds,
    }
    if memory:
        with open("/proc/self/statm") as statm:
            limits[resource.RLIMIT_AS] = int(statm.read().split()[0]) * resource.getpagesize() + memory
    for kind, limit in limits.items():
        hard = resource.getrlimit(kind)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
