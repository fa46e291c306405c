"""Report whether this system supports the sandbox, Landlock and seccomp, and which of its bounds are weaker here."""

import platform
import sys

from splatscope.workers.sandbox import landlock, scratch_folder, seccomp


def missing_support() -> str:
    """Return why this system cannot sandbox a process, as a clause that follows "because"; "" if it can."""
    if sys.platform != "linux":
        return f"{platform.system()} has no Landlock, which Linux has from 5.13 on"
    if landlock.version() < 1:
        return "this kernel has no Landlock (Linux 5.13 or newer, not switched off at boot, not forbidden by a container)"
    if not seccomp.is_supported():
        return "this system has no seccomp filters"
    return ""


def shortfalls() -> list[tuple[str, str]]:
    """Return what a supported system lacks, and what helps. The sandbox works without, but with weaker bounds."""
    lacking = []
    if landlock.version() < landlock.SCOPES_SIGNALS:
        lacking.append(
            (
                "Landlock's scope of signals, without which seccomp alone keeps sandboxed processes from signalling others",
                "Linux 6.12 or newer",
            )
        )
    if not scratch_folder.can_mount():
        lacking.append(
            (
                "a file system for each sandboxed process, without which its folder is watched, and may be overfull for a moment",
                "allow unprivileged user namespaces, or name a small file system in TMPDIR (for a container: "
                "--tmpfs /scratch:size=1g,nr_inodes=100000 --env TMPDIR=/scratch)",
            )
        )
    return lacking


def describe() -> str:
    """Return the available sandbox mechanisms with their versions, for a report; "none" if it is not supported."""
    return "none" if missing_support() else f"Landlock {landlock.version()}, seccomp"
