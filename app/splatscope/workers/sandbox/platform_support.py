"""Report whether this system supports the sandbox: Landlock and seccomp."""

import platform
import sys

from splatscope.workers.sandbox import landlock, seccomp


def missing_support() -> str:
    """Return why this system cannot sandbox a process, as a clause that follows "because"; "" if it can."""
    if sys.platform != "linux":
        return f"{platform.system()} has no Landlock, which Linux has from 5.13 on"
    if landlock.version() < 1:
        return "this kernel has no Landlock (Linux 5.13 or newer, not switched off at boot, not forbidden by a container)"
    if not seccomp.is_supported():
        return "this system has no seccomp filters"
    return ""


def describe() -> str:
    """Return the available sandbox mechanisms with their versions, for a report; "none" if it is not supported."""
    return "none" if missing_support() else f"Landlock {landlock.version()}, seccomp"
