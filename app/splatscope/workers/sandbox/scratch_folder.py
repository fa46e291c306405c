"""The folder that a sandboxed process writes to: bounded in bytes and in files, and removed with its process.

Where the system allows it, the folder is a small file system in memory, mounted where only its process sees it. Linux then refuses
what does not fit, and drops all of it when the process ends. Elsewhere the fork server looks at the folder many times a second, and
kills a process that exceeds the bounds.
"""

import itertools
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from splatscope.workers.sandbox.system_calls import mount, unshare

MAX_BYTES = 2**26
MAX_FILES = 4096  # files and folders
MAX_DEPTH = 64  # folders in folders; only for `is_overfull`
MAX_WRITTEN = 2**28  # bytes that a process may write in its life, also to files that it has removed
LOOK_EVERY = 0.1  # seconds between two calls of `is_overfull`

_NEW_MOUNTS, _NEW_USER = 0x20000, 0x10000000
_NO_SETUID, _NO_DEVICES, _RECURSIVE, _PRIVATE = 2, 4, 0x4000, 0x40000


def mount_private(folder: Path) -> None:
    """Mount an empty file system of `MAX_BYTES` and `MAX_FILES` at a folder, for this process and its children only.

    It takes the right to mount, or else the right to create a user namespace; the process must then have a single thread.

    Raises:
        OSError: The system refuses.
    """
    try:
        unshare(_NEW_MOUNTS)
    except PermissionError:
        user, group = os.geteuid(), os.getegid()
        unshare(_NEW_USER | _NEW_MOUNTS)
        # A user may be mapped to itself; a group too, once the other groups cannot be changed any more.
        for name, text in (("uid_map", f"{user} {user} 1"), ("setgroups", "deny"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text)
    mount("none", "/", "", _RECURSIVE | _PRIVATE, "")  # otherwise other processes would see the next one
    mount("tmpfs", str(folder), "tmpfs", _NO_SETUID | _NO_DEVICES, f"size={MAX_BYTES},nr_inodes={MAX_FILES},mode=700")


def can_mount() -> bool:
    """Return whether `mount_private` works here, tried in a child process."""
    if (process := os.fork()) == 0:
        status = 1
        try:
            mount_private(Path(tempfile.gettempdir()))
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(process, 0)[1] == 0


def is_overfull(folder: Path, process: int) -> bool:
    """Return whether a folder, or what its process has written to disks, exceeds the bounds, or a folder in it cannot be listed."""
    size = count = 0
    pending = [(folder, 0)]
    while pending:
        path, depth = pending.pop()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):  # removed meanwhile
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                    count += 1
                    if size > MAX_BYTES or count > MAX_FILES or depth > MAX_DEPTH:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        pending.append((Path(entry.path), depth + 1))
        except FileNotFoundError:
            pass
        except OSError:
            return True
    return _written(process) > MAX_WRITTEN


def _written(process: int) -> int:
    """Return how many bytes a process has written to disks; 0 if it has ended or Linux does not count them."""
    try:
        counts = Path(f"/proc/{process}/io").read_text().split()
        return int(counts[counts.index("write_bytes:") + 1])
    except (OSError, ValueError):
        return 0


def remove(folder: Path, removed: Path) -> None:
    """Remove the folder of a process that has ended, with all that it left: folders of any depth, name and permissions.

    Each folder is moved to `removed` before its content is removed. So no path grows long, and few files are open at once.

    Args:
        folder: The folder.
        removed: An empty folder beside it that only this function uses. What could not be removed stays in it until the next call.

    Raises:
        OSError: Something cannot be removed.
    """
    top = os.open(removed, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if folder.exists():  # the process may have died before it made its folder
            os.rename(folder, str(next(_numbers)), dst_dir_fd=top)
        pending = os.listdir(top)
        while pending:
            name = pending.pop()
            handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                pending += _emptied(handle, top)
            finally:
                os.close(handle)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


_numbers = itertools.count()  # the names of moved folders


def _emptied(folder: int, top: int) -> list[str]:
    """Remove the files of a folder, and move its folders to `top`; return their new names."""
    moved = []
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=folder)  # otherwise it may refuse to be moved or listed
                moved.append(str(next(_numbers)))
                os.rename(entry.name, moved[-1], src_dir_fd=folder, dst_dir_fd=top)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return moved
