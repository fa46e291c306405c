"""What this process may do from here on, held by Linux itself: Landlock for files and ports, seccomp for system calls.

It takes no root, cannot be undone, and holds whatever code runs: a compiler that was talked into opening a file as much as
a kernel that wrote over its driver's memory. Landlock binds the calling thread and those it starts later, the rest binds all.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from splatscope.workers.sandbox import seccomp as syscalls

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_RIGHTS = [  # a bit each, in Landlock's order
    *("execute", "write-file", "read-file", "read-folder", "remove-folder", "remove-file", "make-char", "make-folder"),
    *("make-file", "make-sock", "make-fifo", "make-block", "make-sym", "refer", "truncate", "ioctl"),
]


def _bits(words: str) -> int:
    return sum(1 << _RIGHTS.index(word) for word in words.split())


_READ = _bits("read-file read-folder")
_KEEP = _READ | _bits("write-file truncate make-file make-folder remove-file remove-folder refer")
_DEVICE = _READ | _bits("write-file ioctl")
_OF_A_FILE = _bits("execute write-file read-file truncate ioctl")
_KNOWN = {1: 13, 2: 14, 3: 15, 4: 15}  # how many of the rights each version of Landlock knows; from 5 on all
_NO_NEW_PRIVS, _GET_SECCOMP, _DIE_WITH_PARENT = 38, 21, 1


def why_not() -> str:
    """Why this system cannot confine a process, in words that follow "because"; empty where it can."""
    if sys.platform != "linux":
        return f"{platform.system()} has no Landlock, which Linux has from 5.13 on"
    if _abi() < 1:
        return "this kernel has no Landlock (Linux 5.13 or newer, not switched off at boot, not forbidden by a container)"
    if platform.machine() not in syscalls.MACHINES or _libc().prctl(_GET_SECCOMP, 0, 0, 0, 0) < 0:
        return "this system has no seccomp filters"
    return ""


def describe() -> str:
    """The means there are, for a report."""
    return "none" if why_not() else f"Landlock {_abi()}, seccomp"


def die_with_parent(signal: int) -> None:
    """Have the kernel send `signal` to this process when the one that started it ends."""
    _checked(_libc().prctl(_DIE_WITH_PARENT, signal, 0, 0, 0))


def restrict_files(read: Iterable[Path], keep: Iterable[Path], devices: Iterable[Path]) -> None:
    """From here on this thread, and those it starts, open nothing but what lies under these paths; no TCP port either.

    `read` is for reading, `keep` for files and folders of one's own, `devices` for what a driver speaks to. Paths that are
    not there are left out. What is open already stays open. Called again, it can only take away.

    Raises:
        OSError: the system refuses.
    """
    abi = _abi()
    handled = (1 << _KNOWN.get(abi, len(_RIGHTS))) - 1
    ports = 0b11 if abi >= 4 else 0
    others = 0b11 if abi >= 6 else 0  # abstract sockets and signals of processes outside
    ruleset = _call(_CREATE_RULESET, ctypes.create_string_buffer(struct.pack("QQQ", handled, ports, others), 24), 24, 0)
    try:
        for rights, paths in ((_READ, read), (_KEEP, keep), (_DEVICE, devices)):
            for path in paths:
                _allow(ruleset, path, rights & handled)
        _checked(_libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def drop_capabilities() -> None:
    """Root becomes a user like others, who happens to own root's files."""
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0), 8)
    _checked(_libc().capset(header, ctypes.create_string_buffer(24)))


def restrict_calls() -> None:
    """From here on no thread makes sockets or processes, or touches other processes; they are told EPERM.

    Raises:
        OSError: the system refuses.
    """
    _checked(_libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    program = syscalls.filter_program(platform.machine(), os.getpid(), errno.EPERM, errno.ENOSYS)
    code = ctypes.create_string_buffer(program, len(program))
    fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code)), 16)
    _call(syscalls.number("seccomp", platform.machine()), 1, 1, fprog)  # SET_MODE_FILTER, TSYNC: all threads


def restrict_memory(more: int, file: int, files: int, seconds: int) -> None:
    """Bound this process: `more` bytes of addresses than it has now (0: no bound), bytes of a file, open files, processor time.

    To be called before `restrict_files`, which may hide how much it has.
    """
    import resource  # not on Windows

    with open("/proc/self/statm") as statm:
        now = int(statm.read().split()[0]) * resource.getpagesize()
    bounds = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: file, resource.RLIMIT_NOFILE: files, resource.RLIMIT_CPU: seconds}
    if more:
        bounds[resource.RLIMIT_AS] = now + more
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = struct.pack("=Qi", rights if path.is_dir() else rights & _OF_A_FILE, handle)
        _call(_ADD_RULE, ruleset, 1, ctypes.create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(handle)


def _abi() -> int:
    return _libc().syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(1))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc().syscall(ctypes.c_long(number), *wide))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
