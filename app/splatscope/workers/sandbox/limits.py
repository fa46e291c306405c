"""Limit the resources of this process, and drop its capabilities."""

import ctypes
import struct

from splatscope.workers.sandbox.system_calls import capset


def drop_capabilities() -> None:
    """Drop all capabilities, so that root has only the rights of the owner of root's files. Raises OSError."""
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0), 8)
    capset(header, ctypes.create_string_buffer(24))


def limit_resources(memory: int, file_size: int, open_files: int, seconds: int) -> None:
    """Limit the resources of this process.

    Call it before `landlock.restrict_files`, which may hide /proc/self/statm.

    Args:
        memory: Bytes of address space beyond the present use; 0 for no limit.
        file_size: Bytes per written file.
        open_files: The number of files open at once.
        seconds: Processor time in seconds.
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
