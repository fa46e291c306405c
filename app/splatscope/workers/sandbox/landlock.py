"""Landlock: restrict the files and TCP ports that this process may open from now on.

Landlock needs no root rights and cannot be undone. It restricts any code that runs, whether a compiler that was tricked into
opening a file or a kernel that has overwritten its driver's memory. It applies to the calling thread and to threads started later.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from splatscope.workers.sandbox.system_calls import forbid_new_privileges, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_RIGHTS = [  # one bit each, in Landlock's order
    *("execute", "write-file", "read-file", "read-folder", "remove-folder", "remove-file", "make-char", "make-folder"),
    *("make-file", "make-sock", "make-fifo", "make-block", "make-sym", "refer", "truncate", "ioctl"),
]


def _bits(words: str) -> int:
    return sum(1 << _RIGHTS.index(word) for word in words.split())


_READ = _bits("read-file read-folder")
_WRITE = _READ | _bits("write-file truncate make-file make-folder remove-file remove-folder refer")
_DEVICE = _READ | _bits("write-file ioctl")
_FILE_RIGHTS = _bits("execute write-file read-file truncate ioctl")
SCOPES_SIGNALS = 6  # the first version that keeps signals from processes outside
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}  # how many of the rights each version has; all from version 5 on


def version() -> int:
    """Return the kernel's version of Landlock, from 1; below 1 if there is no Landlock."""
    try:
        return syscall(_CREATE_RULESET, None, 0, 1)
    except OSError:
        return -1


def restrict_files(read: Iterable[Path], write: Iterable[Path], devices: Iterable[Path]) -> None:
    """Allow this thread to open only files under these paths, and no TCP port.

    Files that are already open stay open. A second call can only restrict further. Paths that do not exist are ignored.

    Args:
        read: Files and folders to read.
        write: Folders in which to read, write, create and remove.
        devices: Files to read, write and control.

    Raises:
        OSError: The system refuses.
    """
    abi = version()
    handled = (1 << _RIGHTS_BY_VERSION.get(abi, len(_RIGHTS))) - 1
    ports = 0b11 if abi >= 4 else 0
    scoped = 0b11 if abi >= SCOPES_SIGNALS else 0  # abstract sockets, and signals to processes outside
    ruleset = syscall(_CREATE_RULESET, ctypes.create_string_buffer(struct.pack("QQQ", handled, ports, scoped), 24), 24, 0)
    try:
        for rights, paths in ((_READ, read), (_WRITE, write), (_DEVICE, devices)):
            for path in paths:
                _allow(ruleset, path, rights & handled)
        forbid_new_privileges()
        syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = struct.pack("=Qi", rights if path.is_dir() else rights & _FILE_RIGHTS, handle)
        syscall(_ADD_RULE, ruleset, 1, ctypes.create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(handle)
