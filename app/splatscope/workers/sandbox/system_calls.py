"""System calls that Python does not provide, made through the C library."""

import ctypes
import os

_NO_NEW_PRIVS = 38


def prctl(option: int, *arguments: int) -> int:
    """Call prctl. Raises OSError."""
    return _checked(_libc().prctl(option, *arguments, *[0] * (4 - len(arguments))))


def syscall(number: int, *arguments: object) -> int:
    """Make the system call of this number; integers are passed as longs. Raises OSError."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc().syscall(ctypes.c_long(number), *wide))


def capset(header: object, data: object) -> int:
    """Call capset. Raises OSError."""
    return _checked(_libc().capset(header, data))


def unshare(namespaces: int) -> None:
    """Move this process to new namespaces. Raises OSError."""
    _checked(_libc().unshare(namespaces))


def mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    """Call mount. Raises OSError."""
    texts = [text.encode() for text in (source, target, kind, options)]
    _checked(_libc().mount(*texts[:3], ctypes.c_ulong(flags), texts[3]))


def forbid_new_privileges() -> None:
    """Give up the right to run setuid programs. Landlock and seccomp require this of processes without root. Raises OSError."""
    prctl(_NO_NEW_PRIVS, 1)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
